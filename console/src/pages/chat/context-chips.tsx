/** What kind of text is in the context of a conversation, with an explanation. */

import { type ReactNode, useState } from 'react'
import type { ContextLabel } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { labelWords } from '../../state/chat.ts'
import { foreignName } from '../../state/foreign-text.ts'
import css from './page.module.css'

export function ContextChips({ labels }: { labels: readonly ContextLabel[] }): ReactNode {
  const [opened, setOpened] = useState<string>()
  if (labels.length === 0) return <p className={css.muted}>In this conversation: only your words and text that you trust.</p>
  const open = labels.find(({ label }) => label === opened)
  return (
    <div className={css.chips}>
      <span className={css.muted}>In this conversation:</span>
      {labels.map(({ label }) => (
        <Button key={label} isSmall aria-expanded={label === opened} onClick={() => setOpened(label === opened ? undefined : label)}>
          {foreignName(labelWords(label).word)}
        </Button>
      ))}
      {open && (
        <p className={css.chipHelp} role="note">
          {labelWords(open.label).help}
          {open.sources.length > 0 && ` It came from ${open.sources.map(foreignName).join(', ')}.`}
        </p>
      )}
    </div>
  )
}
