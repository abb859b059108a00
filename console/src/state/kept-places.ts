/** Questions that have ended keep their place in the tray while the pointer is in it: otherwise another one would slide under a click. */

import type { WaitingQuestion } from './console-state.ts'

/** Servers can ask and withdraw without end. */
const MAX_KEPT = 20

/** @param before what the tray showed last @param now the questions of the state */
export function keptPlaces(before: readonly WaitingQuestion[], now: readonly WaitingQuestion[]): readonly WaitingQuestion[] {
  // Nothing is left that could be answered by mistake.
  if (now.every(({ end }) => end !== undefined)) return now
  const current = new Map(now.map((each) => [each.id, each]))
  const gone = before.filter(({ id }) => !current.has(id))
  if (gone.length === 0) return now
  const dropped = new Set(gone.slice(0, -MAX_KEPT))
  const places = before.flatMap((each) => {
    const next = current.get(each.id)
    current.delete(each.id)
    if (next) return [next]
    return dropped.has(each) ? [] : [{ ...each, end: each.end ?? ({ id: each.id, how: 'ended' } as const) }]
  })
  return [...places, ...current.values()]
}
