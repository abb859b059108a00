/** The parts of `host.chat` as a UI message stream of the AI SDK. */

import type { FinishReason, UIMessageChunk } from 'ai'
import type { ChatPart } from '../../host/conversation/chat/chat.ts'
import { blockOf } from '../../host/conversation/chat/tool-call.ts'
import type { McpError } from '../../protocol/errors.ts'
import { modelParts, textOnly } from '../model-parts.ts'

/** Options for `uiMessageStream`. */
export interface UiMessageStreamOptions {
  /** The text of an error for the browser. Default: a general sentence, because errors can name internal addresses. */
  onError?(error: McpError): string
  /** The id of the message. Default: the browser chooses one. */
  messageId?: string
}

/**
 * Runs a chat as a stream for `createUIMessageStreamResponse` and `useChat`.
 *
 * @param chat starts the chat. The signal is aborted when the reader cancels the stream, for example because the browser went away.
 * @example
 * const stream = uiMessageStream((signal) => host.chat(message, { conversation, signal }))
 * return createUIMessageStreamResponse({ stream })
 */
export function uiMessageStream(
  chat: (signal: AbortSignal) => AsyncIterable<ChatPart>,
  options: UiMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const stop = new AbortController()
  const chunks = chunksOf(chat(stop.signal), options)
  return new ReadableStream<UIMessageChunk>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        // The stream of a reader that went away is closed already.
        if (stop.signal.aborted) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        stop.abort()
        await chunks.return()
      },
    },
    // The chat runs no further than the reader reads.
    { highWaterMark: 0 },
  )
}

async function* chunksOf(parts: AsyncIterable<ChatPart>, options: UiMessageStreamOptions): AsyncGenerator<UIMessageChunk, void> {
  const { onError = () => 'The answer could not be completed.', messageId } = options
  let texts = 0
  let isInText = false
  let isInStep = false
  let hasResults = false
  const openStep = function* (): Generator<UIMessageChunk> {
    // A model that continues after results begins a new step.
    if (isInStep && hasResults) yield { type: 'finish-step' }
    if (!isInStep || hasResults) yield { type: 'start-step' }
    isInStep = true
    hasResults = false
  }
  const closeText = function* (): Generator<UIMessageChunk> {
    if (isInText) yield { type: 'text-end', id: String(texts) }
    isInText = false
  }
  yield { type: 'start', ...(messageId !== undefined && { messageId }) }
  for await (const part of parts) {
    if (part.type !== 'text') yield* closeText()
    switch (part.type) {
      case 'text':
        yield* openStep()
        if (!isInText) yield { type: 'text-start', id: String(++texts) }
        isInText = true
        yield { type: 'text-delta', id: String(texts), delta: part.text }
        break
      case 'tool-call':
        yield* openStep()
        yield { type: 'tool-input-available', toolCallId: part.id, toolName: part.name, input: part.args, dynamic: true }
        break
      case 'tool-result':
      case 'refused':
        hasResults = true
        yield outputChunk(part)
        break
      case 'error':
        yield { type: 'error', errorText: onError(part.error) }
        break
      case 'end':
        if (isInStep) yield { type: 'finish-step' }
        yield part.reason === 'cancelled' ? { type: 'abort' } : { type: 'finish', finishReason: FINISH_REASONS[part.reason] }
    }
  }
}

function outputChunk(part: Extract<ChatPart, { type: 'tool-result' | 'refused' }>): UIMessageChunk {
  const { id, name } = part
  const outcome = part.type === 'refused' ? { ...part, kind: 'refused' as const } : { kind: 'result' as const, result: part.result }
  const output = blockOf({ type: 'tool-call', id, name, args: {} }, outcome)
  if (output.isError) return { type: 'tool-output-error', toolCallId: id, errorText: textOnly(modelParts(output)) ?? '', dynamic: true }
  const { content, structuredContent } = output
  return {
    type: 'tool-output-available',
    toolCallId: id,
    output: { content, ...(structuredContent !== undefined && { structuredContent }) },
    dynamic: true,
  }
}

type ChatEnd = Extract<ChatPart, { type: 'end' }>['reason']

const FINISH_REASONS: Readonly<Record<Exclude<ChatEnd, 'cancelled'>, FinishReason>> = {
  done: 'stop',
  failed: 'error',
  steps: 'tool-calls',
  tokens: 'length',
  'cut-off': 'length',
  refused: 'content-filter',
}
