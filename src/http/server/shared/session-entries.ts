/** The records of shared sessions: opened, read, changed and ended, together with their topics. */

import type { Clock } from '../../../base/clock.ts'
import { INVALID_REQUEST } from '../../../jsonrpc/message.ts'
import type { SessionState } from '../../../protocol/interfaces/service.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import { busy, type Refusal, refuse } from '../refusal.ts'
import { NOT_FOUND } from '../session/check-request.ts'
import { SessionIds } from './session-ids.ts'
import { changeRecord, type ReadSession, type SessionRecord } from './session-record.ts'
import { moveTopics, SESSIONS, topicsOf } from './session-topics.ts'

export interface SessionEntriesOptions {
  store: SharedStore
  limits: AllHttpLimits
  clock: Clock
  /** Reports an error that no client can be told. */
  report(error: unknown): void
}

export class SessionEntries {
  readonly ids: SessionIds
  readonly #options: SessionEntriesOptions
  readonly #store: SharedStore
  readonly #topicLifeMs: number
  /** When the sessions of clients that only listen were kept from expiring. */
  #keptAt = 0

  constructor(options: SessionEntriesOptions) {
    const { store, limits } = options
    this.#options = options
    this.#store = store
    // A tenth more than the session lives, because it is renewed ten times in that time. Until then an expired session is counted.
    this.#topicLifeMs = limits.sessionIdleMs * 1.1
    this.ids = new SessionIds(store.counters, limits.sessionIdleMs * 2)
  }

  /** Reads the session and, with `call`, registers the request. Sessions of others look as if they did not exist. */
  async enter(sid: string, principal: string | undefined, call?: string): Promise<ReadSession | Refusal> {
    if (!(await this.ids.isGenuine(sid, principal, this.#options.clock.now()))) return NOT_FOUND
    const max = this.#options.limits.maxInFlightPerSession
    const entered = await this.#store.sessions.enter(sid, call, max)
    switch (entered) {
      case 'gone':
        return NOT_FOUND
      case 'duplicate':
        return refuse(400, `A request with id ${call?.slice(0, 100)} is already in progress`, { code: INVALID_REQUEST })
      case 'full':
        return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session')
    }
    const record = JSON.parse(entered.record) as SessionRecord
    if (record.principal !== principal) {
      if (call !== undefined) await this.#store.sessions.leave(sid, call)
      return NOT_FOUND
    }
    if (entered.isTopicRenewalDue) this.#renewTopics(sid, record)
    return { sid, record, revision: entered.revision }
  }

  #renewTopics(sid: string, record: SessionRecord): void {
    const adding = topicsOf(sid, record).map(([topic, member]) => this.#store.topics.add(topic, member, this.#topicLifeMs))
    Promise.all(adding).catch((error: unknown) => this.#options.report(error))
  }

  /** Changes the record, and the topics that follow from it. */
  async change(session: ReadSession, apply: (state: SessionState) => void): Promise<void> {
    const before = structuredClone(session.record)
    const after = await changeRecord(this.#store, session, apply)
    await moveTopics(this.#store.topics, session.sid, before, after, this.#topicLifeMs)
  }

  /** Counted for all replicas together, so two clients that come at once may both find room. */
  async checkRoom(usage: CallerUsage, caller: string): Promise<Refusal | undefined> {
    const { maxSessions, maxSessionsPerPrincipal, maxSessionsPerAddress } = this.#options.limits
    const { topics } = this.#store
    const [all, own] = await Promise.all([topics.size(SESSIONS), topics.size(caller)])
    if (all >= maxSessions) return busy(503, 'maxSessions', maxSessions, 'sessions')
    if (usage.kind === 'principal' && own >= maxSessionsPerPrincipal)
      return busy(429, 'maxSessionsPerPrincipal', maxSessionsPerPrincipal, 'sessions of one caller')
    if (usage.kind === 'address' && maxSessionsPerAddress !== false && own >= maxSessionsPerAddress)
      return busy(429, 'maxSessionsPerAddress', maxSessionsPerAddress, 'sessions of one address')
    return undefined
  }

  async begin(sid: string, record: SessionRecord): Promise<void> {
    const { sessionIdleMs, sessionMaxAgeMs } = this.#options.limits
    await this.#store.sessions.create(sid, JSON.stringify(record), { ttlMs: sessionIdleMs, maxAgeMs: sessionMaxAgeMs })
    try {
      await moveTopics(this.#store.topics, sid, undefined, record, this.#topicLifeMs)
    } catch (error) {
      // The client does not learn of the session, so it must not count.
      await this.forget(sid, record).catch(() => {})
      throw error
    }
  }

  async forget(sid: string, record: SessionRecord): Promise<undefined> {
    await this.#store.sessions.end(sid)
    await moveTopics(this.#store.topics, sid, record, undefined, this.#topicLifeMs)
  }

  /** Keeps the sessions of clients that only listen from expiring. */
  async keep(sids: Iterable<string>): Promise<void> {
    const now = this.#options.clock.now()
    if (now - this.#keptAt < this.#options.limits.sessionIdleMs / 4) return
    this.#keptAt = now
    for (const sid of sids) {
      const entered = await this.#store.sessions.enter(sid, undefined, 0)
      if (typeof entered !== 'string' && entered.isTopicRenewalDue) this.#renewTopics(sid, JSON.parse(entered.record) as SessionRecord)
    }
  }
}
