/** One request of a shared session while this replica runs it. */

import { randomId } from '../../../base/bytes.ts'
import { type Id, INTERNAL_ERROR, type Incoming } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import { read } from '../../../jsonrpc/read.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { Channel, EndCause, SessionState, SharedSession } from '../../../protocol/interfaces/service.ts'
import type { SubscriptionBounds } from '../../../protocol/subscription-bounds.ts'
import { revisionOf } from '../../../revisions/index.ts'
import type { TakenOver } from '../../../store/stream-logs.ts'
import { requestsIn } from '../expects-answer.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import { ENDED } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import { NOT_FOUND, SILENT } from '../session/check-request.ts'
import { statusOf } from '../session/session.ts'
import { type AcceptedTypes, type AnswerStream, ReplyOutlet, type ReplyOwner } from '../streams/reply-outlet.ts'
import type { SlowAnswers } from '../streams/slow-answers.ts'
import { type JournalOwner, lastQuestion, StreamJournal } from './call-journal.ts'
import { IS_OVER, LoggedStream, type LoggedStreamOwner } from './logged-stream.ts'
import { callName, lostAnswer, openCallOf, type RestartableCall, RUNS, refusedAnswer } from './open-call.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { ReadSession } from './session-record.ts'
import { standingOutlet } from './standing-stream.ts'
import { storeRefusal } from './store-refusal.ts'

/** What the runs of a call before this one have left. */
export interface RunsBefore {
  stream: string
  taken: TakenOver
  /** The number of this run, from 1. */
  run: number
}

export interface SharedCallOptions {
  session: ReadSession
  message: Incoming
  /** How the store names its requests. */
  names: readonly string[]
  usage: CallerUsage
  services: ReplicaServices
  /** Set if another replica may run the request again. */
  restart: RestartableCall | undefined
  before?: RunsBefore
  /** Changes the state of the session in the store. */
  change(apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void>
  onOver(call: SharedCall): void
}

export class SharedCall implements ReplyOwner, LoggedStreamOwner, SharedSession, JournalOwner {
  readonly sid: string
  readonly stream: string
  readonly eventName: string
  /** Those of a batch leave together. */
  readonly names: readonly string[]
  readonly isPolled: boolean
  readonly usage: CallerUsage
  readonly account: string
  readonly state: SessionState
  readonly journal: StreamJournal | undefined
  readonly #options: SharedCallOptions
  /** Opened when the request runs. */
  #channel: Channel | undefined
  /** Answers to questions of a run before, which this run may not have reached yet. */
  readonly #answersBefore: Map<string, string>
  #outlet: ReplyOutlet | undefined
  #logged: LoggedStream | undefined
  #questions = 0
  #isAnswered = false
  #isUnattended = false
  /** The newest reader of the stream that this replica knows of. */
  #reader = 0
  #isFenced = false
  /** Without a lease at the start nothing can be taken over: the store was away, and a request without a stream does not need the lease. */
  readonly #hadLease: boolean
  #isLost = false
  /** The session has ended. */
  #isGone = false
  #isCancelled = false
  /** Whether the client has finished the handshake, as far as this replica knows. */
  #isReady: boolean
  #hasLeft = false
  #body: BodyMemory | undefined

  constructor(options: SharedCallOptions) {
    const { session, names, usage, services, restart, before } = options
    const { state, eventName } = session.record
    this.#options = options
    this.sid = session.sid
    this.stream = before?.stream ?? randomId()
    this.account = session.sid
    this.state = state
    this.#isReady = state.isReady
    this.eventName = eventName
    this.names = names
    this.usage = usage
    this.isPolled = revisionOf(state.version)?.hasPolledStreams ?? false
    this.journal = restart && new StreamJournal(this, before?.taken)
    this.#hadLease = services.store.replica.isHeld
    this.#answersBefore = new Map(Object.entries(before?.taken.answers ?? {}))
    if (before) this.#questions = lastQuestion(before.taken.journal)
  }

  get callJson(): string {
    const { message, restart } = this.#options
    return JSON.stringify(openCallOf(message, restart))
  }

  get refusedJson(): string {
    return refusedAnswer(openCallOf(this.#options.message, undefined))
  }

  get lostJson(): string {
    return lostAnswer(openCallOf(this.#options.message, undefined), 'lost its lease')
  }

  /** A process that was stopped may go on with an answer before it notices that its lease has ended. */
  lostAnswer(): string | undefined {
    if (!this.#hadLease || this.#options.services.store.replica.isHeld) return undefined
    this.#isFenced = true
    this.#isLost = true
    return this.lostJson
  }

  /** False: a question of this call waits until the client is ready. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** The stream, once the answer has become one. */
  get logged(): LoggedStream | undefined {
    return this.#logged
  }

  start(reply: HttpReply, accepts: AcceptedTypes, access: Access, body: BodyMemory): void {
    const outlet = new ReplyOutlet(reply, accepts, this, access, body)
    this.#outlet = outlet
    reply.onGone = () => outlet.abandon()
    // Since the store was asked.
    if (reply.isGone) outlet.abandon()
    try {
      this.#run(outlet)
    } catch (error) {
      outlet.fail()
      throw error
    }
    // The client gets an id at once, so that it can come back for the answer of another run.
    if (this.journal && this.isPolled && !this.#isAnswered) outlet.onSlow()
  }

  /** Runs a request that another replica has begun. Its client reads the stream at any replica. */
  startAgain({ taken }: RunsBefore, sender: Access, body: BodyMemory): void {
    const logged = new LoggedStream(this, this.#options.services, taken.epoch)
    this.#logged = logged
    const end = (json?: string): void => {
      this.onOver(body)
      logged.finish(json)
    }
    const { message, restart, services } = this.#options
    const outlet: Outlet = {
      sender,
      arrival: restart && { bytes: restart.bytes, address: restart.address },
      push: (json, question) => logged.push(json, question),
      questionId: () => this.questionId(),
      answer: end,
      drop: () => end(),
    }
    try {
      this.#run(outlet)
    } catch (error) {
      services.report(error)
      end(lostAnswer(openCallOf(message, undefined)))
    }
  }

  #run(outlet: Outlet): void {
    const { session, message, usage, services } = this.#options
    this.#channel = services.service.open({
      outlet: standingOutlet(session.sid, services),
      principal: session.record.principal,
      address: usage.key || undefined,
      shared: this,
      shutdownError: ENDED,
    })
    this.#channel.receive(message, outlet)
  }

  /** The client has cancelled the request with this name. */
  cancel(name: string): void {
    this.notice({ kind: 'notification', method: 'notifications/cancelled', params: { requestId: JSON.parse(name) } })
  }

  /** Passes on a notification of the client that is about this request. */
  notice(message: Incoming): void {
    if (message.kind === 'notification' && message.method === 'notifications/initialized') this.#isReady = true
    if (this.names.includes(cancelledIn(message) ?? '')) this.#isCancelled = true
    this.#channel?.receive(message, SILENT)
  }

  takeAnswer(question: string, json: string): void {
    this.#channel?.receive(read(json, this.#options.services.limits), SILENT)
    // The journal settles it once it is recorded.
    if (this.journal) this.#answersBefore.set(question, json)
    else this.settle(question)
  }

  passAnswer(question: string): void {
    const json = this.#answersBefore.get(question)
    if (json !== undefined) this.takeAnswer(question, json)
  }

  settle(question: string): void {
    const { services } = this.#options
    this.#answersBefore.delete(question)
    if (!this.#isFenced) void services.store.streams.settle(this.sid, this.stream, question).catch(services.report)
  }

  async record(name: string, json: string): Promise<void> {
    // A handler may go on after its request. Nobody would end a stream that begins then, and another replica would run the request again.
    if (this.#isAnswered) throw new DOMException(IS_OVER, 'AbortError')
    // The journal is kept with the stream. A client that accepts no stream could not resume it, so nothing has to be recorded.
    if (!this.#logged) this.#outlet?.onSlow()
    await this.#logged?.record(name, json)
  }

  /** @param cause undefined if the client ends the request */
  abort(reason: string, cause?: EndCause): void {
    this.#channel?.close(reason, cause)
  }

  /** This replica has lost its lease. Nobody goes on with a request without a stream, and its client is connected here. */
  fence(reason: string): void {
    if (this.#logged) return this.#logged.fence(reason)
    this.#isFenced = true
    this.#outlet?.answer(this.lostJson, INTERNAL_ERROR)
    this.abort(reason, 'replica_lost')
  }

  /** The handler waits for what this replica cannot read. */
  fail(reason: string): void {
    this.#logged?.finish(refusedAnswer(openCallOf(this.#options.message, undefined), reason))
    this.abort(reason, 'store_down')
  }

  /**
   * This endpoint ends. All requests are answered with an error, except those that go on elsewhere.
   *
   * @param isTakenOver true: another replica goes on with the stream of a request that may run again
   */
  async handOver(reason: string, isTakenOver: boolean): Promise<void> {
    const { restart, before, message } = this.#options
    const logged = this.#logged
    const goesOn = restart !== undefined && isTakenOver
    const lost = lostAnswer(openCallOf(message, undefined))
    let cause: EndCause = logged && !goesOn ? 'replica_lost' : 'shutdown'
    if (logged && !this.#isAnswered) {
      if (goesOn) {
        // A run that was handed over does not count as one that ended its process.
        await logged.record(RUNS, String((before?.run ?? 1) - 1)).catch(() => {})
        cause = logged.handOver(reason, lost)
      } else logged.finish(lost)
    }
    this.abort(reason, cause)
    // The answer to a batch may have become a stream.
    await this.#logged?.written()
  }

  begin(): void {}

  async change(apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void> {
    try {
      await this.#options.change(apply, bounds)
    } catch (error) {
      if (storeRefusal(error) !== NOT_FOUND) throw error
      this.#isGone = true
      throw new McpError('ERR_INVALID_REQUEST', NOT_FOUND.message, { cause: error })
    }
  }

  openPage(elicitationId: string, json: string): Promise<void> {
    return this.#options.services.pages.add(elicitationId, this.sid, json)
  }

  get slow(): SlowAnswers {
    return this.#options.services.open.slow
  }

  /** A client that has no stream yet learns of the end of its session as from its next request. A batch has no error code of its own. */
  statusOf(errorCode: number | undefined): number {
    const hasFailed = errorCode !== undefined || this.#options.message.kind === 'batch'
    return this.#isGone && hasFailed ? NOT_FOUND.status : statusOf(errorCode)
  }

  questionId(): string {
    return `${this.stream}.${++this.#questions}`
  }

  beginAnswer(reply: HttpReply): AnswerStream {
    this.#logged = new LoggedStream(this, this.#options.services)
    this.#logged.connect(reply)
    return this.#logged
  }

  answerAsEvent(reply: HttpReply, json: string): void {
    this.beginAnswer(reply).finish(json)
  }

  onOver(body: BodyMemory): void {
    this.#isAnswered = true
    this.#body = body
    // Now, so that the record of the request says how it has ended.
    if (this.#isLost) this.abort('This replica lost its lease', 'replica_lost')
    // Until the stream of a cancelled request has ended, another replica must find the cancellation.
    if (!(this.#isCancelled && this.#logged)) this.#leave()
    queueMicrotask(() => {
      this.#channel?.close('The request was answered')
      if (!this.#logged) this.#end()
    })
  }

  onAbandoned(): void {
    this.#options.services.inFlight.abandon(this.usage)
  }

  onAbandonedOver(): void {
    this.#options.services.inFlight.unabandon(this.usage)
  }

  onUnattended(): void {
    if (this.#isUnattended || this.#isAnswered) return
    this.#isUnattended = true
    this.#options.services.inFlight.abandon(this.usage)
  }

  #onAttended(): void {
    if (this.#isUnattended) this.#options.services.inFlight.unabandon(this.usage)
    this.#isUnattended = false
  }

  /**
   * A client reads the stream here or at another replica, or has left it.
   *
   * @param reader what an earlier reader does makes no difference
   */
  attend(reader: number, isThere: boolean): void {
    if (reader < this.#reader) return
    this.#reader = reader
    if (isThere) this.#onAttended()
    else this.onUnattended()
  }

  onFenced(reason: string, cause?: EndCause): void {
    this.#isFenced = true
    this.abort(reason, cause)
  }

  onWritten(): void {
    this.#onAttended()
    this.#leave()
    this.#end()
  }

  #leave(): void {
    const { store, report } = this.#options.services
    // Another replica may have registered the request since.
    if (this.#isFenced || this.#hasLeft) return
    this.#hasLeft = true
    for (const name of this.names) void store.sessions.leave(this.sid, name).catch(report)
  }

  /** The request counts until its answer is in the store, so that a server that closes waits for it. */
  #end(): void {
    this.#options.services.inFlight.leave(this.usage, this.#body, requestsIn(this.#options.message))
    this.#options.onOver(this)
  }
}

/** The name of the request that a message cancels. */
function cancelledIn(message: Incoming): string | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? callName(id) : undefined
}

/** The stream of a question, from its id; undefined for ids that no replica made. */
export function streamOfQuestion(id: Id | undefined): string | undefined {
  return typeof id === 'string' ? /^([A-Za-z0-9_-]{22})\.\d{1,9}$/.exec(id)?.[1] : undefined
}
