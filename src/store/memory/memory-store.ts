/** `memoryStore`: the store of one process. */

import { checkMembers } from '../../protocol/check-members.ts'
import type { SharedStore } from '../shared-store.ts'
import { memoryCounters } from './counters.ts'
import { ExpiringMap } from './expiring-map.ts'
import { KeptEvents } from './kept-events.ts'
import { MemoryReplica, MemoryReplicas } from './replicas.ts'
import type { SessionState } from './session-state.ts'
import { memorySessions } from './sessions.ts'
import { sharedMemoryTasks } from './shared-tasks.ts'
import { memoryStreams } from './streams.ts'
import { memoryTopics } from './topics.ts'

/** Options for `memoryStore`. */
export interface MemoryStoreOptions {
  /** Default: 10,000. */
  maxSessions?: number
  /** The number of topics of one kind, of members of one topic, and of counters of each kind. Default: 100,000. */
  maxKeys?: number
  /** Size of the events that all sessions keep. The session with the most loses its oldest events first. Default: 64 MiB. */
  maxKeptBytes?: number
}

/** A store in memory. It has replicas for the parts of one process, such as its workers. */
export interface MemoryStore extends SharedStore {
  /** One more replica of this store. */
  another(): SharedStore
}

/** Whether other processes cannot use a store without help. */
export const isOfOneProcess = (store: SharedStore | undefined): store is MemoryStore => store !== undefined && 'another' in store

/** Replicas of one process do not disappear without notice. */
const LEASE_MS = 10_000

/**
 * Keeps sessions, streams and counters in the memory of this process. They are lost when it ends.
 *
 * @example
 * const store = memoryStore({ maxSessions: 1000 })
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkMembers('memoryStore', options, { maxSessions: 1, maxKeys: 1, maxKeptBytes: 1 })
  const { maxSessions = 10_000, maxKeys = 100_000, maxKeptBytes = 64 * 1024 * 1024 } = options
  const start = Date.now() - performance.now()
  // Never goes back, as the system time does.
  const now = (): number => Math.floor(start + performance.now())
  const sessions = new ExpiringMap<SessionState>(now, maxSessions, 'sessions')
  const kept = new KeptEvents(sessions, maxKeptBytes, now)
  const replicas = new MemoryReplicas()
  const topics = memoryTopics(now, maxKeys, maxKeys)
  const counters = memoryCounters(now, maxKeys)
  const tasks = sharedMemoryTasks(LEASE_MS)
  const another = (): SharedStore => {
    const replica = new MemoryReplica(replicas, LEASE_MS)
    return {
      sessions: memorySessions(sessions, replicas, replica, now),
      streams: memoryStreams(sessions, replicas, replica, kept, now),
      replica,
      topics,
      counters,
      tasks,
      health: () => undefined,
      keptBytes: () => kept.bytes(),
      close: () => replica.leave(),
    }
  }
  return { ...another(), another }
}
