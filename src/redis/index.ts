/** portico/redis: sessions, streams, tasks and counters of all replicas in Redis or Valkey. */

export { type RedisOptions, type RedisStore, redis } from './redis-store.ts'
export type { RedisTaskLimits } from './task-bytes.ts'
