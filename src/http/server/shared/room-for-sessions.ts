/** Makes room for a new session of several replicas: closes one that is idle, found without a look at all of them. */

import type { SharedStore } from '../../../store/shared-store.ts'
import type { SessionRecord } from './session-record.ts'
import { removeTopics, SESSIONS } from './session-topics.ts'

/** Sessions that are looked at to find one. The one that is idle longest among so many is among the longest idle of all. */
const SAMPLE = 16

interface Candidate {
  sid: string
  /** Undefined if it cannot be read. Its secret was removed, or it is damaged. */
  record: SessionRecord | undefined
  idleMs: number | undefined
}

interface Looked {
  found: (Candidate & { record: SessionRecord })[]
  /** Sessions of removed secrets and damaged ones: no request can enter them. */
  lost: Candidate[]
  isOneGone: boolean
}

export class RoomForSessions {
  readonly #store: SharedStore
  readonly #onEnded: (record: SessionRecord) => void
  readonly #hasRightKeys: () => Promise<boolean>

  /** @param hasRightKeys a replica with wrong keys must not end the sessions of the others */
  constructor(store: SharedStore, onEnded: (record: SessionRecord) => void, hasRightKeys: () => Promise<boolean>) {
    this.#store = store
    this.#onEnded = onEnded
    this.#hasRightKeys = hasRightKeys
  }

  /** Closes a session of this caller that has been idle for long. False if those that were looked at are in use. */
  async ofCaller(caller: string): Promise<boolean> {
    const { found, lost, isOneGone } = await this.#look(caller, await this.#store.topics.sample(caller, SAMPLE))
    return isOneGone || (await this.#endOne(lost, caller)) || this.#endOne(found)
  }

  /** The same for the caller with the most sessions, so that no one drives out the sessions of others. */
  async ofAll(): Promise<boolean> {
    const { topics } = this.#store
    // A caller with many sessions is nearly always among them.
    const { found, lost, isOneGone } = await this.#look(SESSIONS, await topics.sample(SESSIONS, SAMPLE))
    if (isOneGone || (await this.#endOne(lost))) return true
    const callers = [...new Set(found.map(({ record }) => record.caller))]
    const sizes = await Promise.all(callers.map((caller) => topics.size(caller)))
    const most = Math.max(...sizes)
    const largest = callers.filter((_, at) => sizes[at] === most)
    const sids = await Promise.all(largest.map((caller) => topics.sample(caller, Math.ceil(SAMPLE / largest.length))))
    return this.#endOne((await this.#look(undefined, sids.flat())).found)
  }

  /** @param topic where sessions that are gone are removed, which makes room, too */
  async #look(topic: string | undefined, sids: string[]): Promise<Looked> {
    const { sessions, topics } = this.#store
    const found: Looked['found'] = []
    const lost: Candidate[] = []
    const gone: string[] = []
    const looked = await sessions.idle(sids)
    for (const [at, sid] of sids.entries()) {
      const session = looked[at]
      if (session === undefined || session === 'gone') {
        gone.push(sid)
        continue
      }
      const record = recordIn(session.record)
      if (record) found.push({ sid, record, idleMs: session.idleMs })
      else lost.push({ sid, record, idleMs: session.idleMs })
    }
    if (topic !== undefined) await Promise.all(gone.flatMap((sid) => [topics.remove(topic, sid), topics.remove(SESSIONS, sid)]))
    const isOneGone = topic !== undefined && gone.length > 0
    return { found, lost: lost.length > 0 && (await this.#hasRightKeys()) ? lost : [], isOneGone }
  }

  /** @param topic where a session without a record is removed, too */
  async #endOne(candidates: Candidate[], topic: string = SESSIONS): Promise<boolean> {
    const idle = candidates.flatMap((each) => (each.idleMs === undefined ? [] : [{ ...each, idleMs: each.idleMs }]))
    for (const { sid, record, idleMs } of idle.sort((a, b) => b.idleMs - a.idleMs)) {
      // Its client may have used it meanwhile, or another replica has closed it.
      if (!(await this.#store.sessions.endIdle(sid, idleMs))) continue
      const { topics } = this.#store
      if (record) {
        await removeTopics(topics, sid, record)
        this.#onEnded(record)
      } else await Promise.all([topics.remove(topic, sid), topics.remove(SESSIONS, sid)])
      return true
    }
    return false
  }
}

/** Without keys a record can be any text. */
function recordIn(json: string | undefined): SessionRecord | undefined {
  try {
    const record = JSON.parse(json ?? '') as SessionRecord | null
    return record?.state ? record : undefined
  } catch {
    return undefined
  }
}
