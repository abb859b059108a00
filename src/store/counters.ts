/** Small shared values by key: rates, marks, locks and first values. Types only. */

import type { Rate } from '../base/rate.ts'

/** Values that all replicas share. Keys are any text; stores do not show them. */
export interface Counters {
  /** Takes a token of a bucket and returns 0; or returns the milliseconds to wait for the next one. */
  take(key: string, rate: Rate): Promise<number>
  /** True for the first caller within `ttlMs`, for example to refuse a token that was used before. */
  first(key: string, ttlMs: number): Promise<boolean>
  /** Takes a lock. Returns the token that unlocks it; undefined if another holds it. The lock opens after `ttlMs`. */
  lock(key: string, ttlMs: number): Promise<string | undefined>
  /** Returns false if the lock was not held with this token any more. */
  unlock(key: string, token: string): Promise<boolean>
  /** Keeps a value, if there is none, and returns the kept one. It stays for `ttlMs` from now. */
  keep(key: string, value: string, ttlMs: number): Promise<string>
  /** The value of `keep`, if there is one. */
  kept(key: string): Promise<string | undefined>
}
