/** portico/store: the store that replicas share, as an interface, and its implementation in memory. */

export type { Rate } from '../base/rate.ts'
export type { Counters, Taken } from '../protocol/interfaces/counters.ts'
export type { StoreCommand } from '../protocol/interfaces/store-command.ts'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory/memory-store.ts'
export type { StorePort } from './remote/port.ts'
export { remoteStore } from './remote/remote-store.ts'
export { serveStore } from './remote/serve-store.ts'
export type { DeadReplica, Replica, StoreMessage } from './replica.ts'
export type { Entered, EnteredSession, LookedAtSession, SessionLife, SessionTable } from './session-table.ts'
export type { SharedStore } from './shared-store.ts'
export {
  type AnswerOutcome,
  type Appended,
  type AppendedBatch,
  type Attached,
  type Batch,
  type EventsRead,
  type LogBounds,
  type NewEvent,
  type ReadFault,
  STANDING_STREAM,
  type StreamEvent,
  type StreamLogs,
  type TakenOver,
} from './stream-logs.ts'
export type { TopicPage, Topics } from './topics.ts'
