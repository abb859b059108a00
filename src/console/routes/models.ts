/** Routes for the models that the person stores: list, add, remove, test. */

import { McpError, MODEL_PROVIDERS, type Model, modelProviders } from '../../host/index.ts'
import type { ModelTest } from '../api.ts'
import { notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'

const NEW_MODEL = input({
  provider: { enum: [...MODEL_PROVIDERS] },
  model: { type: 'string', minLength: 1 },
  'baseURL?': { type: 'string', minLength: 1 },
  'key?': { type: 'string', minLength: 1, maxLength: 10_000 },
})

/** Enough for a model that thinks before it answers. */
const TEST_TOKENS = 1_000
const TEST_MESSAGE = 'This is a test of the connection. Answer with one word: hello'
const MAX_ANSWER_CHARS = 200

export function modelRoutes({ host, events, operations }: ConsoleServices): Route[] {
  const { storedModels } = host
  const changed = async (): Promise<void> => events.publish('models', { ids: (await storedModels.list()).map(({ id }) => id) })
  return [
    route('GET /api/models', {}, async () => ({ models: await storedModels.list(), providers: modelProviders() })),
    route('POST /api/models', { body: NEW_MODEL, status: 201 }, async ({ body: { provider, model, baseURL, key } }) => {
      const apiKey = key?.trim()
      const stored = await storedModels.add({ provider, model, ...(baseURL !== undefined && { baseURL }), ...(apiKey && { apiKey }) })
      await changed()
      return { model: stored }
    }),
    route('DELETE /api/models/:id', {}, async ({ params: { id } }) => {
      if (!(await storedModels.remove(id))) throw unknownModel(id)
      await changed()
      return null
    }),
    route('POST /api/models/:id/test', { status: 202 }, async ({ params: { id } }) => {
      await storedModels.list()
      const model = storedModels.models.find((each) => each.id === id)
      if (!model) throw unknownModel(id)
      return { operation: operations.start({ kind: 'test-model', target: id, run: ({ signal }) => test(model, signal) }) }
    }),
  ]
}

const unknownModel = (id: string): Error => notFound(`No stored model has the name ${JSON.stringify(id)}`)

async function test(model: Model, signal: AbortSignal): Promise<ModelTest> {
  const started = performance.now()
  let answer = ''
  try {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: TEST_MESSAGE } }]
    for await (const part of model.stream({ messages, maxTokens: TEST_TOKENS }, signal))
      if (part.type === 'text' && answer.length < MAX_ANSWER_CHARS) answer += part.text
  } catch (error) {
    throw signal.aborted ? error : withReason(error)
  }
  return { answer: answer.trim().slice(0, MAX_ANSWER_CHARS), ms: Math.round(performance.now() - started) }
}

/** The words of the provider are for the person only. They are in the cause, without the key. */
function withReason(error: unknown): unknown {
  if (!(error instanceof McpError) || !(error.cause instanceof Error) || 'code' in error.cause) return error
  return new McpError(error.code, `${error.message}: ${error.cause.message}`)
}
