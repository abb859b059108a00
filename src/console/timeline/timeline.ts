/** The messages of all connections, kept within limits: requests with their answers, durations and broken rules. */

import { createHash } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import { isObject } from '../../base/json.ts'
import type { HostTraffic } from '../../host/index.ts'
import { checkMessage } from '../../testing/index.ts'
import type { MessageDetails, MessageView, TimelineFilter, TimelinePage, Violation } from '../api.ts'
import { checkOptions } from '../check-options.ts'
import { shortCopy } from './short-copy.ts'

/** The limits of a timeline. */
export interface TimelineLimits {
  /** Messages that are kept. The oldest are removed first. */
  maxMessages: number
  /** Messages of one server that are kept, so that a busy server leaves room for the others. */
  maxServerMessages: number
  /** Bytes of all kept messages. */
  maxMessagesBytes: number
  /** Bytes of one message. Of a larger one only the row is kept. */
  maxMessageBytes: number
}

export const DEFAULT_TIMELINE_LIMITS: TimelineLimits = {
  maxMessages: 20_000,
  maxServerMessages: 10_000,
  maxMessagesBytes: 64 * 1024 * 1024,
  maxMessageBytes: 1024 * 1024,
}

interface Kept {
  view: MessageView
  message?: unknown
  http?: MessageDetails['http']
  violations: readonly Violation[]
  answer?: number
  /** What it counts towards `maxMessagesBytes`. */
  bytes: number
}

interface OpenRequest {
  seq: number
  at: number
  method: string
  name?: string
}

type Message = Extract<HostTraffic, { kind: 'message' }>

/** Requests during which a server asks the person or the model. */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read'])
/** Requests without an answer that are remembered. */
const MAX_OPEN = 10_000
const ROWS = 200
const SLOW_MS = 1000

export class Timeline {
  readonly #limits: TimelineLimits
  readonly #kept = new Map<number, Kept>()
  /** The rows of each server, oldest first. */
  readonly #byServer = new Map<string, Set<number>>()
  /** Requests without an answer, by connection, side and id. */
  readonly #open = new BoundedMap<string, OpenRequest>(MAX_OPEN)
  /** By connection and progress token. */
  readonly #tokens = new BoundedMap<string, number>(MAX_OPEN)
  /** The first round of calls that the server answered with a question, by connection and state. */
  readonly #rounds = new BoundedMap<string, number>(MAX_OPEN)
  /** The rows of the host's numbers, for the HTTP exchanges that come later. */
  readonly #numbers = new BoundedMap<number, number>(MAX_OPEN)
  #last = 0
  #bytes = 0
  #forgotten = 0

  constructor(limits: Partial<TimelineLimits> = {}) {
    checkOptions('timeline', limits, DEFAULT_TIMELINE_LIMITS)
    this.#limits = { ...DEFAULT_TIMELINE_LIMITS, ...limits }
  }

  /** Returns the row of a message. Undefined for the HTTP exchange of an earlier one. */
  add(traffic: HostTraffic): MessageView | undefined {
    if (traffic.kind === 'http') return this.#addHttp(traffic)
    const { at, server, connection, from, revision, message, bytes } = traffic
    const seq = ++this.#last
    this.#numbers.set(traffic.number, seq)
    const content = isObject(message) ? message : {}
    const related = this.#relate(traffic, content, seq)
    const facts = { from: from === 'host' ? ('client' as const) : ('server' as const), revision, method: related.method }
    const violations = checkMessage(message, facts).map(({ pointer, text }) => ({ pointer: shortCopy(pointer), text: shortCopy(text) }))
    const view: MessageView = {
      seq,
      at,
      server,
      connection,
      from,
      ...related,
      ...(revision !== undefined && { revision }),
      bytes,
      ...(violations.length > 0 && { violations: violations.length }),
    }
    const isKept = bytes <= this.#limits.maxMessageBytes
    this.#keep({ view, ...(isKept && { message }), violations, bytes: sizeOf([view, violations]) + (isKept ? bytes : 0) })
    return view
  }

  /** Newest first. */
  page(filter: TimelineFilter): TimelinePage {
    const { before = Number.POSITIVE_INFINITY, limit = ROWS } = filter
    const found: MessageView[] = []
    const rows = filter.server === undefined ? [...this.#kept.keys()] : [...(this.#byServer.get(filter.server) ?? [])]
    for (let at = rows.length - 1; at >= 0 && found.length <= limit; at--) {
      const view = this.#kept.get(rows[at] as number)?.view
      if (view && view.seq < before && isWanted(view, filter)) found.push(view)
    }
    const messages = found.slice(0, limit)
    const next = found.length > limit ? messages.at(-1)?.seq : undefined
    return { messages, ...(next !== undefined && { next }), forgotten: this.#forgotten }
  }

  /** Undefined: there is no such message any more. */
  details(seq: number): MessageDetails | undefined {
    const kept = this.#kept.get(seq)
    if (!kept) return undefined
    const { view, message, http, violations, answer } = kept
    return {
      ...view,
      ...(message !== undefined && { message }),
      ...(http && { http }),
      violations,
      ...(answer !== undefined && { answer }),
    }
  }

  /** The kept messages of a server in order, for a transcript. */
  messagesOf(server: string, from: number, to: number): { from: MessageView['from']; at: number; message: unknown }[] {
    return [...(this.#byServer.get(server) ?? [])].flatMap((seq) => {
      const kept = seq >= from && seq <= to ? this.#kept.get(seq) : undefined
      return kept?.message === undefined ? [] : [{ from: kept.view.from, at: kept.view.at, message: kept.message }]
    })
  }

  /** The rows that belong to a request: questions, notices and further rounds, oldest first. */
  related(seq: number): MessageView[] {
    const server = this.#kept.get(seq)?.view.server
    const own = server === undefined ? [] : [...(this.#byServer.get(server) ?? [])]
    return own.flatMap((each) => {
      const view = each > seq ? this.#kept.get(each)?.view : undefined
      return view?.during === seq ? [view] : []
    })
  }

  /** The `seq` of the newest row that is wanted. */
  find(isWanted: (view: MessageView) => boolean): number | undefined {
    return [...this.#kept.values()].findLast(({ view }) => isWanted(view))?.view.seq
  }

  clear(): void {
    this.#kept.clear()
    this.#byServer.clear()
    this.#bytes = 0
    this.#forgotten = 0
  }

  #addHttp({ number, method, url, headers, hiddenHeaders, status, responseHeaders }: Extract<HostTraffic, { kind: 'http' }>): undefined {
    const kept = this.#kept.get(this.#numbers.get(number) ?? 0)
    if (!kept) return
    kept.http = { method, url, headers, hiddenHeaders, status, responseHeaders }
    const bytes = sizeOf(kept.http)
    kept.bytes += bytes
    this.#bytes += bytes
    this.#forgetOldest()
  }

  /** Finds the request of an answer, and the request that a message belongs to. */
  #relate(
    { connection, from, at }: Message,
    message: Record<string, unknown>,
    seq: number,
  ): Pick<MessageView, 'kind'> & Partial<MessageView> {
    const given = typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined
    const id = typeof given === 'string' ? shortCopy(given) : given
    const params = isObject(message.params) ? message.params : {}
    if (typeof message.method === 'string') {
      const method = shortCopy(message.method)
      const name = nameIn(params)
      const isQuestion = from === 'server' && id !== undefined
      const during = this.#duringOf(connection, params, isQuestion)
      if (id !== undefined) {
        this.#open.set(`${connection} ${from} ${keyOf(given)}`, { seq, at, method, ...(name !== undefined && { name }) })
        const token = isObject(params._meta) ? params._meta.progressToken : undefined
        if (token !== undefined) this.#tokens.set(`${connection} ${keyOf(token)}`, seq)
      }
      return {
        kind: id === undefined ? 'notification' : 'request',
        ...(id !== undefined && { id }),
        method,
        ...(name !== undefined && { name }),
        ...(during !== undefined && { during }),
      }
    }
    if (id === undefined && message.error === undefined) return { kind: 'invalid' }
    const key = `${connection} ${from === 'host' ? 'server' : 'host'} ${keyOf(given)}`
    const asked = this.#open.get(key)
    this.#open.delete(key)
    const request = asked && this.#kept.get(asked.seq)
    if (request) request.answer = seq
    const { result } = message
    if (asked && isObject(result) && result.requestState !== undefined)
      this.#rounds.set(`${connection} ${keyOf(result.requestState)}`, request?.view.during ?? asked.seq)
    const failure = failureIn(message)
    return {
      kind: message.error === undefined ? 'result' : 'error',
      ...(id !== undefined && { id }),
      ...(asked && { method: asked.method, request: asked.seq, durationMs: Math.max(0, at - asked.at) }),
      ...(asked?.name !== undefined && { name: asked.name }),
      ...(failure !== undefined && { failure }),
    }
  }

  /** A progress notice and a further round name their call. A question of the server belongs to the newest call that is open. */
  #duringOf(connection: number, params: Record<string, unknown>, isQuestion: boolean): number | undefined {
    if (params.progressToken !== undefined) return this.#tokens.get(`${connection} ${keyOf(params.progressToken)}`)
    if (params.requestState !== undefined) return this.#rounds.get(`${connection} ${keyOf(params.requestState)}`)
    if (!isQuestion) return undefined
    const prefix = `${connection} host `
    let newest: number | undefined
    for (const [key, { seq, method }] of this.#open) if (key.startsWith(prefix) && MAY_ASK.has(method)) newest = seq
    return newest
  }

  #keep(kept: Kept): void {
    const { maxServerMessages } = this.#limits
    const { seq, server } = kept.view
    const own = this.#byServer.get(server) ?? new Set<number>()
    this.#byServer.set(server, own)
    own.add(seq)
    this.#kept.set(seq, kept)
    this.#bytes += kept.bytes
    while (own.size > maxServerMessages) this.#forget(own.values().next().value)
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    const { maxMessages, maxMessagesBytes } = this.#limits
    while (this.#kept.size > maxMessages || this.#bytes > maxMessagesBytes) this.#forget(this.#kept.keys().next().value)
  }

  #forget(seq: number | undefined): void {
    const kept = seq === undefined ? undefined : this.#kept.get(seq)
    if (seq === undefined || !kept) return
    this.#kept.delete(seq)
    const own = this.#byServer.get(kept.view.server)
    own?.delete(seq)
    if (own?.size === 0) this.#byServer.delete(kept.view.server)
    this.#bytes -= kept.bytes
    this.#forgotten++
  }
}

function isWanted(view: MessageView, { server, method, kind, only, slowMs = SLOW_MS, q }: TimelineFilter): boolean {
  if (server !== undefined && view.server !== server) return false
  if (method !== undefined && view.method !== method) return false
  if (kind !== undefined && view.kind !== kind) return false
  if (only === 'failed' && view.failure === undefined) return false
  if (only === 'violations' && view.violations === undefined) return false
  if (only === 'slow' && (view.durationMs ?? 0) < slowMs) return false
  return q === undefined || `${view.method ?? ''} ${view.name ?? ''} ${view.server}`.toLowerCase().includes(q.toLowerCase())
}

/** A value of any length as a short key. */
function keyOf(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length <= 100 ? text : createHash('sha256').update(text).digest('base64')
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length

function nameIn(params: Record<string, unknown>): string | undefined {
  const name = params.name ?? params.uri ?? (isObject(params.ref) ? (params.ref.name ?? params.ref.uri) : undefined)
  return typeof name === 'string' ? shortCopy(name) : undefined
}

/** Why an answer failed, in a few words. */
function failureIn({ error, result }: Record<string, unknown>): string | undefined {
  if (isObject(error)) return shortCopy(String(error.message ?? error.code))
  if (error !== undefined) return 'An error without a message'
  if (!isObject(result) || result.isError !== true) return undefined
  const [first] = Array.isArray(result.content) ? result.content : []
  return isObject(first) && typeof first.text === 'string' ? shortCopy(first.text) : 'The tool failed'
}
