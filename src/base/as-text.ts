/** Any value as text. */

/**
 * Never throws. `String(value)` calls the value's own `toString`. JSON from a peer can replace that with something that is
 * not a function, and then an error message about bad input would crash.
 */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    if (typeof value !== 'object' || value === null || value instanceof Error) return String(value)
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return `(${typeof value} that has no text)`
  }
}
