/** All keys, opened with `?`. */

import type { ReactNode } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { Checkbox } from '../components/field.tsx'
import { KeyHint } from '../components/key-hint.tsx'
import { usePreferences } from '../hooks/use-preferences.ts'
import css from './key-list.module.css'
import { PLACES } from './places.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Search servers, tools, pages and recent calls'],
  ['?', 'This list'],
  ['w', 'Open or close what waits for you'],
  ['Ctrl Enter', 'Run the tool or send the message'],
  ['Esc', 'Close a dialog, a menu or what waits for you'],
  ...PLACES.map(({ key, label }) => [`g ${key}`, `Go to ${label}`] as const),
]

export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose(): void }): ReactNode {
  const [{ hasSingleKeys }, change] = usePreferences()
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <dl className={css.list}>
        {KEYS.map(([keys, text]) => (
          <div key={keys} className={css.row}>
            <dt>
              <KeyHint keys={keys} />
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Use keys without Ctrl"
        help="Switch it off if you use speech input."
        checked={hasSingleKeys}
        onChange={(event) => change({ hasSingleKeys: event.target.checked })}
      />
    </Dialog>
  )
}
