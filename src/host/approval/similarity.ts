/** Measures how similar two definitions are, to recognise renamed ones. */

import { canonicalJson } from '../../protocol/model/digest-json.ts'
import type { Primitive } from './pin.ts'

/** A definition that is at least this similar to a removed one counts as renamed. */
export const RENAMED_FROM = 0.8

/** The words after this number are ignored. */
const MAX_WORDS = 4000

/** Words that occur in almost every definition, so they say nothing about similarity. */
const EVERYWHERE = new Set([
  'inputschema',
  'outputschema',
  'properties',
  'required',
  'description',
  'title',
  'annotations',
  'type',
  'object',
  'string',
])

/** Counts the words of a definition, without its name. */
export function wordsOf({ definition }: Primitive): ReadonlyMap<string, number> {
  const nameless =
    typeof definition === 'object' && definition !== null ? { ...definition, name: undefined, uriTemplate: undefined } : definition
  const counts = new Map<string, number>()
  let words = 0
  for (const [word] of canonicalJson(nameless).matchAll(/[\p{L}\p{N}]+/gu)) {
    if (++words > MAX_WORDS) break
    const key = word.toLowerCase()
    if (EVERYWHERE.has(key)) continue
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** From 0 (nothing in common) to 1 (the same words). Two empty definitions have nothing in common. */
export function similarity(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0
  for (const [word, count] of a) common += Math.min(count, b.get(word) ?? 0)
  const total = sum(a) + sum(b)
  return total === 0 ? 0 : (2 * common) / total
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, count) => all + count, 0)
