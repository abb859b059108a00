/** The records of shared sessions: opened, read, changed and ended, together with their topics. */

import type { Clock } from '../../../base/clock.ts'
import { Turns } from '../../../base/turns.ts'
import { INVALID_REQUEST } from '../../../jsonrpc/message.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import { checkSubscriptions, type SubscriptionBounds } from '../../../protocol/subscription-bounds.ts'
import { isDown } from '../../../store/faults.ts'
import type { Entered } from '../../../store/session-table.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import { isUnreadable } from '../../../store/unreadable.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { refuseMore, SESSION_LIMITS } from '../limits/caller-limits.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import { busy, type Refusal, refuse } from '../refusal.ts'
import { NOT_FOUND } from '../session/check-request.ts'
import { askEach } from './ask-each.ts'
import { RoomForSessions } from './room-for-sessions.ts'
import { SessionIds } from './session-ids.ts'
import { changeRecord, type ReadSession, readAgain, type SessionRecord } from './session-record.ts'
import { addTopics, blocksOf, removeTopics, SESSIONS, SUBSCRIPTIONS, subscriptionsOf, topicsOf, weightOfBlocks } from './session-topics.ts'

export interface SessionEntriesOptions {
  store: SharedStore
  limits: AllHttpLimits
  clock: Clock
  /** Reports an error that no client can be told. */
  report(error: unknown): void
  /** A session was closed to make room. */
  onEnded(record: SessionRecord): void
  /** A session with a request or a stream here has ended. */
  onGone(sid: string): void
}

/** A session that has no record yet. */
export interface NewSession {
  /** What its client is told. */
  id: string
  /** What the store calls it. */
  sid: string
  /** The topic that counts the sessions of its caller. */
  caller: string
}

export class SessionEntries {
  readonly ids: SessionIds
  readonly #options: SessionEntriesOptions
  readonly #store: SharedStore
  readonly #topicLifeMs: number
  readonly #room: RoomForSessions
  /** The changes of each session. A POST waits for each of them, so there are not many. */
  readonly #turns = new Turns()
  /** When the sessions of clients that only listen or wait were kept from expiring. */
  #keptAt = 0
  #isKeeping = false
  #isKept = true

  constructor(options: SessionEntriesOptions) {
    const { store, limits } = options
    this.#options = options
    this.#store = store
    this.#room = new RoomForSessions(store, options.onEnded, async () => (await this.ids.faultInStore()) === undefined)
    // Topics live 10 % longer than the session, because they are renewed only every tenth of its life. Until they expire, a session that
    // has expired still counts.
    this.#topicLifeMs = limits.sessionIdleMs * 1.1
    this.ids = new SessionIds(store.counters, limits.sessionIdleMs * 2)
  }

  /** Reads the session and registers requests: all of them, or none. Sessions of others look as if they did not exist. */
  async enter(id: string, principal: string | undefined, calls: readonly string[] = []): Promise<ReadSession | Refusal> {
    const sid = await this.ids.nameIn(id, principal, this.#options.clock.now())
    if (sid === undefined) return NOT_FOUND
    const max = this.#options.limits.maxInFlightPerSession
    const call = calls[0]
    if (calls.length > max) return this.#refusal('full', calls)
    const entered = await this.#store.sessions.enter(sid, call, max).catch((error: unknown) => this.#unreadable(error))
    if (typeof entered === 'string') return this.#refusal(entered, calls, call)
    const record = JSON.parse(entered.record) as SessionRecord
    if (record.principal !== principal) {
      if (call !== undefined) await this.leave(sid, [call])
      return NOT_FOUND
    }
    if (entered.isTopicRenewalDue) this.#renewTopics(sid, record)
    const refusal = calls.length > 1 ? await this.#enterRest(sid, calls) : undefined
    return refusal ?? { sid, record, revision: entered.revision }
  }

  /** Registers the requests of a batch after the first one. */
  async #enterRest(sid: string, calls: readonly string[]): Promise<Refusal | undefined> {
    const { sessions } = this.#store
    const max = this.#options.limits.maxInFlightPerSession
    const ends = await Promise.allSettled(calls.slice(1).map((call) => sessions.enter(sid, call, max)))
    const isIn = (at: number): boolean => at === 0 || typeof (ends[at - 1] as { value?: unknown }).value === 'object'
    const failed = calls.findIndex((_, at) => !isIn(at))
    if (failed < 0) return undefined
    await this.leave(
      sid,
      calls.filter((_, at) => isIn(at)),
    )
    const end = ends[failed - 1] as PromiseSettledResult<Exclude<Entered, object>>
    if (end.status === 'rejected') throw end.reason
    return this.#refusal(end.value, calls, calls[failed])
  }

  #refusal(entered: Exclude<Entered, object>, calls: readonly string[], call?: string): Refusal {
    const max = this.#options.limits.maxInFlightPerSession
    switch (entered) {
      case 'gone':
        return NOT_FOUND
      case 'duplicate':
        return refuse(400, `A request with id ${call?.slice(0, 100)} is already in progress`, { code: INVALID_REQUEST })
      case 'full':
        return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session', calls.length)
    }
  }

  /** These requests are over. If the store cannot be reached, it hears so later. */
  async leave(sid: string, calls: readonly string[]): Promise<void> {
    const leaving = calls.map((call) => this.#store.sessions.leave(sid, call))
    for (const end of await Promise.allSettled(leaving)) if (end.status === 'rejected') this.#options.report(end.reason)
  }

  /**
   * A record that this replica cannot open. If it opens what the others store now, its keys are right, and the record is from before a
   * secret was removed: the client begins another session. Otherwise another replica may answer.
   */
  async #unreadable(error: unknown): Promise<'gone'> {
    if (!isUnreadable(error) || (await this.ids.faultInStore()) !== undefined) throw error
    this.#options.report(error)
    return 'gone'
  }

  #renewTopics(sid: string, record: SessionRecord): void {
    const adding = topicsOf(sid, record).map(([topic, member]) => this.#store.topics.add(topic, member, this.#topicLifeMs))
    Promise.all(adding).catch((error: unknown) => this.#options.report(error))
  }

  /** Changes the record, and the topics that follow from it. Changes of one session take turns in this process. */
  change(session: ReadSession, apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void> {
    const { sid } = session
    const isFirst = !this.#turns.has(sid)
    return this.#turns.take(sid, async () => {
      // Those before have changed it since this request read it.
      if (!isFirst) await readAgain(this.#store, session)
      await this.#change(session, apply, bounds)
    })
  }

  async #change(session: ReadSession, apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void> {
    const { topics } = this.#store
    const { sid, record: before } = session
    const wanted = structuredClone(before)
    apply(wanted.state)
    if (bounds) await this.#checkSubscriptions(before, wanted, bounds)
    let after: SessionRecord
    try {
      // First, because a client that repeats the change after an error must not find it made without them.
      await addTopics(topics, sid, before, wanted, this.#topicLifeMs)
      after = await changeRecord(this.#store, this.#options.clock, session, apply)
    } catch (error) {
      // If only the reply was lost, the change may have been made.
      if (!isDown(error)) await this.#leaveFormer(session, [wanted]).catch(this.#options.report)
      throw error
    }
    // Another replica may have left a topic that is new here before it could see the new record. Its change may be in the record, too.
    await addTopics(topics, sid, before, after, this.#topicLifeMs)
    await this.#leaveFormer(session, [before, wanted])
  }

  /** Leaves the topics of former records. Another replica may have added the session to one of them since, with a newer record. */
  async #leaveFormer(session: ReadSession, formers: SessionRecord[]): Promise<void> {
    const { topics, sessions } = this.#store
    const { sid, record, revision } = session
    let left = 0
    for (const each of formers) left += await removeTopics(topics, sid, each, record)
    if (left === 0) return
    const newest = await sessions.enter(sid, undefined, 0)
    if (typeof newest === 'string' || newest.revision === revision) return
    await addTopics(topics, sid, record, JSON.parse(newest.record) as SessionRecord, this.#topicLifeMs)
  }

  /** Counted as sessions are, and only when the session needs one more block. */
  async #checkSubscriptions(before: SessionRecord, after: SessionRecord, bounds: SubscriptionBounds): Promise<void> {
    const more = blocksOf(after) - blocksOf(before)
    if (more <= 0) return
    const { topics } = this.#store
    const [all, own] = await Promise.all([topics.size(SUBSCRIPTIONS), topics.size(subscriptionsOf(before.caller))])
    checkSubscriptions(weightOfBlocks(own + more), weightOfBlocks(all + more), bounds)
  }

  /** The ids of a new session, or why there is no room for it. */
  async create(usage: CallerUsage, principal: string | undefined): Promise<NewSession | Refusal> {
    const caller = `caller ${usage.kind} ${usage.key}`
    const crowded = await this.#checkRoom(usage, caller)
    if (crowded) return crowded
    const { id, name } = await this.ids.create(principal)
    return { id, sid: name, caller }
  }

  /**
   * Makes room for one more session, if necessary by closing an idle one. Refuses when those that it looks at are in use. Counted for all
   * replicas together, so two clients that come at once may both find room.
   */
  async #checkRoom(usage: CallerUsage, caller: string): Promise<Refusal | undefined> {
    const { limits } = this.#options
    const { maxSessions } = limits
    const { topics } = this.#store
    const [all, own] = await Promise.all([topics.size(SESSIONS), topics.size(caller)])
    const crowded = refuseMore(limits, SESSION_LIMITS, usage, own)
    const isMade = crowded !== undefined && usage.kind === 'address' && (await this.#room.ofCaller(caller))
    if (crowded && !isMade) return crowded
    if (all - (isMade ? 1 : 0) < maxSessions || (await this.#room.ofAll())) return undefined
    return busy(503, 'maxSessions', maxSessions, 'sessions')
  }

  async begin(sid: string, record: SessionRecord): Promise<void> {
    const { sessionIdleMs, sessionMaxAgeMs } = this.#options.limits
    await this.#store.sessions.create(sid, JSON.stringify(record), { ttlMs: sessionIdleMs, maxAgeMs: sessionMaxAgeMs })
    try {
      await addTopics(this.#store.topics, sid, undefined, record, this.#topicLifeMs)
    } catch (error) {
      // The client does not learn of the session, so it must not count.
      await this.forget(sid, record).catch(() => {})
      throw error
    }
  }

  /** Forgets a session that its client never used. */
  async forget(sid: string, record: SessionRecord): Promise<undefined> {
    await this.#store.sessions.end(sid)
    await this.leaveTopics(sid, record)
  }

  /** The session has ended. Its topics name it until they expire if they cannot be left now. */
  async leaveTopics(sid: string, record: SessionRecord): Promise<void> {
    await removeTopics(this.#store.topics, sid, record).catch(this.#options.report)
  }

  /** False: the store could not be reached for each session. The next call of `keep` tries again. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** Keeps sessions from expiring whose clients only listen, or wait for an answer. */
  async keep(sids: Iterable<string>): Promise<void> {
    const now = this.#options.clock.now()
    const isDue = !this.#isKept || now - this.#keptAt >= this.#options.limits.sessionIdleMs / 4
    if (this.#isKeeping || !isDue) return
    this.#isKeeping = true
    this.#keptAt = now
    this.#isKept = await askEach(sids, (sid) => this.#keep(sid), this.#options.report)
    this.#isKeeping = false
  }

  async #keep(sid: string): Promise<void> {
    const entered = await this.#store.sessions.enter(sid, undefined, 0)
    // The message that said so may have been lost.
    if (entered === 'gone') this.#options.onGone(sid)
    if (typeof entered !== 'string' && entered.isTopicRenewalDue) this.#renewTopics(sid, JSON.parse(entered.record) as SessionRecord)
  }
}
