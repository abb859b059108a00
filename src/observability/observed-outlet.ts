/** The outlet of one request or one batch: measures the time until each answer, and reports a record of each request. */

import { asText } from '../base/as-text.ts'
import { callSafely } from '../base/call-observer.ts'
import { isObject } from '../base/json.ts'
import { reportError } from '../base/report-error.ts'
import type { KeptText } from '../jsonrpc/kept-text.ts'
import type { Params, RequestMessage } from '../jsonrpc/message.ts'
import type { Arrival, Outlet } from '../jsonrpc/outlet.ts'
import type { EndCause } from '../protocol/interfaces/service.ts'
import { METHODS } from '../protocol/methods.ts'
import { META } from '../protocol/model/base.ts'
import { PassingOutlet } from './passing-outlet.ts'
import { type Ending, endedBy, endingOf, endingOfMessage, OK, type RequestRecord } from './request-record.ts'

/** Receives one record for each request, after its answer was written. */
export type OnRequest = (record: RequestRecord) => void

/** What is known about the sender of a request when it ends. */
export interface Conversation {
  readonly principal: string | undefined
  readonly version: string | undefined
  /** Set in a session. A stateless request names its client itself. */
  readonly client?: string | undefined
  /** Why the server ends the requests that have no answer. Undefined: the client has cancelled them, or is gone. */
  readonly cause?: EndCause | undefined
}

/** How a request ended. */
interface Ended {
  ending: Ending
  /** Milliseconds since it arrived. */
  durationMs: number
  /** The size of its answer. */
  responseBytes: number
}

/** The outlet of one request. */
export class ObservedOutlet extends PassingOutlet {
  readonly #request: RequestMessage
  readonly #conversation: Conversation
  readonly #report: OnRequest
  readonly #startedAt = performance.now()

  constructor(inner: Outlet, request: RequestMessage, conversation: Conversation, report: OnRequest) {
    super(inner)
    this.#request = request
    this.#conversation = conversation
    this.#report = report
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    this.inner.answer(json, errorCode, retryAfterS)
    const { cause } = this.#conversation
    // A transport that may not answer any more has written an error in place of the answer.
    recordSafely(() => this.#record(cause ? endedBy(cause) : endingOf(this.#request.method, json, errorCode), bytesOf(json)))
  }

  answerKept(head: string, kept: KeptText, tail: string): void {
    if (this.inner.answerKept) this.inner.answerKept(head, kept, tail)
    else this.inner.answer(head + kept.text + tail)
    const { cause } = this.#conversation
    recordSafely(() => this.#record(cause ? endedBy(cause) : OK, head.length + kept.bytes.length + tail.length))
  }

  drop(): void {
    this.inner.drop()
    recordSafely(() => this.#record(endedBy(this.#conversation.cause), 0))
  }

  #record(ending: Ending, responseBytes: number): void {
    const durationMs = performance.now() - this.#startedAt
    this.#report(recordOf(this.#request, this.#conversation, { ending, durationMs, responseBytes }, this.inner.arrival))
  }
}

/**
 * The outlet of a batch. Each request in it ends at an outlet of its own, because two of them may have the same id, and because the batch is
 * written when the last one has ended.
 */
export class ObservedBatch extends PassingOutlet {
  readonly #requests: readonly RequestMessage[]
  readonly #conversation: Conversation
  readonly #report: OnRequest
  readonly #startedAt = performance.now()
  readonly #ended = new Map<RequestMessage, Ended>()

  constructor(inner: Outlet, requests: readonly RequestMessage[], conversation: Conversation, report: OnRequest) {
    super(inner)
    this.#requests = requests
    this.#conversation = conversation
    this.#report = report
  }

  partOf(request: RequestMessage, batch: Outlet): Outlet {
    return new BatchPart(batch, (json, errorCode) =>
      recordSafely(() => {
        const { cause } = this.#conversation
        const ending = cause || json === undefined ? endedBy(cause) : endingOf(request.method, json, errorCode)
        this.#ended.set(request, this.#endedNow(ending, json === undefined ? 0 : bytesOf(json)))
      }),
    )
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    this.inner.answer(json, errorCode, retryAfterS)
    recordSafely(() => this.#record(json))
  }

  drop(): void {
    this.inner.drop()
    recordSafely(() => this.#record(undefined))
  }

  #endedNow(ending: Ending, responseBytes: number): Ended {
    return { ending, durationMs: performance.now() - this.#startedAt, responseBytes }
  }

  #record(json: string | undefined): void {
    const { cause } = this.#conversation
    // At a shutdown the answers that are ready are written. Otherwise the transport has written an error in place of all of them.
    const lost = cause !== undefined && cause !== 'shutdown' ? endedBy(cause) : undefined
    const { arrival } = this.inner
    for (const [at, request] of this.#requests.entries()) {
      const ended = this.#ended.get(request) ?? this.#refused(json, at)
      // The batch is one message: its bytes must not count more than once.
      const arrived = arrival && at > 0 ? { ...arrival, bytes: undefined } : arrival
      this.#report(recordOf(request, this.#conversation, lost ? { ...ended, ending: lost } : ended, arrived))
    }
  }

  /** The batch was refused with one error. */
  #refused(json: string | undefined, at: number): Ended {
    if (json === undefined) return this.#endedNow(endedBy(this.#conversation.cause), 0)
    return this.#endedNow(endingOfMessage(JSON.parse(json)), at === 0 ? bytesOf(json) : 0)
  }
}

/** Sees the answer to one request before the batch collects it. */
class BatchPart extends PassingOutlet {
  readonly #onEnd: (json?: string, errorCode?: number) => void

  constructor(batch: Outlet, onEnd: (json?: string, errorCode?: number) => void) {
    super(batch)
    this.#onEnd = onEnd
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    this.#onEnd(json, errorCode)
    this.inner.answer(json, errorCode, retryAfterS)
  }

  drop(): void {
    this.#onEnd()
    this.inner.drop()
  }
}

function recordOf(
  { id, method, params = NO_PARAMS }: RequestMessage,
  { principal, version, client }: Conversation,
  { ending: { outcome, code, reason, limit, reference }, durationMs, responseBytes }: Ended,
  arrival: Arrival | undefined,
): RequestRecord {
  const meta = isObject(params._meta) ? params._meta : undefined
  return {
    id: typeof id === 'string' ? id.slice(0, MAX_NAME) : id,
    method: method.slice(0, MAX_NAME),
    target: targetOf(method, params),
    principal,
    address: arrival?.address,
    client: client ?? (meta && describeClient(meta[META.clientInfo])),
    revision: version,
    outcome,
    code,
    reason,
    limit,
    reference,
    durationMs,
    requestBytes: arrival?.bytes,
    responseBytes,
    traceId: typeof meta?.traceparent === 'string' ? TRACE_ID.exec(meta.traceparent)?.[1] : undefined,
  }
}

/** A record that cannot be made must not change what the client gets. */
const recordSafely = (record: () => void): void =>
  callSafely(record, (fault) => reportError('portico: a request could not be recorded:', fault))

const NO_PARAMS: Params = Object.freeze({})

/** The id in a `traceparent`. */
const TRACE_ID = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/** Names that a client chooses are cut, because records are logged. */
const MAX_NAME = 200

function targetOf(method: string, params: Params): string | undefined {
  const member = METHODS.get(method)?.target
  const value = member === undefined ? undefined : params[member]
  return typeof value === 'string' ? value.slice(0, MAX_NAME) : undefined
}

export function describeClient(info: unknown): string | undefined {
  if (!isObject(info) || typeof info.name !== 'string') return undefined
  const { name, version: release } = info
  if (name !== lastClient.name || release !== lastClient.release)
    lastClient = { name, release, text: `${name}/${asText(release)}`.slice(0, MAX_NAME) }
  return lastClient.text
}

// Cached, because a stateless client names itself in every request.
let lastClient: { name: string; release: unknown; text: string } = { name: '', release: undefined, text: '' }

// Buffer is native code. The rest is for runtimes that do not have it.
const { Buffer: nativeBuffer } = globalThis as { Buffer?: { byteLength(text: string): number } }
const encoder = new TextEncoder()
const bytesOf = nativeBuffer ? nativeBuffer.byteLength : (text: string): number => encoder.encode(text).length
