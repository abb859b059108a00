/** One POST of a revision without sessions: the request says everything, and its stream is its life. */

import { type Incoming, METHOD_NOT_FOUND, type NotificationMessage, type RequestMessage } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Access } from '../../protocol/seams/access.ts'
import type { Answering, Service } from '../../protocol/seams/service.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import type { Revision } from '../../revisions/revision.ts'
import { checkVersionHeader, route } from '../../revisions/route.ts'
import type { Ask, Reply } from './ask.ts'
import type { BodyHold } from './body-hold.ts'
import { EVENT_STREAM_HEADERS, eventText } from './event-stream.ts'
import type { Holder } from './holders.ts'
import type { Load } from './load.ts'
import { faultOfMirrors } from './mirrors.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpLimits } from './options.ts'
import { PlainStream } from './plain-stream.ts'
import { about, type Refusal, refuse } from './refusal.ts'
import { type AnswerStream, type Kinds, type ReplyHost, ReplyOutlet } from './reply-outlet.ts'
import type { SlowAnswers } from './slow-answers.ts'

export interface StatelessOptions {
  service: Service
  supported: readonly Revision[]
  limits: HttpLimits
  load: Load
  open: OpenStreams
  /** Whether there are streams at all. */
  canListen: boolean
  /** Headers that mirror the message must be there also where the revision leaves it open. */
  requireMcpHeaders: boolean
}

export interface Visit {
  ask: Ask
  reply: Reply
  principal: string | undefined
  /** Whoever this request is counted as. */
  holder: Holder
  /** What its body takes. */
  body: BodyHold
  access: Access
  kinds: Kinds
}

/** Refuses or answers; a refusal is the caller's to send. */
export function answerStateless(message: Incoming, visit: Visit, options: StatelessOptions): Refusal | undefined {
  switch (message.kind) {
    case 'request':
      return answerRequest(message, visit, options)
    case 'notification':
      return takeNotification(message, visit, options)
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
function takeNotification(message: NotificationMessage, { ask, reply }: Visit, options: StatelessOptions): Refusal | undefined {
  const { service, supported, requireMcpHeaders } = options
  const fault = faultOfMirrors(ask, message, (tool) => service.mirroredParams(tool), requireMcpHeaders)
  if (fault === undefined) {
    reply.send(202, {})
    return undefined
  }
  const error = new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${fault}`)
  return refuse(400, error.message, { code: (supported.at(-1) as Revision).errorCode(error.code) })
}

function answerRequest(message: RequestMessage, visit: Visit, options: StatelessOptions): Refusal | undefined {
  const { ask, principal, holder } = visit
  const { service, supported, load } = options
  const disagreement = checkVersionHeader(message, ask.header('mcp-protocol-version'), supported)
  if (disagreement) return badRequest(message, disagreement, supported.at(-1) as Revision)
  const { revision, error } = route(message, undefined, supported)
  if (error) return badRequest(message, error, revision)
  const fault = faultOfMirrors(ask, message, (tool) => service.mirroredParams(tool), true)
  if (fault !== undefined) return badRequest(message, new McpError('ERR_HEADER_MISMATCH', `Header mismatch: ${fault}`), revision)
  const isListen = message.method === 'subscriptions/listen'
  if (isListen && !visit.kinds.events)
    return about(refuse(406, 'subscriptions/listen is answered with text/event-stream, which is not taken or not given here'), message.id)
  const full = isListen ? enterListen(holder, options) : load.enter(holder, visit.body)
  if (full) return about(full, message.id)
  new StatelessAnswer(principal, holder, visit.body, isListen, options).start(message, visit, revision.version)
  return undefined
}

/** One request while it is answered: what its stream ends with, and who is told that it did. */
class StatelessAnswer implements ReplyHost {
  readonly #options: StatelessOptions
  readonly #principal: string | undefined
  readonly #holder: Holder
  readonly #body: BodyHold
  readonly #isListen: boolean
  #answering: Answering | undefined
  #isGone = false
  #isOver = false
  #isAbandoned = false

  constructor(principal: string | undefined, holder: Holder, body: BodyHold, isListen: boolean, options: StatelessOptions) {
    this.#body = body
    this.#holder = holder
    this.#options = options
    this.#principal = principal
    this.#isListen = isListen
  }

  start(message: RequestMessage, { reply, kinds, access, body }: Visit, version: string): void {
    reply.onGone = this.#onGone
    const outlet = new ReplyOutlet(reply, kinds, this, access, body)
    const { canListen, service } = this.#options
    const sender = { version, principal: this.#principal, account: this.#holder.key, canListen }
    this.#answering = service.answer(message, outlet, sender)
    if (this.#isGone) this.#cancel()
  }

  get slow(): SlowAnswers {
    return this.#options.open.slow
  }

  beginAnswer(reply: Reply): AnswerStream {
    return new PlainStream(
      reply,
      this.#options.open,
      this.#holder,
      this.#isListen ? () => this.#answering?.finish() : undefined,
      this.#onGone,
    )
  }

  answerAsEvent(reply: Reply, json: string): void {
    reply.send(200, EVENT_STREAM_HEADERS, eventText(json, undefined))
  }

  /** What the request itself did wrong shows in the status; what its handler says does not. */
  statusOf(errorCode: number | undefined): number {
    if (errorCode === undefined) return 200
    if (errorCode === METHOD_NOT_FOUND) return 404
    return isModernError(errorCode) ? 400 : 200
  }

  onOver(): void {
    const { load } = this.#options
    this.#isOver = true
    if (this.#isListen) load.leaveListen(this.#holder)
    else load.leave(this.#holder, this.#isAbandoned ? undefined : this.#body)
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
    const { load } = this.#options
    load.abandon(this.#holder)
    this.#isAbandoned = true
    answering.onStopped = () => {
      answering.onStopped = undefined
      load.unabandon(this.#holder)
      this.#body.release()
    }
    answering.cancel(new DOMException('The client went away', 'AbortError'))
  }
}

const enterListen = (holder: Holder, { load, open }: StatelessOptions): Refusal | undefined =>
  load.faultOfStreams(holder, open.size) ?? load.enterListen(holder)

const badRequest = ({ id }: RequestMessage, { code, message, data }: McpError, revision: Revision): Refusal =>
  about(refuse(400, message, { code: revision.errorCode(code), data }), id)
