/** Compares the definitions that a server offers with the approved ones. */

import { looksLike } from '../../base/text/confusable.ts'
import type { PinDifference } from '../model/difference.ts'
import { differenceOf, removalOf } from './definition-difference.ts'
import { type Primitive, pinOf } from './pin.ts'
import { RENAMED_FROM, similarity, wordsOf } from './similarity.ts'

export interface Comparison {
  /** All changed, renamed and removed definitions. Computed on first access. */
  readonly differences: readonly PinDifference[]
  /** How an offered definition differs from its approved form. Undefined if it is new or unchanged. */
  difference(offered: Primitive): PinDifference | undefined
  /** Definitions without an approval under their name. Includes renamed ones. */
  added: readonly Primitive[]
  removed: readonly Primitive[]
  /** Approved under the same name, but different now. */
  changed: readonly Primitive[]
  unchanged: readonly Primitive[]
}

/** Above this number of pairs no renames are searched. The definitions count as new, which also keeps them out of use. */
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
  // Describing a change costs far more than detecting it, so a change is described only when it is shown.
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

/** Pairs each added definition with the most similar removed one, if it is similar enough. */
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
