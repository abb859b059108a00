/** Small shared values by key: rates, places, marks, locks and values. Types only. */

import type { Rate } from '../../base/rate.ts'

/** What `take` got: some tokens, or the time until there are enough. */
export interface Taken {
  tokens: number
  /** 0 if there are tokens. */
  waitMs: number
}

/** Values that all replicas share. Keys are any text; stores do not show them. */
export interface Counters {
  /**
   * Takes tokens of a bucket: at least `need`, which is at most the burst, and up to `most` if the bucket has them.
   *
   * @param need default: 1
   * @param most default: `need`
   */
  take(key: string, rate: Rate, need?: number, most?: number): Promise<Taken>
  /**
   * Says that `holder` uses `count` places of `max`, for `ttlMs`. Returns how many it may use: `count`, or fewer if others use the rest,
   * but never fewer than it held.
   */
  hold(key: string, holder: string, count: number, max: number, ttlMs: number): Promise<number>
  /** True for the first caller within `ttlMs`, for example to refuse a token that was used before. */
  first(key: string, ttlMs: number): Promise<boolean>
  /** Takes a lock. Returns the token that unlocks it; undefined if another holds it. The lock opens after `ttlMs`. */
  lock(key: string, ttlMs: number): Promise<string | undefined>
  /** Keeps a lock for `ttlMs` from now. Returns false if it was not held with this token any more. */
  extend(key: string, token: string, ttlMs: number): Promise<boolean>
  /** Returns false if the lock was not held with this token any more. */
  unlock(key: string, token: string): Promise<boolean>
  /** Stores a value unless the key has one, and returns the stored value. It stays for `ttlMs` from now. */
  keep(key: string, value: string, ttlMs: number): Promise<string>
  /** The value of `keep` or `put`, if there is one. */
  kept(key: string): Promise<string | undefined>
  /** Keeps a value for `ttlMs` in place of the one before. */
  put(key: string, value: string, ttlMs: number): Promise<void>
  /** Forgets a kept value. */
  forget(key: string): Promise<void>
}
