/** Answers one POST of a stateless revision. The request carries everything, and ends when its client disconnects. */

import { type Incoming, METHOD_NOT_FOUND, type NotificationMessage, type RequestMessage } from '../../jsonrpc/message.ts'
import { closedBy } from '../../protocol/end-of-request.ts'
import type { McpError } from '../../protocol/errors.ts'
import type { Access } from '../../protocol/interfaces/access.ts'
import type { SharedValues } from '../../protocol/interfaces/replaceable-services.ts'
import type { Answering, Sender, Service } from '../../protocol/interfaces/service.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import type { Revision } from '../../revisions/revision.ts'
import { checkVersionHeader, route } from '../../revisions/route.ts'
import type { AllHttpLimits } from './fixed-limits.ts'
import type { BodyMemory } from './limits/body-memory.ts'
import type { CallerUsage } from './limits/caller-usage.ts'
import type { InFlight } from './limits/in-flight.ts'
import { checkMirroredHeaders } from './mirrored-headers.ts'
import { about, type Refusal, refuse } from './refusal.ts'
import type { HttpReply, HttpRequestView } from './runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, eventText } from './streams/event-stream.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import { PlainStream } from './streams/plain-stream.ts'
import { type AcceptedTypes, type AnswerStream, ReplyOutlet, type ReplyOwner } from './streams/reply-outlet.ts'
import type { SlowAnswers } from './streams/slow-answers.ts'

export interface StatelessOptions {
  service: Service
  supported: readonly Revision[]
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  /** Whether the server sends streams at all. */
  canListen: boolean
  /** Whether the mirrored headers are required also where the revision does not. */
  requireMcpHeaders: boolean
  /** Where replicas keep the outcomes of rounds. */
  valuesOf?: ((usage: CallerUsage) => SharedValues) | undefined
}

/** A POST that passed the guard, with its caller. */
export interface HttpPost {
  request: HttpRequestView
  reply: HttpReply
  principal: string | undefined
  /** Where this request is counted. */
  usage: CallerUsage
  /** The memory of its body. */
  body: BodyMemory
  access: Access
  accepts: AcceptedTypes
}

/** Answers the message, or returns a refusal for the caller to send. */
export function answerStateless(message: Incoming, post: HttpPost, options: StatelessOptions): Refusal | undefined {
  switch (message.kind) {
    case 'request':
      return answerRequest(message, post, options)
    case 'notification':
      return takeNotification(message, post, options)
    case 'result':
    case 'error':
      return refuse(400, 'A client cannot send responses in this protocol revision')
    case 'batch':
      return refuse(400, 'Batches are not part of this protocol revision')
    case 'malformed':
      return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
    case 'ignored':
      return refuse(400, message.reason)
  }
}

/** The server ignores notifications in stateless revisions, but refuses those whose headers do not match. */
function takeNotification(message: NotificationMessage, { request, reply }: HttpPost, options: StatelessOptions): Refusal | undefined {
  const { service, supported, requireMcpHeaders } = options
  const mismatch = checkMirroredHeaders(request, message, service, requireMcpHeaders, supported.at(-1) as Revision)
  if (!mismatch) reply.send(202, {})
  return mismatch
}

function answerRequest(message: RequestMessage, post: HttpPost, options: StatelessOptions): Refusal | undefined {
  const { request, principal, usage } = post
  const { service, supported, inFlight } = options
  const disagreement = checkVersionHeader(message, request.header('mcp-protocol-version'), supported)
  if (disagreement) return badRequest(disagreement, supported.at(-1) as Revision)
  const { revision, error } = route(message, undefined, supported)
  if (error) return badRequest(error, revision)
  const mismatch = checkMirroredHeaders(request, message, service, true, revision)
  if (mismatch) return mismatch
  const isListen = message.method === 'subscriptions/listen'
  if (isListen && !post.accepts.events)
    return refuse(406, 'subscriptions/listen needs text/event-stream, which the Accept header or the server does not allow')
  const full = isListen ? enterListen(usage, options) : inFlight.enter(usage, post.body)
  if (full) return full
  new StatelessAnswer(principal, usage, post.body, isListen, options).start(message, post, revision.version)
  // The message stays in memory as long as the subscription, which is no request in progress otherwise.
  if (isListen) post.body.isInFlight = true
  return undefined
}

/** One stateless request in progress. */
class StatelessAnswer implements ReplyOwner {
  readonly #options: StatelessOptions
  readonly #principal: string | undefined
  readonly #usage: CallerUsage
  readonly #body: BodyMemory
  readonly #isListen: boolean
  #answering: Answering | undefined
  #sender: Sender | undefined
  #isGone = false
  #isOver = false
  #isAbandoned = false

  constructor(principal: string | undefined, usage: CallerUsage, body: BodyMemory, isListen: boolean, options: StatelessOptions) {
    this.#body = body
    this.#usage = usage
    this.#options = options
    this.#principal = principal
    this.#isListen = isListen
  }

  start(message: RequestMessage, { reply, accepts, access, body }: HttpPost, version: string): void {
    reply.onGone = this.#onGone
    const outlet = new ReplyOutlet(reply, accepts, this, access, body)
    const { canListen, service, valuesOf } = this.#options
    const sender: Sender = { version, principal: this.#principal, account: this.#usage.key, canListen, values: valuesOf?.(this.#usage) }
    this.#sender = sender
    try {
      this.#answering = service.answer(message, outlet, sender)
    } catch (error) {
      outlet.fail()
      throw error
    }
    if (this.#isGone) this.#cancel()
  }

  get slow(): SlowAnswers {
    return this.#options.open.slow
  }

  beginAnswer(reply: HttpReply): AnswerStream {
    return new PlainStream(
      reply,
      this.#options.open,
      this.#usage,
      this.#isListen ? () => this.#answering?.finish() : undefined,
      this.#onGone,
    )
  }

  answerAsEvent(reply: HttpReply, json: string): void {
    reply.send(200, EVENT_STREAM_HEADERS, eventText(json, undefined))
  }

  /** Errors of the request itself set the status. Errors of its handler do not. */
  statusOf(errorCode: number | undefined): number {
    if (errorCode === undefined) return 200
    if (errorCode === METHOD_NOT_FOUND) return 404
    return isModernError(errorCode) ? 400 : 200
  }

  onOver(): void {
    const { inFlight } = this.#options
    this.#isOver = true
    const body = this.#isAbandoned ? undefined : this.#body
    if (!this.#isListen) return inFlight.leave(this.#usage, body)
    inFlight.leaveListen(this.#usage)
    body?.release()
  }

  readonly #onGone = (): void => {
    if (this.#isGone) return
    this.#isGone = true
    this.#cancel()
  }

  #cancel(): void {
    const answering = this.#answering
    if (!answering || this.#isOver) return
    // The handler may ignore its signal. Until it ends, the request counts as abandoned.
    const { inFlight } = this.#options
    inFlight.abandon(this.#usage)
    this.#isAbandoned = true
    answering.onStopped = () => {
      answering.onStopped = undefined
      inFlight.unabandon(this.#usage)
      this.#body.release()
    }
    if (!this.#options.open.isClosed) return answering.cancel(new DOMException('The client disconnected', 'AbortError'))
    if (this.#sender) this.#sender.cause = 'shutdown'
    answering.cancel(closedBy('The server was closed', 'shutdown'))
  }
}

const enterListen = (usage: CallerUsage, { inFlight, open }: StatelessOptions): Refusal | undefined =>
  inFlight.checkStreams(usage, open.size) ?? inFlight.enterListen(usage)

const badRequest = ({ code, message, data }: McpError, revision: Revision): Refusal =>
  refuse(400, message, { code: revision.errorCode(code), data })
