/** A server whose requests are recorded, on any transport. */

import { asText } from '../base/as-text.ts'
import { callObserver, callSafely } from '../base/call-observer.ts'
import { isObject } from '../base/json.ts'
import { reportError } from '../base/report-error.ts'
import type { KeptText } from '../jsonrpc/kept-text.ts'
import type { Incoming, Params, RequestMessage } from '../jsonrpc/message.ts'
import type { Arrival, Outlet } from '../jsonrpc/outlet.ts'
import type { Channel, EndCause, Service } from '../protocol/interfaces/service.ts'
import { METHODS } from '../protocol/methods.ts'
import { META } from '../protocol/model/base.ts'
import { PassingChannel } from './passing-channel.ts'
import { type Ending, endedBy, endingOf, endingOfMessage, OK, type RequestRecord } from './request-record.ts'

/** Receives one record for each request, after its answer was written. */
export type OnRequest = (record: RequestRecord) => void

/**
 * A server that calls `onRequest` for each request. Pass it to a transport instead of the server. `listen` and `httpHandler` have an option
 * of the same name.
 *
 * @example
 * import { observed } from 'portico/observability'
 *
 * serveStdio(observed(server, ({ method, target, outcome, durationMs }) => console.error(method, target, outcome, durationMs)))
 */
export function observed(service: Service, onRequest: OnRequest): Service {
  const report: OnRequest = (record) => callObserver('onRequest', () => onRequest(record))
  return {
    name: service.name,
    versions: service.versions,
    mirroredParams: (tool) => service.mirroredParams(tool),
    requiredScopes: (request) => service.requiredScopes(request),
    hasTool: (name) => service.hasTool(name),
    ...(service.onAnnouncement && { onAnnouncement: service.onAnnouncement.bind(service) }),
    ...(service.onRemoteChange && { onRemoteChange: service.onRemoteChange.bind(service) }),
    ...(service.onMissedChanges && { onMissedChanges: service.onMissedChanges.bind(service) }),
    ...(service.isRestartable && { isRestartable: service.isRestartable.bind(service) }),
    ...(service.onSessionEnd && { onSessionEnd: service.onSessionEnd.bind(service) }),
    ...(service.shareWith && { shareWith: service.shareWith.bind(service) }),
    ...(service.useKeys && { useKeys: service.useKeys.bind(service) }),
    ...(service.useLimits && { useLimits: service.useLimits.bind(service) }),
    answer: (request, outlet, sender) =>
      service.answer(request, new ObservedOutlet(outlet, [request], sender.principal, sender, report), sender),
    open: (options) => new ObservedChannel(service.open(options), options.principal, report, describeClient(options.shared?.state?.client)),
  }
}

/** Where the revision and the client of a request are known when it ends. */
interface Conversation {
  readonly version: string | undefined
  /** Set in a session. A stateless request names its client itself. */
  readonly client?: string | undefined
  /** Why the server ends the requests that have no answer. Undefined: the client has cancelled them, or is gone. */
  readonly cause?: EndCause | undefined
}

class ObservedChannel extends PassingChannel implements Conversation {
  readonly #principal: string | undefined
  readonly #report: OnRequest
  client: string | undefined
  cause: EndCause | undefined

  /** @param client of a session that began at another channel */
  constructor(channel: Channel, principal: string | undefined, report: OnRequest, client: string | undefined) {
    super(channel)
    this.client = client
    this.#principal = principal
    this.#report = report
  }

  receive(message: Incoming, outlet: Outlet): void {
    const requests = message.kind === 'request' ? [message] : message.kind === 'batch' ? message.messages.filter(isRequest) : []
    if (requests.length === 0) return this.inner.receive(message, outlet)
    const first = requests[0] as RequestMessage
    if (first.method === 'initialize') this.client = describeClient(first.params?.clientInfo)
    this.inner.receive(message, new ObservedOutlet(outlet, requests, this.#principal, this, this.#report))
  }

  override close(reason: string, cause?: EndCause): void {
    this.cause = cause
    super.close(reason, cause)
  }
}

const isRequest = (message: { kind: string }): message is RequestMessage => message.kind === 'request'

/** The outlet of one request or one batch. Measures the time until the answer. */
class ObservedOutlet implements Outlet {
  readonly #outlet: Outlet
  readonly #requests: readonly RequestMessage[]
  readonly #principal: string | undefined
  readonly #conversation: Conversation
  readonly #report: OnRequest
  readonly #startedAt = performance.now()

  constructor(
    outlet: Outlet,
    requests: readonly RequestMessage[],
    principal: string | undefined,
    conversation: Conversation,
    report: OnRequest,
  ) {
    this.#outlet = outlet
    this.#requests = requests
    this.#principal = principal
    this.#conversation = conversation
    this.#report = report
  }

  get sender(): unknown {
    return this.#outlet.sender
  }

  get arrival(): Arrival | undefined {
    return this.#outlet.arrival
  }

  get canPush(): boolean {
    return this.#outlet.canPush !== false
  }

  push(json: string, question?: string): undefined | Promise<void> {
    return this.#outlet.push(json, question)
  }

  get questionId(): (() => string) | undefined {
    return this.#outlet.questionId?.bind(this.#outlet)
  }

  release(): void {
    this.#outlet.release?.()
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    this.#outlet.answer(json, errorCode, retryAfterS)
    recordSafely(() => this.#recordAnswer(json, errorCode))
  }

  #recordAnswer(json: string, errorCode: number | undefined): void {
    const [only] = this.#requests
    const { cause } = this.#conversation
    // A transport that may not answer any more has written an error in place of the answer.
    if (only && this.#requests.length === 1)
      this.#record(only, cause ? endedBy(cause) : endingOf(only.method, json, errorCode), bytesOf(json))
    else this.#recordBatch(json)
  }

  answerKept(head: string, kept: KeptText, tail: string): void {
    if (this.#outlet.answerKept) this.#outlet.answerKept(head, kept, tail)
    else this.#outlet.answer(head + kept.text + tail)
    const bytes = head.length + kept.bytes.length + tail.length
    const { cause } = this.#conversation
    recordSafely(() => this.#recordAll(cause ? endedBy(cause) : OK, bytes))
  }

  drop(): void {
    this.#outlet.drop()
    recordSafely(() => this.#recordAll(endedBy(this.#conversation.cause), 0))
  }

  #recordAll(ending: Ending, bytes: number): void {
    for (const request of this.#requests) this.#record(request, ending, bytes)
  }

  /** A request of the batch without an answer was ended. The answer may also be one error for the whole batch. */
  #recordBatch(json: string): void {
    const answers: unknown = JSON.parse(json)
    for (const request of this.#requests) {
      const answer = Array.isArray(answers) ? answers.find((each) => isObject(each) && each.id === request.id) : answers
      this.#record(
        request,
        answer === undefined ? endedBy(this.#conversation.cause) : endingOfMessage(answer),
        answer === undefined ? 0 : bytesOf(JSON.stringify(answer)),
      )
    }
  }

  #record(
    { id, method, params = NO_PARAMS }: RequestMessage,
    { outcome, code, reason, limit, reference }: Ending,
    responseBytes: number,
  ): void {
    const { arrival } = this.#outlet
    const { version, client } = this.#conversation
    const meta = isObject(params._meta) ? params._meta : undefined
    this.#report({
      id: typeof id === 'string' ? id.slice(0, MAX_NAME) : id,
      method: method.slice(0, MAX_NAME),
      target: targetOf(method, params),
      principal: this.#principal,
      address: arrival?.address,
      client: client ?? (meta && describeClient(meta[META.clientInfo])),
      revision: version,
      outcome,
      code,
      reason,
      limit,
      reference,
      durationMs: performance.now() - this.#startedAt,
      requestBytes: arrival?.bytes,
      responseBytes,
      traceId: typeof meta?.traceparent === 'string' ? TRACE_ID.exec(meta.traceparent)?.[1] : undefined,
    })
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

function describeClient(info: unknown): string | undefined {
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
