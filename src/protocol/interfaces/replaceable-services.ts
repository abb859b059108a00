/** Services that a server uses and that can be replaced, for example to run several replicas. in-process-services.ts has the defaults. */

import type { Rate } from '../../base/rate.ts'
import type { TaskStore } from './task-store.ts'

/** A change that clients may subscribe to, or a notification of an extension. */
export type Change =
  | { kind: 'tools' | 'prompts' | 'resources' }
  | { kind: 'resource'; uri: string }
  | { kind: 'extension'; id: string; method: string; params: Record<string, unknown> }

/**
 * Carries change notices to all replicas of a server.
 *
 * @example
 * const bus: Bus = {
 *   publish: (change) => void redis.publish('changes', JSON.stringify(change)),
 *   subscribe: (listener, onMissed = () => {}) => {
 *     const ends = [onRedisMessage('changes', (text) => listener(JSON.parse(text))), onRedisReconnect(onMissed)]
 *     return () => ends.forEach((end) => end())
 *   },
 * }
 */
export interface Bus {
  publish(change: Change): void
  /**
   * Returns a function that ends the subscription.
   *
   * @param onMissed Call it when changes may be lost. The server then sends clients a notice for everything that they listen to.
   */
  subscribe(listener: (change: Change) => void, onMissed?: () => void): () => void
  /** Seals changes with these keys, which all replicas have. Called before the first change, if there are such keys. */
  useKeys?(keys: KeyRing): void
}

/** Values that all replicas of a server share, by key. `Counters` of portico/store is one. */
export interface SharedValues {
  /** Stores a value unless the key has one, and returns the stored value. It stays for `ttlMs` from now. */
  keep(key: string, value: string, ttlMs: number): Promise<string>
  /** The value of `keep`, if there is one. */
  kept(key: string): Promise<string | undefined>
  /** Takes a lock. Returns the token that unlocks it; undefined if another holds it. The lock opens after `ttlMs`. */
  lock(key: string, ttlMs: number): Promise<string | undefined>
  /** Keeps a lock for `ttlMs` from now. Returns false if it was not held with this token any more. */
  extend(key: string, token: string, ttlMs: number): Promise<boolean>
  /** Returns false if the lock was not held with this token any more. */
  unlock(key: string, token: string): Promise<boolean>
}

/** A key that encrypts state. */
export interface SealingKey {
  id: string
  /** 32 bytes. */
  secret: Uint8Array
}

/**
 * The keys that encrypt the state which clients carry. All replicas must have the same keys. `keyRing` derives them from a secret. Write
 * a ring of your own to get keys from elsewhere.
 *
 * @example
 * const key = { id: '2026-08', secret: Buffer.from(process.env.STATE_KEY ?? '', 'base64') }
 * createServer({ name: 'notes', version: '1.0.0', keys: { current: () => key, find: (id) => (id === key.id ? key : undefined) } })
 */
export interface KeyRing {
  /** The key for new state. */
  current(): SealingKey | Promise<SealingKey>
  /** The key with this id, for state that was sealed before. */
  find(id: string): SealingKey | undefined | Promise<SealingKey | undefined>
}

/** Rate limits that hold for all replicas of a server together. */
export interface SharedRates {
  /** Takes tokens, and returns 0; or returns the milliseconds to wait for them. A promise if the store has to be asked. */
  take(key: string, rate: Rate, tokens: number): number | Promise<number>
}

/** What the replicas of a server share, as far as the server itself needs it. A transport with a store passes it on. */
export interface SharedServices {
  readonly rates: SharedRates
  /** Where tasks are kept, unless the server says otherwise. Undefined: in each process. */
  readonly tasks: TaskStore | undefined
  /** Reports that the store of `tasks` is down, together with what the transport says about it: one outage gives one report. */
  report?(error: unknown): void
  /** Seals what the store keeps with these keys, unless it has keys of its own. */
  useKeys?(keys: KeyRing): void
}
