/**
 * Escapes untrusted text for display: characters that move the cursor, reorder letters or are invisible. For reading only:
 * the result cannot be decoded, because the text itself may contain `\x1b` in plain letters.
 */

export interface VisibleTextOptions {
  /** Keeps line breaks. Default: false, so that text cannot forge a line of a log or a table. */
  multiline?: boolean
}

/**
 * Invisible characters: control and format characters, lone surrogates, private and unassigned code points, line and
 * paragraph separators, other characters that Unicode says to ignore, and the Braille blank.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Visible format characters: number signs of Arabic, Syriac and Kaithi. */
const DRAWN = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u

/** Replaces invisible characters with `\x1b`, `\r` or `<U+202E>`. Keeps tabs, and with `multiline` line breaks. */
export function visibleText(text: string, { multiline = false }: VisibleTextOptions = {}): string {
  return text.replace(UNSEEN, (character, at: number) => {
    if (character === '\n') return multiline ? character : '\\n'
    // Part of a Windows line break. A carriage return alone would let text overwrite the line.
    if (character === '\r' && multiline && text[at + 1] === '\n') return ''
    return isOrdinary(text, character, at) ? character : escaped(character)
  })
}

const MAX_MARKS = 6

/**
 * Escapes combining marks without a base letter, which would be drawn over the preceding text, and marks that pile up,
 * which would be drawn over the lines above.
 */
export const groundedMarks = (text: string): string =>
  text.replace(/(?<=^|\n)\p{M}+|(?<=\p{M})\p{M}+/gu, (marks, at: number) => {
    const hasBase = at > 0 && text[at - 1] !== '\n'
    const codes = [...marks]
    // The first mark of a pile is before this match.
    const kept = hasBase ? codes.slice(0, MAX_MARKS - 1) : []
    return kept.join('') + codes.slice(kept.length).map(escaped).join('')
  })

/** Whether the text contains invisible characters other than line breaks and tabs. */
export function hasInvisible(text: string): boolean {
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (character === '\n' || (character === '\r' && text[index + 1] === '\n')) continue
    if (!isOrdinary(text, character, index)) return true
  }
  return false
}

function isOrdinary(text: string, character: string, at: number): boolean {
  if (character === '\t' || DRAWN.test(character)) return true
  if (character === '\ufe0e' || character === '\ufe0f') return isEmojiBase(before(text, at))
  if (character === '\u200d') return joinsEmoji(text, at) || joinsLetters(text, at)
  return character === '\u200c' && joinsLetters(text, at)
}

/** A style selector belongs directly after an emoji. Anywhere else, or repeated, it can carry hidden data. */
const isEmojiBase = (character: string): boolean => /^[\p{Extended_Pictographic}0-9#*]$/u.test(character)

/** Emoji such as families and professions consist of several emoji with joiners between them. */
function joinsEmoji(text: string, at: number): boolean {
  let previous = before(text, at)
  if (previous === '\ufe0f' || /^\p{Emoji_Modifier}$/u.test(previous)) previous = before(text, at - previous.length)
  return /^\p{Extended_Pictographic}$/u.test(previous) && /^\p{Extended_Pictographic}$/u.test(after(text, at))
}

/** Scripts whose spelling needs joiners, such as those of Persian, Hindi and Sinhala. */
const JOINING =
  /^(?:\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Mongolian}|\p{scx=Devanagari}|\p{scx=Bengali}|\p{scx=Gurmukhi}|\p{scx=Gujarati}|\p{scx=Oriya}|\p{scx=Tamil}|\p{scx=Telugu}|\p{scx=Kannada}|\p{scx=Malayalam}|\p{scx=Sinhala}|\p{scx=Khmer})$/u

const isJoiningLetter = (character: string): boolean => /^[\p{L}\p{M}]$/u.test(character) && JOINING.test(character)

const joinsLetters = (text: string, at: number): boolean => isJoiningLetter(before(text, at)) && isJoiningLetter(after(text, at))

/** The code point before the given index. */
function before(text: string, at: number): string {
  const code = text.codePointAt(at - 2)
  return code !== undefined && code > 0xffff ? String.fromCodePoint(code) : (text[at - 1] ?? '')
}

/** The code point after the joiner at the given index. */
function after(text: string, at: number): string {
  const code = text.codePointAt(at + 1)
  return code === undefined ? '' : String.fromCodePoint(code)
}

function escaped(character: string): string {
  if (character === '\r') return '\\r'
  const code = character.codePointAt(0) as number
  const hex = code.toString(16)
  return code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `<U+${hex.toUpperCase().padStart(4, '0')}>`
}
