/** Routes for chats and conversations. */

import { randomUUID } from 'node:crypto'
import type { ChatPart, Host, Model } from '../../host/index.ts'
import type { ChatPartView, OperationResults } from '../api.ts'
import { ApiError, errorReply, invalid } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { OPERATION_ID } from './use.ts'

const TEXT = { type: 'string' }

const MESSAGE = input({
  message: { type: 'string', minLength: 1 },
  'conversation?': TEXT,
  'model?': TEXT,
  'system?': TEXT,
  'id?': OPERATION_ID,
})

export function chatRoutes({ host, operations, conversations, events }: ConsoleServices): Route[] {
  return [
    route('POST /api/chat', { body: MESSAGE, status: 202 }, ({ body }) => {
      const { message, model: wanted, system, id: operationId = randomUUID() } = body
      const model = modelOf(host, wanted)
      const conversation = conversations.begin(body.conversation, message, operationId)
      const { id } = conversation
      const say = (part: ChatPartView): void =>
        events.publish('chat', { operation: operationId, conversation: id, part }, { operation: operationId, conversation: id })
      try {
        const operation = operations.start({
          kind: 'chat',
          target: id,
          id: operationId,
          run: async ({ signal }) => {
            try {
              const parts = host.chat(message, { conversation, model, signal, ...(system !== undefined && { system }) })
              return { conversation: id, ...(await told(parts, say, signal)) }
            } finally {
              conversations.end(conversation)
            }
          },
        })
        return { operation, conversation: id }
      } catch (error) {
        // It was not started: the id is in use, or too many run.
        conversations.end(conversation)
        if (body.conversation === undefined) conversations.remove(id)
        throw error
      }
    }),
    route('GET /api/conversations', {}, () => ({ conversations: conversations.list() })),
    route('GET /api/conversations/:id', {}, ({ params: { id } }) => ({
      conversation: conversations.view(id),
      messages: conversations.get(id).messages,
    })),
    route('DELETE /api/conversations/:id', {}, async ({ params: { id } }) => {
      await host.endConversation(conversations.remove(id))
      return null
    }),
  ]
}

function modelOf({ models }: Host, wanted: string | undefined): Model {
  const model = wanted === undefined ? models[0] : models.find(({ id }) => id === wanted)
  if (model) return model
  if (models.length === 0) throw new ApiError(409, 'ERR_MODEL', 'This host has no model to chat with')
  throw invalid(`model: expected one of ${models.map(({ id }) => id).join(', ')}, got ${JSON.stringify(wanted)}`)
}

/** Passes on all parts. Rejects if the turn failed or was stopped. */
async function told(
  parts: AsyncIterable<ChatPart>,
  say: (part: ChatPartView) => void,
  signal: AbortSignal,
): Promise<Omit<OperationResults['chat'], 'conversation'>> {
  let failure: unknown
  for await (const part of parts) {
    if (part.type === 'error') failure = part.error
    say(part.type === 'error' ? { type: 'error', error: errorReply(part.error).body.error } : part)
    if (part.type !== 'end') continue
    signal.throwIfAborted()
    if (part.reason === 'failed') throw failure
    return { reason: part.reason, steps: part.steps, ...part.usage }
  }
  throw new Error('A chat ended without its last part')
}
