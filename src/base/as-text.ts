/** Any value as text. */

/**
 * Never throws. `String(value)` runs the value's own `toString`, which anyone who sends JSON can replace with something that
 * cannot be called, and so turn a message about bad input into a crash.
 */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    if (typeof value !== 'object' || value === null || value instanceof Error) return String(value)
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return `(${typeof value} without a text)`
  }
}
