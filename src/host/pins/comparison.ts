/** What a server offers now, against what was approved. */

import { looksLike } from '../../protocol/confusable.ts'
import { differenceOf, removalOf } from './definition-difference.ts'
import type { PinDifference } from './difference.ts'
import type { Primitive } from './pin.ts'
import { RENAMED_FROM, similarity, wordsOf } from './similarity.ts'

export interface Comparison {
  /** What is not as it was approved; also what is gone, and what came under another name. */
  differences: readonly PinDifference[]
  /** What nobody has approved, whether or not it resembles something that was. */
  added: readonly Primitive[]
  removed: readonly Primitive[]
  unchanged: readonly Primitive[]
}

/** Everything beyond is new, not renamed: it stays out of use all the same. */
const MAX_PAIRS = 20_000

export function compareWith(approved: readonly Primitive[], offered: readonly Primitive[]): Comparison {
  const before = new Map(approved.map((each) => [keyOf(each), each]))
  const seen = new Set(offered.map(keyOf))
  const added = offered.filter((each) => !before.has(keyOf(each)))
  const removed = approved.filter((each) => !seen.has(keyOf(each)))
  const kept = offered.filter((each) => before.has(keyOf(each)))
  const differences = kept.map((each) => differenceOf(before.get(keyOf(each)) as Primitive, each))
  const renames = renamesAmong(removed, added)
  return {
    differences: [
      ...differences.filter((each) => each !== undefined),
      ...renames.values(),
      ...removed
        .filter((each) => ![...renames.values()].some(({ kind, formerly }) => kind === each.kind && formerly === each.name))
        .map(removalOf),
    ],
    added,
    removed,
    unchanged: kept.filter((_, i) => differences[i] === undefined),
  }
}

export const keyOf = ({ kind, name }: Pick<Primitive, 'kind' | 'name'>): string => `${kind} ${name}`

/** By the one that came, each with the removed one that it resembles most. */
function renamesAmong(removed: readonly Primitive[], added: readonly Primitive[]): Map<Primitive, PinDifference> {
  const renames = new Map<Primitive, PinDifference>()
  if (removed.length * added.length > MAX_PAIRS) return renames
  const known = removed.map((each) => ({ primitive: each, words: wordsOf(each) }))
  for (const each of added) {
    const words = wordsOf(each)
    const candidates = known
      .filter(({ primitive }) => primitive.kind === each.kind)
      .map((candidate) => ({
        ...candidate,
        likeness: looksLike(candidate.primitive.name, each.name) ? 1 : similarity(candidate.words, words),
      }))
    const best = candidates.reduce<(typeof candidates)[number] | undefined>((a, b) => (a && a.likeness >= b.likeness ? a : b), undefined)
    if (!best || best.likeness < RENAMED_FROM) continue
    const difference = differenceOf(best.primitive, each)
    if (difference) renames.set(each, difference)
  }
  return renames
}
