/** Measures messages without copying them. */

const MAX_DEPTH = 64

/**
 * About as many characters as the JSON text of the value has; undefined if there are more than `max`, or if the value is not JSON. A
 * view may send anything that can be cloned: cycles, maps, huge arrays.
 */
export function jsonSize(value: unknown, max: number): number | undefined {
  let left = max
  const take = (chars: number): boolean => {
    left -= chars
    return left >= 0
  }
  const fits = (each: unknown, depth: number): boolean => {
    if (each === null || typeof each === 'boolean') return take(5)
    if (typeof each === 'number') return Number.isFinite(each) && take(8)
    if (typeof each === 'string') return take(each.length + 2)
    if (typeof each !== 'object' || depth > MAX_DEPTH) return false
    if (Array.isArray(each)) return take(each.length + 2) && each.every((item) => fits(item, depth + 1))
    if (Object.getPrototypeOf(each) !== Object.prototype && Object.getPrototypeOf(each) !== null) return false
    for (const key in each) {
      const member = (each as Record<string, unknown>)[key]
      if (!take(key.length + 4) || (member !== undefined && !fits(member, depth + 1))) return false
    }
    return take(2)
  }
  return fits(value, 0) ? max - left : undefined
}
