/** The store that replicas share. Types only. */

import type { Counters } from '../protocol/interfaces/counters.ts'
import type { KeyRing } from '../protocol/interfaces/replaceable-services.ts'
import type { StoreCommand } from '../protocol/interfaces/store-command.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import type { Replica } from './replica.ts'
import type { SessionTable } from './session-table.ts'
import type { StreamLogs } from './stream-logs.ts'
import type { Topics } from './topics.ts'

/**
 * The store of one replica. All replicas that use the same store see the same sessions. Every argument and result is JSON, and each
 * method is atomic. A method that cannot reach the store rejects with ERR_STORE_DOWN within seconds. A value that
 * this replica cannot open with its keys rejects with ERR_STORE_KEY. `checkStore` of portico/testing tests an implementation.
 */
export interface SharedStore {
  readonly sessions: SessionTable
  readonly streams: StreamLogs
  readonly replica: Replica
  readonly topics: Topics
  readonly counters: Counters
  /** Where tasks are kept. Without it each process keeps its own. */
  readonly tasks?: TaskStore | undefined
  /** Calls `listener` after each command to another process, for metrics. Returns a function that ends it. */
  onCommand?(listener: (command: StoreCommand) => void): () => void
  /**
   * Seals values with these keys from now on, unless the store has keys. It then refuses values that are not sealed. A handler calls it with
   * the keys of its server.
   */
  useKeys?(keys: KeyRing): void
  /** Loads what the store needs. Rejects if it can never work, for example because a package is missing. */
  prepare?(): Promise<void>
  /** Why the store does not work; undefined while it does. */
  health(): string | undefined
  /** Memory of the events that it keeps in this process, for metrics. Absent if another process keeps them. */
  keptBytes?(): number
  /** Leaves, and closes all connections. */
  close(): Promise<void>
}
