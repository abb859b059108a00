/** Primitives to walk through JSON text without parsing it, shared by `scan.ts` and `envelope.ts`. */

export const QUOTE = 0x22
export const COMMA = 0x2c
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
const BACKSLASH = 0x5c

/** The index of the quote that ends the string starting at `from`; -1 when there is none. */
export function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > 0 && isAfterBackslash(text, at, from)) at = text.indexOf('"', at + 1)
  return at
}

/** Up to eight key names, each with its own bit. */
export interface KeyNames {
  names: readonly string[]
  /** The bits of the possible names, by the length and first character of a key. */
  guesses: Uint8Array
}

/** A letter written as an escape, such as \u0069, is five characters longer. */
const ESCAPE_ADDS = 5
const ASCII = 128

/** @param names letters only; the first gets bit 1, the next bit 2, and so on */
export function keyNames(...names: readonly string[]): KeyNames {
  const longest = Math.max(...names.map(({ length }) => length)) * (1 + ESCAPE_ADDS)
  const guesses = new Uint8Array((longest + 1) * ASCII)
  for (const [i, name] of names.entries()) {
    for (let escapes = 0; escapes <= name.length; escapes++) {
      const row = (name.length + escapes * ESCAPE_ADDS) * ASCII
      for (const first of escapes > 0 ? [name.charCodeAt(0), BACKSLASH] : [name.charCodeAt(0)]) {
        guesses[row + first] = (guesses[row + first] as number) | (1 << i)
      }
    }
  }
  return { names, guesses }
}

/** The bit of the name that the key from `from` to `to` spells, also with escapes. 0 for any other key. */
export function bitOf(keys: KeyNames, text: string, from: number, to: number): number {
  if (guessBits(keys, text, from, to) === 0) return 0
  const index = keys.names.indexOf(parseOr(text.slice(from - 1, to + 1), '') as string)
  return index < 0 ? 0 : 1 << index
}

/** The bits of all names that the key may spell, by length and first letter only. Ten times as fast, and never misses a name. */
export function guessBits({ guesses }: KeyNames, text: string, from: number, to: number): number {
  const first = text.charCodeAt(from)
  const at = (to - from) * ASCII + first
  return first < ASCII && at < guesses.length ? (guesses[at] as number) : 0
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
