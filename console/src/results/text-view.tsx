/** A text as what it is: markdown, JSON, or plain text. The text itself is one click away. */

import { type ReactNode, useMemo, useState } from 'react'
import { SafeMarkdown } from '../components/safe-markdown.tsx'
import { foreignText } from '../state/foreign-text.ts'
import { textKind } from '../state/results.ts'
import { BigText } from './big-text.tsx'
import { Modes } from './modes.tsx'
import css from './results.module.css'
import { ValueView } from './value-view.tsx'

export interface TextViewProps {
  /** As it was received. */
  text: string
  mimeType?: string | undefined
  label: string
  /** It begins as plain text. Default: false. */
  isPlainFirst?: boolean
}

export function TextView({ text, mimeType, label, isPlainFirst = false }: TextViewProps): ReactNode {
  const found = useMemo(() => textKind(text, mimeType), [text, mimeType])
  const [isPlain, setPlain] = useState(isPlainFirst)
  if (found.kind === 'text') return <BigText text={text} label={label} />
  if (found.kind === 'json') return <ValueView value={found.value} label={label} text={text} isTextFirst={isPlainFirst} />
  return (
    <div className={css.stack}>
      <Modes
        label="Show as"
        selected={isPlain ? 'text' : 'drawn'}
        modes={[
          { id: 'drawn', label: 'Formatted' },
          { id: 'text', label: 'Text' },
        ]}
        onSelect={(mode) => setPlain(mode === 'text')}
      />
      {isPlain ? <BigText text={text} label={label} isCode /> : <Markdown text={text} />}
    </div>
  )
}

function Markdown({ text }: { text: string }): ReactNode {
  const shown = useMemo(() => foreignText(text), [text])
  return (
    <div className={css.markdown}>
      <SafeMarkdown text={shown} />
    </div>
  )
}
