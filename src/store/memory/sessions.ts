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
    sessions.renew(sid, session.ttlAt(at))
    const isTopicRenewalDue = at - session.topicsRenewedAt > session.life.ttlMs / 10
    if (isTopicRenewalDue) session.topicsRenewedAt = at
    return { record: session.record, revision: session.revision, isTopicRenewalDue }
  }
  const isUsed = (session: SessionState): boolean =>
    [...session.calls.values()].some((replica) => replicas.isAlive(replica)) ||
    [...session.streams.values()].some(
      // A request of a replica that died is taken over.
      ({ isOver, owner, reader }) => !isOver && (owner !== undefined || (reader !== undefined && replicas.isAlive(reader.replica))),
    )
  const idleMsOf = (sid: string, session: SessionState): number | undefined =>
    isUsed(session) ? undefined : Math.max(0, session.life.ttlMs - sessions.leftOf(sid))
  return {
    create: async (sid, record, life) => {
      const session = new SessionState(record, life, now())
      sessions.set(sid, session, session.ttlAt(now()))
    },
    enter: async (sid, call, maxCalls) => {
      if (call !== undefined) await own.join()
      const session = sessions.get(sid)
      if (!session) return 'gone'
      if (call !== undefined) {
        const { calls } = session
        if (calls.has(call) || calls.size >= maxCalls) {
          for (const [id, replica] of calls) if (!replicas.isAlive(replica)) calls.delete(id)
        }
        if (calls.has(call)) return 'duplicate'
        if (calls.size >= maxCalls) return 'full'
        calls.set(call, own.id)
      }
      return touch(sid, session)
    },
    leave: async (sid, call) => {
      sessions.get(sid)?.calls.delete(call)
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
        return session ? { record: session.record, idleMs: idleMsOf(sid, session) } : 'gone'
      }),
    endIdle: async (sid, idleMs) => {
      const session = sessions.get(sid)
      return session !== undefined && (idleMsOf(sid, session) ?? -1) >= idleMs && sessions.delete(sid)
    },
    runnerOf: async (sid, call) => sessions.get(sid)?.calls.get(call),
  }
}
