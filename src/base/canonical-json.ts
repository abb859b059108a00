/** JSON text with sorted keys and no spaces: equal values give equal text. */

/** How to handle what JSON cannot represent: return a text for it, or throw. */
export interface CanonicalRules {
  /** NaN and the infinities. */
  number(value: number): string
  /** undefined, functions, symbols and BigInts. Members of objects that are undefined are left out. */
  other(value: unknown): string
  /** May throw when the value nests too deep. */
  checkDepth?(depth: number): void
}

/** @see https://www.rfc-editor.org/rfc/rfc8785 */
export const writeCanonical = (value: unknown, rules: CanonicalRules): string => write(value, rules, 0)

function write(value: unknown, rules: CanonicalRules, depth: number): string {
  rules.checkDepth?.(depth)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : rules.number(value)
    case 'object':
      return value === null ? 'null' : writeParts(value, rules, depth + 1)
    default:
      return rules.other(value)
  }
}

function writeParts(value: object, rules: CanonicalRules, depth: number): string {
  if (Array.isArray(value)) return `[${Array.from(value, (each) => write(each, rules, depth)).join(',')}]`
  const object = value as Record<string, unknown>
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${write(object[key], rules, depth)}`)
  return `{${members.join(',')}}`
}

const COMPARABLE: CanonicalRules = {
  // Not null: an Infinity that arrived as 1e400 differs from null.
  number: String,
  other: () => 'null',
}

/** A text to compare values by. Never throws for a value that came from JSON. */
export const comparableJson = (value: unknown): string => writeCanonical(value, COMPARABLE)
