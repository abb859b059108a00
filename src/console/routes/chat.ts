/** Routes for chats and conversations. */

import { randomUUID } from 'node:crypto'
import type { ChatPart } from '../../host/index.ts'
import type { ChatPartView, OperationResults } from '../api.ts'
import { errorReply, notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { OPERATION_ID } from './use.ts'

const TEXT = { type: 'string' }

const MESSAGE = input({
  message: { type: 'string', minLength: 1 },
  'conversation?': TEXT,
  'model?': TEXT,
  'system?': TEXT,
  'contexts?': { type: 'array', items: TEXT, maxItems: 100 },
  'id?': OPERATION_ID,
})

const CALL = {
  type: 'object',
  properties: { name: TEXT, args: { type: 'object' } },
  required: ['name'],
  additionalProperties: false,
}

export function chatRoutes({ host, operations, conversations, models, modelTurns, events, onError }: ConsoleServices): Route[] {
  return [
    route('POST /api/chat', { body: MESSAGE, status: 202 }, async ({ body }) => {
      // A text of a view that the page has not shown waits for the next message.
      const { message, system, contexts = [], id: operationId = randomUUID() } = body
      const wanted = models.check(body.model)
      const { id, conversation } = await conversations.begin(body.conversation, message, operationId)
      const say = (part: ChatPartView): void =>
        events.publish('chat', { operation: operationId, conversation: id, part }, { operation: operationId, conversation: id })
      try {
        const operation = operations.start({
          kind: 'chat',
          target: id,
          id: operationId,
          run: async ({ signal }) => {
            try {
              const model = await models.open(wanted, { operation: operationId, conversation: id })
              const parts = host.chat(message, { conversation, model, signal, contexts, ...(system !== undefined && { system }) })
              return { conversation: id, ...(await told(parts, say, signal)) }
            } finally {
              // A conversation that cannot be stored still goes on.
              await conversations.end(id).catch(onError)
            }
          },
        })
        return { operation, conversation: id }
      } catch (error) {
        // It was not started: the id is in use, or too many run.
        await conversations.end(id)
        if (body.conversation === undefined) await conversations.remove(id)
        throw error
      }
    }),
    route('GET /api/conversations', {}, async () => ({ conversations: await conversations.list() })),
    route('GET /api/conversations/:id', {}, async ({ params: { id } }) => {
      const conversation = await conversations.view(id)
      const { messages, contexts, id: run } = await conversations.get(id)
      return { conversation, messages, context: await conversations.context(id), contexts, run }
    }),
    route('DELETE /api/conversations/:id/contexts/:context', {}, async ({ params: { id, context } }) => {
      if (!(await conversations.get(id)).removeContext(context)) throw notFound('The view changed its text, or it was sent')
      return null
    }),
    route('DELETE /api/conversations/:id', {}, async ({ params: { id } }) => {
      await conversations.remove(id)
      return null
    }),
    route('GET /api/model-turns', {}, () => ({ turns: modelTurns.list() })),
    route(
      'POST /api/model-turns/:id/answer',
      { body: input({ 'text?': TEXT, 'calls?': { type: 'array', items: CALL } }) },
      ({ params: { id }, body }) => {
        modelTurns.answer(id, body)
        return null
      },
    ),
  ]
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
