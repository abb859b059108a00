/** Equality of JSON values. */

import { comparableJson } from '../../base/canonical-json.ts'

/** Stops at the first difference, so it costs no more than walking the smaller value. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, i) => isEqual(each, b[i]))
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
}

/**
 * Compares texts, because comparing every pair takes quadratic time and a peer may choose the list.
 * @param spend charged for the work before it is done
 */
export function hasUniqueItems(items: readonly unknown[], spend: (steps: number) => void): boolean {
  spend(items.length)
  const simple = new Set<unknown>()
  const others = new Set<string>()
  for (const item of items) {
    const isSimple = typeof item !== 'object' || item === null
    // Writing a value costs about five steps for each of its parts.
    if (!isSimple) spend(5 * countNodes(item))
    const [set, key] = isSimple ? [simple, item] : [others as Set<unknown>, comparableJson(item)]
    if (set.has(key)) return false
    set.add(key)
  }
  return true
}

/** The number of values inside a value, itself included. */
export function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const each of Object.values(value)) count += countNodes(each)
  return count
}
