/** What was used once and must not be used again. */

import type { Clock } from '../../../base/clock.ts'

/** Replicas of one server must share it, or a proof works once at each. */
export interface ReplayStore {
  /** True the first time an id is seen within the time given; must be one step for all who share the store. */
  isFirst(id: string, ttlMs: number): boolean | Promise<boolean>
}

export class ReplaysFull extends Error {
  override readonly name = 'ReplaysFull'
}

/** Inside one process. When it is full of ids that still count, it refuses: to forget one would let it be used again. */
export function memoryReplays(max: number, clock: Clock): ReplayStore {
  /** In the order they end, because all last equally long. */
  const ends = new Map<string, number>()
  return {
    isFirst: (id, ttlMs) => {
      const now = clock.now()
      for (const [old, end] of ends) {
        if (end > now) break
        ends.delete(old)
      }
      if (ends.has(id)) return false
      if (ends.size >= max) throw new ReplaysFull(`More than ${max} proofs within their time (limits.maxProofs)`)
      ends.set(id, now + ttlMs)
      return true
    },
  }
}
