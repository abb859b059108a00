/** One POST of a revision without sessions: the request says everything, and its stream is its life. */

import { type Incoming, METHOD_NOT_FOUND, type NotificationMessage, type RequestMessage } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Access } from '../../protocol/seams/access.ts'
import type { Answering, Service } from '../../protocol/seams/service.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import type { Revision } from '../../revisions/revision.ts'
import { faultOfHeader, route } from '../../revisions/route.ts'
import type { BodyMemory } from './limits/body-memory.ts'
import type { CallerUsage } from './limits/caller-usage.ts'
import type { InFlight } from './limits/in-flight.ts'
import { checkMirroredHeaders } from './mirrored-headers.ts'
import type { HttpLimits } from './options.ts'
import { about, type Refusal, refuse } from './refusal.ts'
import type { HttpReply, HttpRequestView } from './runtime/view.ts'
import { EVENT_STREAM_HEADERS, eventText } from './streams/event-stream.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import { PlainStream } from './streams/plain-stream.ts'
import { type AcceptedTypes, type AnswerStream, ReplyOutlet, type ReplyOwner } from './streams/reply-outlet.ts'
import type { SlowAnswers } from './streams/slow-answers.ts'

export interface StatelessOptions {
  service: Service
  supported: readonly Revision[]
  limits: HttpLimits
  inFlight: InFlight
  open: OpenStreams
  /** Whether there are streams at all. */
  canListen: boolean
  /** Headers that mirror the message must be there also where the revision leaves it open. */
  requireMcpHeaders: boolean
}

export interface HttpPost {
  request: HttpRequestView
  reply: HttpReply
  principal: string | undefined
  /** Whoever this request is counted as. */
  usage: CallerUsage
  /** What its body takes. */
  body: BodyMemory
  access: Access
  accepts: AcceptedTypes
}

/** Refuses or answers; a refusal is the caller's to send. */
export function answerStandingAlone(message: Incoming, post: HttpPost, options: StatelessOptions): Refusal | undefined {
  switch (message.kind) {
    case 'request':
      return answerRequest(message, post, options)
    case 'notification':
      return takeNotification(message, post, options)
    case 'result':
    case 'error':
      return refuse(400, 'In this revision a client sends no responses')
    case 'batch':
      return refuse(400, 'Batches are not part of this protocol revision')
    case 'malformed':
      return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
    case 'ignored':
      return refuse(400, message.reason)
  }
}

/** None means anything here. One whose headers say something else than the message is refused like a request. */
function takeNotification(message: NotificationMessage, { request, reply }: HttpPost, options: StatelessOptions): Refusal | undefined {
  const { service, supported, requireMcpHeaders } = options
  const fault = checkMirroredHeaders(request, message, (tool) => service.mirroredParams(tool), requireMcpHeaders)
  if (fault === undefined) {
    reply.send(202, {})
    return undefined
  }
  const error = new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${fault}`)
  return refuse(400, error.message, { code: (supported.at(-1) as Revision).errorCode(error.code) })
}

function answerRequest(message: RequestMessage, post: HttpPost, options: StatelessOptions): Refusal | undefined {
  const { request, principal, usage } = post
  const { service, supported, inFlight } = options
  const disagreement = faultOfHeader(message, request.header('mcp-protocol-version'), supported)
  if (disagreement) return badRequest(message, disagreement, supported.at(-1) as Revision)
  const { revision, error } = route(message, undefined, supported)
  if (error) return badRequest(message, error, revision)
  const fault = checkMirroredHeaders(request, message, (tool) => service.mirroredParams(tool), true)
  if (fault !== undefined) return badRequest(message, new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${fault}`), revision)
  const isListen = message.method === 'subscriptions/listen'
  if (isListen && !post.accepts.events)
    return about(refuse(406, 'subscriptions/listen is answered with text/event-stream, which is not taken or not given here'), message.id)
  const full = isListen ? enterListen(usage, options) : inFlight.enter(usage, post.body)
  if (full) return about(full, message.id)
  new StandingAlone(principal, usage, post.body, isListen, options).start(message, post, revision.version)
  return undefined
}

/** One request while it is answered: what its stream ends with, and who is told that it did. */
class StandingAlone implements ReplyOwner {
  readonly #options: StatelessOptions
  readonly #principal: string | undefined
  readonly #usage: CallerUsage
  readonly #body: BodyMemory
  readonly #isListen: boolean
  #answering: Answering | undefined
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
    const { canListen, service } = this.#options
    const sender = { version, principal: this.#principal, account: this.#usage.key, canListen }
    this.#answering = service.answer(message, outlet, sender)
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

  /** What the request itself did wrong shows in the status; what its handler says does not. */
  statusOf(errorCode: number | undefined): number {
    if (errorCode === undefined) return 200
    if (errorCode === METHOD_NOT_FOUND) return 404
    return isModernError(errorCode) ? 400 : 200
  }

  onOver(): void {
    const { inFlight } = this.#options
    this.#isOver = true
    if (this.#isListen) inFlight.leaveListen(this.#usage)
    else inFlight.leave(this.#usage, this.#isAbandoned ? undefined : this.#body)
  }

  readonly #onGone = (): void => {
    if (this.#isGone) return
    this.#isGone = true
    this.#cancel()
  }

  #cancel(): void {
    const answering = this.#answering
    if (!answering || this.#isOver) return
    // The request is over, but its handler may not look at the signal: until it ends it is work for nobody.
    const { inFlight } = this.#options
    inFlight.abandon(this.#usage)
    this.#isAbandoned = true
    answering.onStopped = () => {
      answering.onStopped = undefined
      inFlight.unabandon(this.#usage)
      this.#body.release()
    }
    answering.cancel(new DOMException('The client went away', 'AbortError'))
  }
}

const enterListen = (usage: CallerUsage, { inFlight, open }: StatelessOptions): Refusal | undefined =>
  inFlight.checkStreams(usage, open.size) ?? inFlight.enterListen(usage)

const badRequest = ({ id }: RequestMessage, { code, message, data }: McpError, revision: Revision): Refusal =>
  about(refuse(400, message, { code: revision.errorCode(code), data }), id)
