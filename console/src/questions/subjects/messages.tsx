/** What a server wants to say to the model, or what the model answered. */

import type { ReactNode } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { foreignText } from '../../state/foreign-text.ts'
import css from '../question-card.module.css'

type Sampling = Extract<QuestionView['question']['subject'], { kind: 'sample' }>['params']

export function Messages({ params }: { params: Sampling }): ReactNode {
  return (
    <div className={css.part}>
      {params.systemPrompt !== undefined && <Message from="system prompt" text={params.systemPrompt} />}
      {params.messages.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a question do not change
        <Message key={index} from={role} text={contentText(content)} />
      ))}
    </div>
  )
}

const Message = ({ from, text }: { from: string; text: string }): ReactNode => (
  <div>
    <span className={css.who}>{foreignText(from)}</span>
    <p className={css.arguments}>{foreignText(text)}</p>
  </div>
)

/** Texts as they are; pictures and sounds by their kind and size. */
function contentText(content: unknown): string {
  const parts = Array.isArray(content) ? content : [content]
  return parts
    .map((part: { type?: unknown; text?: unknown; mimeType?: unknown; data?: unknown }) => {
      if (part?.type === 'text') return String(part.text)
      if (typeof part?.data === 'string') return `(${String(part.type)}, ${String(part.mimeType)}, ${part.data.length} characters)`
      return JSON.stringify(part, undefined, 2)
    })
    .join('\n')
}
