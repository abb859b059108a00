/** One request of a shared session while this replica runs it. */

import { randomId } from '../../../base/bytes.ts'
import { type Id, INTERNAL_ERROR, type Incoming } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import { read } from '../../../jsonrpc/read.ts'
import { errorJson } from '../../../jsonrpc/write.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { Channel, SessionState, SharedSession } from '../../../protocol/interfaces/service.ts'
import { revisionOf } from '../../../revisions/index.ts'
import { STANDING_STREAM } from '../../../store/stream-logs.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import { SILENT } from '../session/check-request.ts'
import { statusOf } from '../session/session.ts'
import { type AcceptedTypes, type AnswerStream, ReplyOutlet, type ReplyOwner } from '../streams/reply-outlet.ts'
import type { SlowAnswers } from '../streams/slow-answers.ts'
import { LoggedStream, type LoggedStreamOwner } from './logged-stream.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { ReadSession } from './session-record.ts'

/** What another replica needs to continue a request. */
export interface OpenCall {
  /** The ids that must be answered. */
  ids: Id[]
  isBatch: boolean
}

export interface SharedCallOptions {
  session: ReadSession
  message: Incoming
  usage: CallerUsage
  services: ReplicaServices
  /** Changes the state of the session in the store. */
  change(apply: (state: SessionState) => void): Promise<void>
  /** Writes a message that belongs to no request. */
  standing: Outlet
  onOver(call: SharedCall): void
}

export class SharedCall implements ReplyOwner, LoggedStreamOwner, SharedSession {
  readonly sid: string
  readonly stream = randomId()
  readonly eventName: string
  readonly isPolled: boolean
  readonly usage: CallerUsage
  readonly account: string
  readonly state: SessionState
  readonly #options: SharedCallOptions
  readonly #channel: Channel
  #logged: LoggedStream | undefined
  #questions = 0
  #isAnswered = false
  #isUnattended = false
  #body: BodyMemory | undefined

  constructor(options: SharedCallOptions) {
    const { session, usage, services, standing } = options
    const { principal, state, eventName } = session.record
    this.#options = options
    this.sid = session.sid
    this.account = session.sid
    this.state = state
    this.eventName = eventName
    this.usage = usage
    this.isPolled = revisionOf(state.version)?.hasPolledStreams ?? false
    this.#channel = services.service.open({ outlet: standing, principal, shared: this })
  }

  get callJson(): string {
    const { message } = this.#options
    const messages = message.kind === 'batch' ? message.messages : [message]
    const ids = messages.flatMap((each) => (each.kind === 'request' ? [each.id] : []))
    return JSON.stringify({ ids, isBatch: message.kind === 'batch' } satisfies OpenCall)
  }

  /** The stream, once the answer has become one. */
  get logged(): LoggedStream | undefined {
    return this.#logged
  }

  start(reply: HttpReply, accepts: AcceptedTypes, access: Access, body: BodyMemory): void {
    const outlet = new ReplyOutlet(reply, accepts, this, access, body)
    reply.onGone = () => outlet.abandon()
    this.#channel.receive(this.#options.message, outlet)
  }

  /** Passes on a notification of the client that is about this request. */
  notice(message: Incoming): void {
    this.#channel.receive(message, SILENT)
  }

  takeAnswer(question: string, json: string): void {
    const { services } = this.#options
    this.#channel.receive(read(json, services.limits), SILENT)
    void services.store.streams.settle(this.sid, this.stream, question).catch(services.report)
  }

  abort(reason: string): void {
    this.#channel.close(reason)
  }

  begin(): void {}

  change(apply: (state: SessionState) => void): Promise<void> {
    return this.#options.change(apply)
  }

  get slow(): SlowAnswers {
    return this.#options.services.open.slow
  }

  statusOf(errorCode: number | undefined): number {
    return statusOf(errorCode)
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
    const { message, services } = this.#options
    this.#isAnswered = true
    this.#body = body
    if (message.kind === 'request') void services.store.sessions.leave(this.sid, callName(message.id)).catch(services.report)
    queueMicrotask(() => {
      this.#channel.close('The request was answered')
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

  onFenced(reason: string): void {
    this.abort(reason)
  }

  onWritten(): void {
    if (this.#isUnattended) this.#options.services.inFlight.unabandon(this.usage)
    this.#isUnattended = false
    this.#end()
  }

  /** The request counts until its answer is in the store, so that a server that closes waits for it. */
  #end(): void {
    this.#options.services.inFlight.leave(this.usage, this.#body)
    this.#options.onOver(this)
  }
}

/** The stream of a question, from its id; undefined for ids that no replica made. */
export function streamOfQuestion(id: Id | undefined): string | undefined {
  return typeof id === 'string' ? /^([A-Za-z0-9_-]{22})\.\d{1,9}$/.exec(id)?.[1] : undefined
}

/** How a request is registered in the store: the number 1 and the text "1" are two ids. */
export const callName = (id: Id): string => JSON.stringify(id)

/** The answer to a request whose replica died. */
export function lostAnswer({ ids, isBatch }: OpenCall): string {
  const error = {
    code: INTERNAL_ERROR,
    message: 'The replica that ran this request has ended. Send the request again',
    data: { reason: 'replica_lost', retryable: true },
  }
  const answers = ids.map((id) => errorJson(id, error))
  return isBatch ? `[${answers.join(',')}]` : (answers[0] as string)
}

/** Appends messages that belong to no request to the standing stream of a session. */
export function standingOutlet(sid: string, services: ReplicaServices): Outlet {
  return {
    push: (json) => appendStanding(sid, { json }, services).then(() => undefined, services.report),
    answer: () => {},
    drop: () => {},
  }
}

/** Returns false if there is no such session. */
export async function appendStanding(
  sid: string,
  event: { json: string; coalesce?: string },
  { store, bounds, nextBatch, tails }: ReplicaServices,
): Promise<boolean> {
  const appended = await store.streams.append(sid, STANDING_STREAM, { n: nextBatch(), events: [event] }, bounds)
  if (typeof appended === 'string') return false
  if (appended.reader === store.replica.id) tails.wake(sid, STANDING_STREAM)
  return true
}
