/** What the card of a question draws above its buttons, and what it leaves out until the person asks for it. */

import type { QuestionView } from '../../../src/console/api.ts'
import { foreignText } from './foreign-text.ts'
import { createRoom, type Room, type ShownItem, takeItems, takeLines, takeText, worstFirst } from './question-room.ts'
import { allLines, cardLines, hasOwnAnswer, isChange, mustOpen, showsArguments } from './question-words.ts'

type Subject = QuestionView['question']['subject']

export interface ShownMessage {
  /** Who says it. Undefined: the server. */
  from?: string
  text: string
}

export interface ShownQuestion {
  /** The arguments of a call are drawn with marks where they come from. */
  hasArguments: boolean
  /** The items of a changed offering. */
  items: readonly ShownItem[]
  /** The texts of a question whose answer the person writes. */
  messages: readonly ShownMessage[]
  lines: QuestionView['lines']
  /** The short form leaves something out, and "Show everything" was not pressed. */
  isShort: boolean
  room: Room
}

/** @param isOpened the person pressed "Show everything" @param portion how much is drawn: 1 at first */
export function shownQuestion(view: QuestionView, isOpened: boolean, portion: number): ShownQuestion {
  const { subject } = view.question
  const room = createRoom(portion)
  const isLong = mustOpen(view)
  const isWhole = isLong && isOpened
  return {
    hasArguments: !isWhole && showsArguments(view),
    items: isChange(subject) ? takeItems(room, worstFirst(subject.items)) : [],
    messages: messagesOf(subject).map(({ text, ...from }) => ({ ...from, text: foreignText(takeText(room, text)) })),
    lines: hasOwnAnswer(subject) ? [] : takeLines(room, isWhole ? allLines(view) : cardLines(view)),
    isShort: isLong && !isOpened,
    room,
  }
}

function messagesOf(subject: Subject): readonly ShownMessage[] {
  if (subject.kind === 'form' || subject.kind === 'url') return [{ text: subject.message }]
  if (subject.kind !== 'compose') return []
  const { systemPrompt, messages } = subject.params
  return [
    ...(systemPrompt === undefined ? [] : [{ from: 'system prompt', text: systemPrompt }]),
    ...messages.map(({ role, content }) => ({ from: role, text: contentText(content) })),
  ]
}

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
