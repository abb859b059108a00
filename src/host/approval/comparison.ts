/** What a server offers now, against what was approved. */

import { looksLike } from '../../base/text/confusable.ts'
import type { PinDifference } from '../model/difference.ts'
import { differenceOf, removalOf } from './definition-difference.ts'
import { type Primitive, pinOf } from './pin.ts'
import { RENAMED_FROM, similarity, wordsOf } from './similarity.ts'

export interface Comparison {
  /** What is not as it was approved; also what is gone, and what came under another name. Found when it is first looked at. */
  readonly differences: readonly PinDifference[]
  /** What is different about one of those that are offered; undefined for what is new, or as it was approved. */
  difference(offered: Primitive): PinDifference | undefined
  /** What nobody has approved, whether or not it resembles something that was. */
  added: readonly Primitive[]
  removed: readonly Primitive[]
  /** What was approved under the same name, and is not the same any more. */
  changed: readonly Primitive[]
  unchanged: readonly Primitive[]
}

/** Everything beyond is new, not renamed: it stays out of use all the same. */
const MAX_PAIRS = 20_000

export function compareWith(approved: readonly Primitive[], offered: readonly Primitive[]): Comparison {
  const before = new Map(approved.map((each) => [keyOf(each), each]))
  const seen = new Set(offered.map(keyOf))
  const added: Primitive[] = []
  const changed: Primitive[] = []
  const unchanged: Primitive[] = []
  for (const each of offered) {
    const former = before.get(keyOf(each))
    if (!former) added.push(each)
    else (pinOf(former.definition) === pinOf(each.definition) ? unchanged : changed).push(each)
  }
  const removed = approved.filter((each) => !seen.has(keyOf(each)))
  // In words for people: far more work than to see that something is another, and only done for those who are shown it.
  let found: Map<Primitive, PinDifference> | undefined
  const renames = (): Map<Primitive, PinDifference> => {
    found ??= renamesAmong(removed, added)
    return found
  }
  const difference = (each: Primitive): PinDifference | undefined => {
    const former = before.get(keyOf(each))
    return former ? differenceOf(former, each) : renames().get(each)
  }
  return {
    get differences() {
      const moved = new Set([...renames().values()].map(({ kind, formerly = '' }) => keyOf({ kind, name: formerly })))
      return [
        ...changed.map(difference).filter((each) => each !== undefined),
        ...renames().values(),
        ...removed.filter((each) => !moved.has(keyOf(each))).map(removalOf),
      ]
    },
    difference,
    added,
    removed,
    changed,
    unchanged,
  }
}

export const keyOf = ({ kind, name }: Pick<Primitive, 'kind' | 'name'>): string => `${kind} ${name}`

/** By the one that came, each with the removed one that it resembles most. */
function renamesAmong(removed: readonly Primitive[], added: readonly Primitive[]): Map<Primitive, PinDifference> {
  const renames = new Map<Primitive, PinDifference>()
  if (removed.length === 0 || removed.length * added.length > MAX_PAIRS) return renames
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
