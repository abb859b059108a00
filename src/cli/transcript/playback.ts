/** A recording as a server: what was asked then and is asked again gets the answer it got. */

import { comparableJson } from '../../base/canonical-json.ts'
import { isObject } from '../../base/json.ts'
import { type Id, INVALID_PARAMS, isId, METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'
import type { Passed } from '../target/tap.ts'

interface Request {
  method: string
  params: unknown
  /** What the server said until its answer, that included; progress has the token of the request, which another may have. */
  answers: Record<string, unknown>[]
  wasPlayed: boolean
}

export class Playback {
  readonly #requests: readonly Request[]

  constructor(messages: readonly Passed[]) {
    this.#requests = requestsIn(messages)
  }

  get size(): number {
    return this.#requests.length
  }

  /** Everything to be sent for one message of a client, in order. */
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
      // Progress is only for those who asked for it.
      return token !== undefined && params?.progressToken === recorded ? [{ ...answer, params: { ...params, progressToken: token } }] : []
    })
  }

  /** The first that was not played yet, or the last when all were. */
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

function requestsIn(messages: readonly Passed[]): Request[] {
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
      // What belongs to no request goes with the one asked last.
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

/** Who asks, and in which version, may differ: the handshake is the same all the same. */
const comparable = (method: string, params: unknown): string =>
  method === 'initialize' || method === 'server/discover' ? '' : comparableJson(withoutMeta(params) ?? {})

export function withoutMeta(params: unknown): unknown {
  if (!isObject(params)) return params
  const { _meta: _, ...rest } = params
  return rest
}
