/** The sessions in memory. */

import type { EnteredSession, SessionTable } from '../session-table.ts'
import type { ExpiringMap } from './expiring-map.ts'
import type { MemoryReplica, MemoryReplicas } from './replicas.ts'
import { SessionState } from './session-state.ts'

export function memorySessions(
  sessions: ExpiringMap<SessionState>,
  replicas: MemoryReplicas,
  own: MemoryReplica,
  now: () => number,
): SessionTable {
  const touch = (sid: string, session: SessionState): EnteredSession => {
    const at = now()
    sessions.renew(sid, session.use(at))
    const isTopicRenewalDue = at - session.topicsRenewedAt > session.life.ttlMs / 10
    if (isTopicRenewalDue) session.topicsRenewedAt = at
    return { record: session.record, revision: session.revision, isTopicRenewalDue, isCancelled: false }
  }
  const isUsed = (session: SessionState): boolean =>
    [...session.calls.values()].some(({ replica }) => replicas.isAlive(replica)) ||
    [...session.streams.values()].some(
      // A request of a replica that died is taken over.
      ({ isOver, owner, reader }) => !isOver && (owner !== undefined || (reader !== undefined && replicas.isAlive(reader.replica))),
    )
  const idleMsOf = (session: SessionState): number | undefined => (isUsed(session) ? undefined : now() - session.usedAt)
  /** Removes requests of replicas that are gone. Cancelled ones are kept: they must not run again. Returns how many of them are left. */
  const forgetDead = (calls: SessionState['calls'], maxKept: number): number => {
    let kept = 0
    for (const [id, { replica, isCancelled }] of calls) {
      if (replicas.isAlive(replica)) continue
      if (isCancelled && kept < maxKept) kept++
      else calls.delete(id)
    }
    return kept
  }
  return {
    create: async (sid, record, life) => {
      const session = new SessionState(record, life, now())
      sessions.set(sid, session, session.use(now()))
    },
    enter: async (sid, call, maxCalls, isTakenOver = false) => {
      if (call !== undefined) await own.join()
      const session = sessions.get(sid)
      if (!session) return 'gone'
      if (call === undefined) return touch(sid, session)
      const { calls } = session
      const before = calls.get(call)
      // A takeover whose reply was lost is tried again.
      const isSame = isTakenOver && before?.isTakenOver === true && before.replica === own.id
      if (before && !isSame && replicas.isAlive(before.replica)) return 'duplicate'
      if (!before && calls.size >= maxCalls) {
        const kept = forgetDead(calls, maxCalls)
        if (calls.size - kept >= maxCalls) return 'full'
      }
      const isCancelled = isTakenOver && before?.isCancelled === true
      calls.set(call, { replica: own.id, isTakenOver, isCancelled })
      return { ...touch(sid, session), isCancelled }
    },
    leave: async (sid, call) => {
      const calls = sessions.get(sid)?.calls
      if (calls?.get(call)?.replica === own.id) calls.delete(call)
    },
    replace: async (sid, record, revision) => {
      const session = sessions.get(sid)
      if (session?.revision !== revision) return false
      session.record = record
      session.revision++
      return true
    },
    end: async (sid) => sessions.delete(sid),
    idle: async (sids) =>
      sids.map((sid) => {
        const session = sessions.get(sid)
        return session ? { record: session.record, idleMs: idleMsOf(session) } : 'gone'
      }),
    endIdle: async (sid, idleMs) => {
      const session = sessions.get(sid)
      return session !== undefined && (idleMsOf(session) ?? -1) >= idleMs && sessions.delete(sid)
    },
    cancel: async (sid, call) => {
      const inProgress = sessions.get(sid)?.calls.get(call)
      if (inProgress) inProgress.isCancelled = true
      return inProgress?.replica
    },
    cancelled: async (sid, calls) => calls.filter((call) => sessions.get(sid)?.calls.get(call)?.isCancelled),
  }
}
