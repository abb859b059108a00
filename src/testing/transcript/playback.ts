/** A recording as a server: a recorded request gets its recorded answer. */

import { comparableJson } from '../../base/canonical-json.ts'
import { isObject } from '../../base/json.ts'
import type { TappedMessage } from '../../client/tap-target.ts'
import { type Id, INVALID_PARAMS, isId, METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'

interface Request {
  method: string
  params: unknown
  /** Messages of the server up to and including its answer. Progress carries the recorded token, which is replaced when played. */
  answers: Record<string, unknown>[]
  wasPlayed: boolean
}

/**
 * Answers requests from recorded messages.
 *
 * @example
 * const playback = new Playback(messages)
 * for (const answer of playback.answersTo({ jsonrpc: '2.0', id: 1, method: 'tools/list' })) send(answer)
 */
export class Playback {
  readonly #requests: readonly Request[]

  constructor(messages: readonly TappedMessage[]) {
    this.#requests = requestsIn(messages)
  }

  /** Number of recorded requests that have an answer. */
  get size(): number {
    return this.#requests.length
  }

  /**
   * The messages to send for one message of a client, in order.
   *
   * @example
   * const [answer] = playback.answersTo({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
   */
  answersTo(message: unknown): Record<string, unknown>[] {
    if (!isObject(message) || typeof message.method !== 'string' || !isId(message.id)) return []
    const request = this.#find(message.method, message.params)
    if (!request) return [this.#refusal(message.id, message.method, message.params)]
    request.wasPlayed = true
    const token = tokenIn(message.params)
    const recorded = tokenIn(request.params)
    return request.answers.flatMap((answer) => {
      if (answer.method === undefined) return [{ ...answer, id: message.id }]
      const params = isObject(answer.params) ? answer.params : undefined
      if (answer.method !== 'notifications/progress') return [answer]
      // Progress is sent only to a client that asked for it.
      return token !== undefined && params?.progressToken === recorded ? [{ ...answer, params: { ...params, progressToken: token } }] : []
    })
  }

  /** The first one not played yet. When all were played: the last. */
  #find(method: string, params: unknown): Request | undefined {
    const wanted = comparable(method, params)
    const same = this.#requests.filter((request) => request.method === method && comparable(method, request.params) === wanted)
    return same.find(({ wasPlayed }) => !wasPlayed) ?? same.at(-1)
  }

  #refusal(id: Id, method: string, params: unknown): Record<string, unknown> {
    const isKnown = this.#requests.some((request) => request.method === method)
    const what = `${method} with ${comparableJson(withoutMeta(params)).slice(0, 200)}`
    return {
      jsonrpc: '2.0',
      id,
      error: isKnown
        ? { code: INVALID_PARAMS, message: `The recording has no ${what}` }
        : { code: METHOD_NOT_FOUND, message: `The recording has no ${method}` },
    }
  }
}

function requestsIn(messages: readonly TappedMessage[]): Request[] {
  const open = new Map<string, Request>()
  const all: Request[] = []
  for (const { from, message } of messages) {
    if (!isObject(message)) continue
    const isRequest = from === 'client' && typeof message.method === 'string' && isId(message.id)
    if (isRequest) {
      const request: Request = { method: message.method as string, params: message.params, answers: [], wasPlayed: false }
      open.set(JSON.stringify(message.id), request)
      all.push(request)
    } else if (from === 'server') {
      const isAnswer = message.method === undefined
      // A message that belongs to no request goes with the newest request.
      const request = isAnswer ? open.get(JSON.stringify(message.id)) : (ownerOf(message, open) ?? [...open.values()].at(-1))
      request?.answers.push(message)
      if (isAnswer) open.delete(JSON.stringify(message.id))
    }
  }
  return all.filter(({ answers }) => answers.some(({ method }) => method === undefined))
}

function ownerOf(message: Record<string, unknown>, open: ReadonlyMap<string, Request>): Request | undefined {
  const token = isObject(message.params) ? message.params.progressToken : undefined
  return token === undefined ? undefined : [...open.values()].find(({ params }) => tokenIn(params) === token)
}

const tokenIn = (params: unknown): unknown => (isObject(params) && isObject(params._meta) ? params._meta.progressToken : undefined)

/** The handshake matches a client of any name and version. */
const comparable = (method: string, params: unknown): string =>
  method === 'initialize' || method === 'server/discover' ? '' : comparableJson(withoutMeta(params) ?? {})

function withoutMeta(params: unknown): unknown {
  if (!isObject(params)) return params
  const { _meta: _, ...rest } = params
  return rest
}
