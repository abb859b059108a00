/** Reads one message of a model, part by part. */

import { orAborted } from '../../base/wait.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Model, ModelPart, ModelRequest } from './language-model.ts'

export type ModelToolCall = Extract<ModelPart, { type: 'tool-call' }>
export type ModelEnd = Extract<ModelPart, { type: 'end' }>

/** A message that has not begun. */
export const emptyMessage = (): CollectedMessage => ({ text: '', calls: [], chars: 0, end: undefined })

/** A message as far as it has arrived. */
export interface CollectedMessage {
  text: string
  calls: ModelToolCall[]
  /** Characters of text and calls together. */
  chars: number
  /** Undefined until the message is complete. */
  end: ModelEnd | undefined
}

export interface CollectOptions {
  signal: AbortSignal
  /** Maximum length of the message. Does not depend on the tokens that the model reports. */
  maxAnswerChars: number
}

/**
 * Yields each part after adding it to `message`. `message` has an end once the stream is over, and everything that arrived also when the
 * stream fails or the reader stops early.
 *
 * @throws McpError ERR_MODEL for a message without an end, ERR_LIMIT for one that is too long
 */
export async function* collectMessage(
  model: Model,
  request: ModelRequest,
  { signal, maxAnswerChars }: CollectOptions,
  message: CollectedMessage,
): AsyncGenerator<Exclude<ModelPart, { type: 'end' }>, void, undefined> {
  const parts = model.stream(request, signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await orAborted(parts.next(), signal)
      if (done) throw new McpError('ERR_MODEL', `The answer of the model ${model.id} is incomplete`)
      if (value.type === 'end') {
        message.end = value
        return
      }
      message.chars += value.type === 'text' ? value.text.length : JSON.stringify(value).length
      if (message.chars > maxAnswerChars)
        throw new McpError('ERR_LIMIT', `The answer of the model ${model.id} is longer than ${maxAnswerChars} characters (maxAnswerChars)`)
      if (value.type === 'text') message.text += value.text
      else message.calls.push(value)
      yield value
    }
  } finally {
    // Not awaited: a model that ignores its signal would block the caller.
    if (!message.end) parts.return?.()?.then(undefined, () => {})
  }
}
