/** Makes room for a new session of several replicas: closes one that is idle, found without a look at all of them. */

import type { SharedStore } from '../../../store/shared-store.ts'
import type { SessionRecord } from './session-record.ts'
import { removeTopics, SESSIONS } from './session-topics.ts'

/** Sessions that are looked at to find one. The one that is idle longest among so many is among the longest idle of all. */
const SAMPLE = 16

interface Candidate {
  sid: string
  record: SessionRecord
  idleMs: number | undefined
}

export class RoomForSessions {
  readonly #store: SharedStore
  readonly #onEnded: (record: SessionRecord) => void

  constructor(store: SharedStore, onEnded: (record: SessionRecord) => void) {
    this.#store = store
    this.#onEnded = onEnded
  }

  /** Closes a session of this caller that has been idle for long. False if those that were looked at are in use. */
  async ofCaller(caller: string): Promise<boolean> {
    const { found, isOneGone } = await this.#look(caller, await this.#store.topics.sample(caller, SAMPLE))
    return isOneGone || this.#endOne(found)
  }

  /** The same for the caller with the most sessions, so that no one drives out the sessions of others. */
  async ofAll(): Promise<boolean> {
    const { topics } = this.#store
    // A caller with many sessions is nearly always among them.
    const { found, isOneGone } = await this.#look(SESSIONS, await topics.sample(SESSIONS, SAMPLE))
    if (isOneGone) return true
    const callers = [...new Set(found.map(({ record }) => record.caller))]
    const sizes = await Promise.all(callers.map((caller) => topics.size(caller)))
    const most = Math.max(...sizes)
    const largest = callers.filter((_, at) => sizes[at] === most)
    const sids = await Promise.all(largest.map((caller) => topics.sample(caller, Math.ceil(SAMPLE / largest.length))))
    return this.#endOne((await this.#look(undefined, sids.flat())).found)
  }

  /** @param topic where sessions that are gone are removed, which makes room, too */
  async #look(topic: string | undefined, sids: string[]): Promise<{ found: Candidate[]; isOneGone: boolean }> {
    const { sessions, topics } = this.#store
    const found: Candidate[] = []
    const gone: string[] = []
    const looked = await sessions.idle(sids)
    for (const [at, sid] of sids.entries()) {
      const session = looked[at]
      if (session === undefined || session === 'gone') gone.push(sid)
      else found.push({ sid, record: JSON.parse(session.record) as SessionRecord, idleMs: session.idleMs })
    }
    if (topic !== undefined) await Promise.all(gone.flatMap((sid) => [topics.remove(topic, sid), topics.remove(SESSIONS, sid)]))
    return { found, isOneGone: topic !== undefined && gone.length > 0 }
  }

  async #endOne(candidates: Candidate[]): Promise<boolean> {
    const idle = candidates.flatMap((each) => (each.idleMs === undefined ? [] : [{ ...each, idleMs: each.idleMs }]))
    for (const { sid, record, idleMs } of idle.sort((a, b) => b.idleMs - a.idleMs)) {
      // Its client may have used it meanwhile, or another replica has closed it.
      if (!(await this.#store.sessions.endIdle(sid, idleMs))) continue
      await removeTopics(this.#store.topics, sid, record)
      this.#onEnded(record)
      return true
    }
    return false
  }
}
