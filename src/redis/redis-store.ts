/** `redis`: the store of replicas in Redis or Valkey. */

import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Bus, KeyRing } from '../protocol/interfaces/replaceable-services.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import type { SharedStore } from '../store/shared-store.ts'
import { storeBus } from '../store/store-bus.ts'
import { requireLibrary } from './client-library.ts'
import { Connection } from './connection.ts'
import type { RedisContext } from './context.ts'
import { redisCounters } from './counters.ts'
import { keysWith } from './keys.ts'
import { RedisReplica } from './replica.ts'
import { sealedValues } from './sealed-values.ts'
import { redisSessions } from './sessions.ts'
import { redisStreams } from './streams.ts'
import { readTarget } from './target.ts'
import type { RedisTaskLimits } from './task-bytes.ts'
import { redisTasks } from './tasks.ts'
import { redisTopics } from './topics.ts'
import { unreadableReports } from './unreadable.ts'

/** Options for `redis`. */
export interface RedisOptions {
  /**
   * Encrypts everything that clients and handlers say. Some names stay readable: docs/redis.md lists them. All replicas need the same keys.
   * Default: the keys of the first server that uses the store; without them Redis holds plain text.
   */
  keys?: KeyRing
  /** The start of every key. Servers that share a Redis need different ones. Default: `portico:`. */
  prefix?: string
  /** How long a replica may be silent before others take over what it runs. Default: 10,000. */
  leaseMs?: number
  /** How long a command may take, and how long commands wait while the connection is interrupted. Default: 2,000. */
  timeoutMs?: number
  /** How many bytes of tasks are kept. */
  tasks?: RedisTaskLimits
  /** More options of ioredis, for example `{ tls: { ca } }` or `{ sentinelPassword }`. */
  connection?: Readonly<Record<string, unknown>>
}

/** A store in Redis. It also keeps tasks, and carries change notices. */
export interface RedisStore extends SharedStore {
  readonly tasks: TaskStore
  /** For `createServer({ bus })`. */
  readonly bus: Bus
}

const MIN_LEASE_MS = 200

const isKeyRing = (keys: Partial<KeyRing> | null): boolean => typeof keys?.current === 'function' && typeof keys.find === 'function'

/**
 * Shares sessions, streams, tasks and counters between replicas through Redis or Valkey. Needs the package ioredis. It connects when it is
 * first used, and connects again after an interruption.
 *
 * @example
 * const store = redis('redis://127.0.0.1:6379')
 * console.log(store.health() ?? 'Redis works')
 * await store.close()
 *
 * @param url `redis://user:password@host:6379/0`, `rediss://` for TLS, `redis-cluster://host:7000,host:7001`, or
 *   `redis-sentinel://host:26379,host:26379/name`
 */
export function redis(url: string, options: RedisOptions = {}): RedisStore {
  checkMembers('redis', options, { keys: 1, prefix: 1, leaseMs: 1, timeoutMs: 1, tasks: 1, connection: 1 })
  checkMembers('tasks of redis', options.tasks, { maxBytes: 1, maxBytesPerCaller: 1 })
  const { keys, prefix = 'portico:', leaseMs = 10_000, timeoutMs = 2000, tasks = {}, connection: more = {} } = options
  if (!(leaseMs >= MIN_LEASE_MS)) throw new McpError('ERR_CONFIG', `leaseMs must be at least ${MIN_LEASE_MS}; got ${leaseMs}`)
  if (!(timeoutMs >= 1)) throw new McpError('ERR_CONFIG', `timeoutMs must be at least 1; got ${timeoutMs}`)
  if (keys !== undefined && !isKeyRing(keys))
    throw new McpError('ERR_CONFIG', 'keys must be what keyRing(secret) of portico/server returns')
  if (prefix === '') throw new McpError('ERR_CONFIG', 'prefix is empty: leave it out for the default, portico:')
  if (/[{}]/.test(prefix)) throw new McpError('ERR_CONFIG', `prefix must not contain braces, which a cluster reads; got "${prefix}"`)
  const target = readTarget(url)
  if (target.kind === 'cluster' && more.db) throw new McpError('ERR_CONFIG', 'A cluster has no databases: remove connection.db')
  const connection = new Connection(target, { timeoutMs, connection: more }, prefix)
  const reportUnreadable = unreadableReports()
  const values = sealedValues(keys)
  const context: RedisContext = { connection, keys: keysWith(prefix), values, reportUnreadable, longestLifeMs: 0 }
  const replica = new RedisReplica(context, leaseMs)
  return {
    sessions: redisSessions(context, replica),
    streams: redisStreams(context, replica),
    replica,
    topics: redisTopics(context),
    counters: redisCounters(context),
    tasks: redisTasks(context, leaseMs, tasks),
    bus: { ...storeBus(replica), useKeys: values.useKeys },
    onCommand: (listener) => connection.commands.add(listener),
    useKeys: values.useKeys,
    prepare: requireLibrary,
    health: () => connection.health(),
    close: async () => {
      await replica.close()
      await connection.close()
    },
  }
}
