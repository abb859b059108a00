/** Two texts line by line: what was removed and what was added. The signs say it, the colours help. */

import { memo, type ReactNode, useMemo, useState } from 'react'
import { type DiffLine, diffLines } from '../state/diff.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import css from './diff-view.module.css'
import { ShownText } from './shown-text.tsx'

const WORDS: Readonly<Record<DiffLine['kind'], string>> = { same: '', added: 'added', removed: 'removed', skipped: '' }
const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '−', skipped: '⋯' }

/** Lines that are drawn at first. */
const FIRST_LINES = 500

interface DiffViewProps {
  before: string
  after: string
  label?: string
}

/** Texts of others must be made visible before (state/foreign-text.ts). */
export const DiffView = memo(function DiffView({ before, after, label = 'Changes' }: DiffViewProps): ReactNode {
  const [max, setMax] = useState(FIRST_LINES)
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const rest = lines.length - max
  return (
    <>
      <DiffRows lines={rest > 0 ? lines.slice(0, max) : lines} label={label} />
      {rest > 0 && (
        <Button isSmall onClick={() => setMax(max * 2)}>
          Show more ({rest.toLocaleString('en')} lines left)
        </Button>
      )}
    </>
  )
})

/** A difference that is known already. It has no box of its own that scrolls: its end must not be out of sight. */
export const DiffRows = memo(function DiffRows({ lines, label }: { lines: readonly DiffLine[]; label: string }): ReactNode {
  return (
    <div className={css.diff} role="group" aria-label={label}>
      {lines.map(({ kind, text, blanks }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff do not move
        <div key={index} className={classes(css.line, css[kind])}>
          <span className={css.sign} aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <span className={css.text}>
            {WORDS[kind] !== '' && <span className="sr-only">{WORDS[kind]}: </span>}
            {blanks === undefined ? (
              <ShownText text={text} />
            ) : (
              <span className={css.blanks}>{blanks.toLocaleString('en')} blank lines</span>
            )}
          </span>
        </div>
      ))}
    </div>
  )
})
