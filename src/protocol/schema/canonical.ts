/** Equality of JSON values, one with another and one among many. */

/** JSON text with sorted keys: equal values, equal text. */
export function canonical(value: unknown): string {
  // Not as JSON: an Infinity that came as 1e400 is not null.
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const object = value as Record<string, unknown>
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`)
    .join(',')}}`
}

/** Ends at the first difference, so that it costs no more than the smaller of the two. */
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
 * Comparing every pair would be quadratic in a list that a peer may choose.
 * @param spend pays for the work before it is done
 */
export function hasUniqueItems(items: readonly unknown[], spend: (steps: number) => void): boolean {
  spend(items.length)
  const simple = new Set<unknown>()
  const others = new Set<string>()
  for (const item of items) {
    const isSimple = typeof item !== 'object' || item === null
    // Writing a value out costs several steps a part.
    if (!isSimple) spend(5 * countNodes(item))
    const [set, key] = isSimple ? [simple, item] : [others as Set<unknown>, canonical(item)]
    if (set.has(key)) return false
    set.add(key)
  }
  return true
}

/** How many values a value is made of, itself included. */
export function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const each of Object.values(value)) count += countNodes(each)
  return count
}
