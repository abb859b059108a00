/** What was said and done in a chat, one line each. */

import type { ReactNode } from 'react'
import type { ChatPartView } from '../../../../../src/console/api.ts'
import { foreignText } from '../../../state/foreign-text.ts'
import { shortened } from '../../../state/format.ts'
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
      return <Line who="Server" text={shortened(resultText(part.result), 120)} />
    case 'refused':
      return <Line who="You" text={`said no: ${part.reason}`} />
    case 'error':
      return <Line who="Error" text={part.error.message} />
    case 'end':
      return null
  }
}

const Line = ({ who, text }: { who: string; text: string }): ReactNode => (
  <p className={css.line}>
    <span className={css.who}>{who}</span>
    <span>{foreignText(text)}</span>
  </p>
)
