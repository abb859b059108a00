/** Remembers ids that may be used only once. */

import type { Clock } from '../../../base/clock.ts'

/** Remembers used DPoP proofs. Replicas of one server must share it, otherwise a proof works once at each. */
export interface ReplayStore {
  /** True if the id was not used within `ttlMs`. Must check and store in one atomic step. */
  isFirst(id: string, ttlMs: number): boolean | Promise<boolean>
}

export class ReplaysFull extends Error {
  override readonly name = 'ReplaysFull'
}

/**
 * Remembers used proofs in memory. A full store refuses new proofs: forgetting one would allow it to be used again.
 *
 * @example
 * ```ts
 * const auth = resourceServer({ issuer, resource, dpop: { replays: memoryReplays(10_000, systemClock) } })
 * ```
 */
export function memoryReplays(max: number, clock: Clock): ReplayStore {
  /** In order of expiry, because all ids have the same lifetime. */
  const ends = new Map<string, number>()
  return {
    isFirst: (id, ttlMs) => {
      const now = clock.now()
      for (const [old, end] of ends) {
        if (end > now) break
        ends.delete(old)
      }
      if (ends.has(id)) return false
      if (ends.size >= max) throw new ReplaysFull(`More than ${max} DPoP proofs are remembered`)
      ends.set(id, now + ttlMs)
      return true
    },
  }
}
