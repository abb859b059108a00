/** Finding one's way through JSON text without parsing it. */

export const QUOTE = 0x22
export const COMMA = 0x2c
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
const BACKSLASH = 0x5c

/** Where the string that begins at `from` ends; -1 when it does not. */
export function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > 0 && isAfterBackslash(text, at, from)) at = text.indexOf('"', at + 1)
  return at
}

/** The bit of the one of `names` that the key from `from` to `to` spells, escapes included; 0 for none. */
export function bitOf(names: readonly string[], text: string, from: number, to: number, isEscaped: boolean): number {
  const length = to - from
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    if (name.length === length && text.startsWith(name, from)) return 1 << i
  }
  if (!isEscaped) return 0
  const index = names.indexOf(parseOr(text.slice(from - 1, to + 1), '') as string)
  return index < 0 ? 0 : 1 << index
}

export function parseOr<T>(json: string, otherwise: T): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return otherwise
  }
}

function isAfterBackslash(text: string, at: number, from: number): boolean {
  let backslashes = 0
  for (let i = at - 1; i >= from && text.charCodeAt(i) === BACKSLASH; i--) backslashes++
  return backslashes % 2 === 1
}

/** Whether a key holds a backslash. */
// Not indexOf, neither here nor once for the whole text: it looks on past the key to the end of the text, and the
// optimising compiler takes it for pure and moves it to where its answer is used, which is once a key.
export function hasEscape(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (text.charCodeAt(i) === BACKSLASH) return true
  return false
}
