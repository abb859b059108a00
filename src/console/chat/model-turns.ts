/** The person in place of a model: each request waits until the page answers it, with text, calls of tools, or both. */

import { randomUUID } from 'node:crypto'
import { McpError, type Model, type ModelRequest } from '../../host/index.ts'
import type { ModelTurnAnswer, ModelTurnView } from '../api.ts'
import { invalid, notFound } from '../errors.ts'
import type { EventLog } from '../event-log.ts'
import type { ConsoleLimits } from '../limits.ts'

interface Waiting {
  view: ModelTurnView
  answer(answer: ModelTurnAnswer): void
}

/** Calls in one answer. A person does not need more. */
const MAX_CALLS = 32

export class ModelTurns {
  readonly #events: EventLog
  readonly #limits: Pick<ConsoleLimits, 'maxModelTurns'>
  readonly #waiting = new Map<string, Waiting>()

  constructor(events: EventLog, limits: Pick<ConsoleLimits, 'maxModelTurns'>) {
    this.#events = events
    this.#limits = limits
  }

  /** Oldest first. */
  list(): ModelTurnView[] {
    return [...this.#waiting.values()].map(({ view }) => view)
  }

  /** The first answer counts. @throws ApiError 404, or 400 */
  answer(id: string, answer: ModelTurnAnswer): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) throw notFound(`No request to you has the id ${JSON.stringify(id)}: it was answered, or the chat was stopped`)
    const { text = '', calls = [] } = answer
    if (text === '' && calls.length === 0) throw invalid('body: expected text, calls or both')
    if (calls.length > MAX_CALLS) throw invalid(`calls: expected at most ${MAX_CALLS}, got ${calls.length}`)
    waiting.answer(answer)
  }

  /** A model for one chat. @param of the operation and the conversation, for the page */
  model(of: Pick<ModelTurnView, 'operation' | 'conversation'>): Model {
    const ask = (request: ModelRequest, signal: AbortSignal): Promise<ModelTurnAnswer> => this.#ask(of, request, signal)
    return {
      id: 'person',
      label: 'you (no language model)',
      isPerson: true,
      async *stream(request, signal) {
        const { text = '', calls = [] } = await ask(request, signal)
        if (text !== '') yield { type: 'text', text }
        for (const { name, args = {} } of calls) yield { type: 'tool-call', id: randomUUID(), name, args: { ...args } }
        yield { type: 'end', reason: calls.length > 0 ? 'toolUse' : 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }
      },
    }
  }

  #ask(of: Pick<ModelTurnView, 'operation' | 'conversation'>, request: ModelRequest, signal: AbortSignal): Promise<ModelTurnAnswer> {
    const { maxModelTurns } = this.#limits
    signal.throwIfAborted()
    if (this.#waiting.size >= maxModelTurns)
      throw new McpError('ERR_LIMIT', `${maxModelTurns} requests wait for your answer already (maxModelTurns)`)
    const id = randomUUID()
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(id)
        this.#events.publish('model-turn', { id, isWaiting: false, ...of })
      }
      const onAbort = (): void => {
        end()
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(id, {
        view: { id, ...of, askedAt: Date.now(), request },
        answer: (answer) => {
          signal.removeEventListener('abort', onAbort)
          end()
          resolve(answer)
        },
      })
      this.#events.publish('model-turn', { id, isWaiting: true, ...of })
    })
  }
}
