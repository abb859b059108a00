/** What was said and done in a chat, one line each. */

import type { ReactNode } from 'react'
import type { ChatPartView } from '../../../../../src/console/api.ts'
import { CodeBlock } from '../../../components/code-block.tsx'
import { Fold } from '../../../components/fold.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { counted, prettyText, shortened } from '../../../state/format.ts'
import { resultText } from '../../../state/tour.ts'
import css from '../tour.module.css'

export const ChatLines = ({ said, parts }: { said: string; parts: readonly ChatPartView[] }): ReactNode => (
  <div className={css.lines} aria-live="polite">
    <Line who="You" text={said} />
    {parts.map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added
      <Part key={index} part={part} />
    ))}
  </div>
)

function Part({ part }: { part: ChatPartView }): ReactNode {
  switch (part.type) {
    case 'text':
      return <Line who="Model" text={shortened(part.text, 160)} />
    case 'tool-call':
      return <Line who="Model" text={`wants to call ${part.name}`} />
    case 'tool-result':
      return <ServerLine text={resultText(part.result)} />
    case 'refused':
      return <Line who="You" text={`said no: ${part.reason}`} />
    case 'error':
      return <Line who="Error" text={part.error.message} />
    case 'end':
      return null
  }
}

/** The words of the model say what the answer means. The answer itself can be opened. */
const ServerLine = ({ text }: { text: string }): ReactNode => (
  <div className={css.line}>
    <span className={css.who}>Server</span>
    <Fold label={`answered: ${counted(text.length, 'character')}`}>
      <CodeBlock text={foreignText(prettyText(text))} label="Answer of the server" isForeign />
    </Fold>
  </div>
)

const Line = ({ who, text }: { who: string; text: string }): ReactNode => (
  <p className={css.line}>
    <span className={css.who}>{who}</span>
    <span>{foreignText(text)}</span>
  </p>
)
