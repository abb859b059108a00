/** The client library, ioredis. It is loaded on first use, because most servers need no Redis. */

import { McpError } from '../protocol/errors.ts'
import type { RedisTarget } from './target.ts'

/** What a script or a command returns, with bytes as they are. */
export type Reply = null | number | Buffer | Reply[]

/** The part of ioredis that the store uses. `Redis` and `Cluster` both have it. */
export interface RedisClient {
  readonly status: string
  /** The connection; not in a cluster, which has several. */
  readonly stream?: { destroy(): void }
  callBuffer(command: string, ...args: (string | number | Buffer)[]): Promise<unknown>
  on(event: 'ready' | 'close' | 'end', listener: () => void): void
  on(event: 'error', listener: (error: Error) => void): void
  emit(event: 'error', error: Error): void
  connect(): Promise<void>
  disconnect(reconnect?: boolean): void
}

interface Library {
  Redis: new (options: object) => RedisClient
  Cluster: new (nodes: readonly object[], options: object) => RedisClient
}

export interface ClientOptions {
  timeoutMs: number
  /** Passed on to ioredis. */
  connection: Readonly<Record<string, unknown>>
}

/** The longest pause between two attempts to connect. */
const MAX_RETRY_MS = 1000

/** Redis 7.0 gives a script no code when its user may not run a command, or use a key. */
const FORBIDDEN_IN_SCRIPT = /^ERR The user executing the script can't /

/** The code that a reply with an error begins with. Before Redis 7 the reply to a script quotes the one to its command. */
export const errorCode = ({ message }: Error): string =>
  FORBIDDEN_IN_SCRIPT.test(message) ? 'NOPERM' : (/^(?:ERR Error running script .*: -)?(\w*)/.exec(message)?.[1] ?? '')

/** What Redis replies if a key contains something else than the command or the script expects. Errors of Lua begin with the line. */
const DAMAGED = /\bWRONGTYPE\b|\bis not an? (?:integer|valid float|float)\b|\bwould overflow\b|(?<!@)user_script:\d+: /

/** Redis cannot run the command with what its keys contain. Trying again does not help. */
export const isOfDamage = ({ message }: Error): boolean => DAMAGED.test(message)

const retryAfter = (attempt: number): number => Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2)

/**
 * @param silenceMs how long Redis may be silent after a command before the connection counts as dead. Default: the timeout in a cluster;
 *   otherwise three times as long, because the caller replaces a connection that hangs
 */
export async function createClient(target: RedisTarget, options: ClientOptions, silenceMs?: number): Promise<RedisClient> {
  const library = await load()
  const client = newClient(library, target, options, silenceMs)
  client.on('error', (error) => {
    // ioredis would go on in database 0, which may belong to another server.
    if (isOfSelect(error)) client.disconnect(true)
  })
  return client
}

/** A reply of Redis, and not a fault of the connection. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** What Redis said, if the client library only says that it has reached no node of a cluster. */
export const causeOf = (error: Error & { lastNodeError?: Error }): Error => (isReply(error.lastNodeError) ? error.lastNodeError : error)

/** A method that the types of ioredis hide. It asks a cluster for its state. */
interface HasReadyCheck {
  readyCheck?(done: (error?: Error | null, state?: string) => void): void
}

/** The client library connects to a cluster again without a word if its user may not ask for the state of the cluster. */
function tellReadyFaults(cluster: RedisClient & HasReadyCheck): RedisClient {
  const { readyCheck } = cluster
  if (readyCheck)
    cluster.readyCheck = (done) =>
      readyCheck.call(cluster, (error, state) => {
        if (error) cluster.emit('error', error)
        done(error, state)
      })
  return cluster
}

const isOfSelect = (error: Error & { command?: { name: string } }): boolean => error.command?.name.toLowerCase() === 'select'

function newClient(
  { Redis, Cluster }: Library,
  target: RedisTarget,
  { timeoutMs, connection }: ClientOptions,
  silenceMs: number | undefined,
): RedisClient {
  const common = {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    socketTimeout: silenceMs ?? (target.kind === 'cluster' ? 1 : 3) * timeoutMs,
    // Version 2 of the protocol gives the same replies in all versions of ioredis and Redis.
    protocol: 2,
    // The store decides itself what waits and what is sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryAfter,
    // After a failover this connection leads to a replica of Redis, which cannot write.
    reconnectOnError: (error: Error) => errorCode(error) === 'READONLY',
    username: target.username,
    password: target.password,
    ...(target.isTls && { tls: {} }),
  }
  if (target.kind === 'cluster') {
    const cluster = new Cluster(target.nodes, {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryAfter,
      slotsRefreshTimeout: timeoutMs,
      // A second is enough for a failover that is almost over. The store fails later calls at once.
      maxRedirections: 10,
      redisOptions: { ...common, ...connection },
      // Addresses that a cluster on TLS announces have no names that a certificate could contain.
      ...(target.isTls && { dnsLookup: (address: string, done: (error: null, address: string) => void) => done(null, address) }),
    })
    return tellReadyFaults(cluster)
  }
  if (target.kind === 'sentinel') {
    return new Redis({
      ...common,
      sentinels: target.nodes,
      name: target.name,
      db: target.database,
      enableTLSForSentinelMode: target.isTls,
      // Otherwise the client library would speak to the sentinels without TLS.
      ...(target.isTls && { sentinelTLS: connection.tls ?? {} }),
      sentinelRetryStrategy: retryAfter,
      ...connection,
    })
  }
  return new Redis({ ...common, ...target.nodes[0], db: target.database, ...connection })
}

/** Rejects if the package is missing. */
export async function requireLibrary(): Promise<void> {
  await load()
}

let library: Promise<Library> | undefined

function load(): Promise<Library> {
  library ??= import('ioredis').then(
    (loaded) => loaded as unknown as Library,
    (cause: unknown) => {
      library = undefined
      throw new McpError('ERR_UNSUPPORTED', 'portico/redis needs the package ioredis. Install it: npm install ioredis', { cause })
    },
  )
  return library
}
