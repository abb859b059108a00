/** Asks the store about many sessions or requests. */

import { isClosed, isDown } from '../../../store/faults.ts'

/** Questions at once. Each costs a round trip. */
const AT_ONCE = 64

/**
 * Calls `ask` for each item, and reports what fails: one that is damaged must not stop the others. Stops when the store is away for all that it
 * was asked at once. If only a node of a cluster is away, the items of the other nodes go on.
 *
 * @returns whether the store has heard of every item
 */
export async function askEach<T>(
  items: Iterable<T>,
  ask: (item: T) => Promise<unknown>,
  report: (error: unknown) => void,
): Promise<boolean> {
  const all = [...items]
  let hasHeard = true
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const ends = await Promise.allSettled(all.slice(at, at + AT_ONCE).map(ask))
    const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
    for (const fault of faults) report(fault)
    const away = faults.filter(isAway).length
    if (away > 0) hasHeard = false
    if (away === ends.length) return false
  }
  return hasHeard
}

/** The store did not answer, or answers no more. */
export const isAway = (error: unknown): boolean => isDown(error) || isClosed(error)
