/** The requests of shared sessions that this replica runs, also those that another replica has begun. */

import type { Incoming } from '../../../jsonrpc/message.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import type { SubscriptionBounds } from '../../../protocol/subscription-bounds.ts'
import type { TakenOver } from '../../../store/stream-logs.ts'
import { isUnreadable } from '../../../store/unreadable.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { HttpPost } from '../stateless.ts'
import { askEach } from './ask-each.ts'
import { callName, MAX_RUNS, type OpenCall, type RestartableCall, RUNS } from './open-call.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { ReadSession, SessionRecord } from './session-record.ts'
import { SharedCall, type SharedCallOptions } from './shared-call.ts'

/** A larger request is not run again, because the store would have to keep it. */
const MAX_RESTARTABLE_CHARS = 256 * 1024

export interface RunningCallsOptions {
  services: ReplicaServices
  usageOf(principal: string | undefined, address: string | undefined): CallerUsage
  /** Counts the memory of a message. */
  bodyOf(usage: CallerUsage): BodyMemory
  /** Counts a request of another replica, which runs here from now on, at all replicas. */
  hold(usage: CallerUsage): void
  /** Changes the state of a session in the store. */
  change(session: ReadSession, apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void>
}

export class RunningCalls {
  readonly #options: RunningCallsOptions
  readonly #calls = new Set<SharedCall>()
  /** The calls that were here when this replica looked for cancellations. */
  readonly #seen = new WeakSet<SharedCall>()
  /** Set when this endpoint ends. It runs nothing from then on. */
  #end: { isTakenOver: boolean } | undefined

  constructor(options: RunningCallsOptions) {
    this.#options = options
  }

  get isEnded(): boolean {
    return this.#end !== undefined
  }

  sids(): Set<string> {
    return new Set([...this.#calls].map(({ sid }) => sid))
  }

  /** @param names how the store names the requests */
  start(session: ReadSession, message: Incoming, names: readonly string[], post: HttpPost): void {
    const { reply, accepts, access, body, usage } = post
    const call = this.#add({ session, message, names, usage, restart: accepts.events ? this.#restartable(message, post) : undefined })
    call.start(reply, accepts, access, body)
  }

  /**
   * Runs a request again whose replica has ended, or returns why not. `fenced`: another replica has taken it over since. `left`: this
   * replica ends, and leaves it to others.
   */
  async restart(
    sid: string,
    stream: string,
    taken: TakenOver,
    { restart }: OpenCall,
  ): Promise<'runAgain' | 'fenced' | 'left' | 'lost' | 'cancelled' | 'had all runs'> {
    const { services, usageOf, bodyOf, hold } = this.#options
    const { store, service, inFlight, limits } = services
    if (!restart || !service.isRestartable?.(restart.message)) return 'lost'
    const run = Number(taken.journal[RUNS] ?? 1) + 1
    if (run > MAX_RUNS) return 'had all runs'
    // Before the handler begins, because it may end this process.
    if (!(await store.streams.record(sid, stream, taken.epoch, RUNS, String(run)))) return 'fenced'
    const { message, access, address } = restart
    const name = callName(message.id)
    const entered = await store.sessions.enter(sid, name, limits.maxInFlightPerSession, true)
    // The client may have sent the request again.
    if (typeof entered === 'string') return 'lost'
    if (entered.isCancelled) return 'cancelled'
    if (this.#end?.isTakenOver) {
      await store.streams.record(sid, stream, taken.epoch, RUNS, String(run - 1))
      return 'left'
    }
    const session = { sid, record: JSON.parse(entered.record) as SessionRecord, revision: entered.revision }
    const usage = usageOf(session.record.principal, address)
    const body = bodyOf(usage)
    if (this.#end || !body.grow(taken.call.length) || inFlight.enter(usage, body)) {
      body.release()
      await store.sessions.leave(sid, name)
      return 'lost'
    }
    hold(usage)
    const before = { stream, taken, run }
    this.#add({ session, message, names: [name], usage, restart, before }).startAgain(before, access, body)
    return 'runAgain'
  }

  /** Gives a notification of the client to its requests at this replica. */
  notice(sid: string, message: Incoming): void {
    for (const call of this.#calls) if (call.sid === sid) call.notice(message)
  }

  /** Whether a request of the session runs here. */
  runs(sid: string, name: string): boolean {
    for (const call of this.#calls) if (call.sid === sid && call.names.includes(name)) return true
    return false
  }

  takeAnswer(sid: string, stream: string, question: string, json: string): void {
    this.#find(sid, stream)?.takeAnswer(question, json)
  }

  /** The client reads the stream of its call, at any replica, or has left it. */
  attend(sid: string, stream: string, reader: number, isThere: boolean): void {
    this.#find(sid, stream)?.attend(reader, isThere)
  }

  /** The client reads the stream elsewhere. */
  disconnect(sid: string, stream: string): void {
    this.#find(sid, stream)?.logged?.disconnect()
  }

  endSession(sid: string, reason: string): void {
    for (const call of [...this.#calls]) if (call.sid === sid) call.abort(reason)
  }

  /** Others may continue what this replica ran, so it must not write any more. */
  fenceAll(reason: string): void {
    for (const call of [...this.#calls]) call.fence(reason)
  }

  /**
   * Ends everything here.
   *
   * @param isTakenOver true: other replicas take over what may run again
   */
  async handOverAll(reason: string, isTakenOver: boolean): Promise<void> {
    this.#end = { isTakenOver }
    await Promise.all([...this.#calls].map((call) => call.handOver(reason, isTakenOver)))
  }

  /**
   * What messages may have failed to say: answers to questions, cancellations, that the client is ready, and that another replica has taken
   * over. Returns whether the store could be asked about everything.
   */
  async lookAgain(): Promise<boolean> {
    const heard = [await this.#findAnswers(), await this.#findCancelled(), await this.#findReady()]
    return heard.every(Boolean)
  }

  /** A call that began since the last look waits for the next one: most calls are over by then, and cost nothing. */
  async #findCancelled(): Promise<boolean> {
    const { store, report } = this.#options.services
    const bySession = new Map<string, Map<string, SharedCall>>()
    for (const call of this.#calls) {
      if (!this.#seen.has(call)) {
        this.#seen.add(call)
        continue
      }
      const named = bySession.get(call.sid) ?? new Map<string, SharedCall>()
      bySession.set(call.sid, named)
      for (const name of call.names) named.set(name, call)
    }
    const ask = async ([sid, calls]: [string, Map<string, SharedCall>]): Promise<void> => {
      for (const name of await store.sessions.cancelled(sid, [...calls.keys()])) calls.get(name)?.cancel(name)
    }
    return askEach(bySession, ask, report)
  }

  /** Calls may wait until their client is ready. */
  #findReady(): Promise<boolean> {
    const { store, report } = this.#options.services
    const waiting = new Set([...this.#calls].filter(({ isReady }) => !isReady).map(({ sid }) => sid))
    const ask = async (sid: string): Promise<void> => {
      const entered = await store.sessions.enter(sid, undefined, 0)
      const isReady = typeof entered !== 'string' && (JSON.parse(entered.record) as SessionRecord).state.isReady
      if (isReady) this.notice(sid, { kind: 'notification', method: 'notifications/initialized', params: undefined })
    }
    return askEach(waiting, ask, report)
  }

  #findAnswers(): Promise<boolean> {
    return askEach(this.#calls, (call) => this.#findAnswersTo(call), this.#options.services.report)
  }

  async #findAnswersTo(call: SharedCall): Promise<void> {
    const epoch = call.logged?.epoch
    if (epoch === undefined) return
    try {
      const answers = await this.#options.services.store.streams.answers(call.sid, call.stream, epoch)
      if (typeof answers === 'string') call.logged?.onRefused(answers)
      else for (const [question, json] of Object.entries(answers)) call.takeAnswer(question, json)
    } catch (error) {
      // The client has answered, and will not answer again. After any other error the next look tries again.
      if (isUnreadable(error)) call.fail('The replica that asked cannot read your answer. Send the request again')
      throw error
    }
  }

  #find(sid: string, stream: string): SharedCall | undefined {
    for (const call of this.#calls) if (call.sid === sid && call.stream === stream) return call
    return undefined
  }

  #restartable(message: Incoming, { access, request, body }: HttpPost): RestartableCall | undefined {
    if (message.kind !== 'request' || !this.#options.services.service.isRestartable?.(message)) return undefined
    // Its memory is estimated as more than its JSON, which therefore need not be made for a small one.
    if (body.bytes > MAX_RESTARTABLE_CHARS && JSON.stringify(message).length > MAX_RESTARTABLE_CHARS) return undefined
    return { message, access, address: request.remoteAddress, bytes: body.arrival?.bytes }
  }

  #add(of: Omit<SharedCallOptions, 'services' | 'change' | 'onOver'>): SharedCall {
    const call = new SharedCall({
      ...of,
      services: this.#options.services,
      change: (apply, bounds) => this.#options.change(of.session, apply, bounds),
      onOver: (over) => this.#calls.delete(over),
    })
    this.#calls.add(call)
    return call
  }
}
