/**
 * Text of others, made fit to be looked at: what would move the cursor, reorder letters, or not be seen at all is written
 * out instead. For reading only: it cannot be turned back, because a server may write `\x1b` in plain letters as well.
 */

export interface VisibleTextOptions {
  /** Keeps line ends. Without it the text stays one line, so that a line of a log or a table cannot be forged. */
  multiline?: boolean
}

/**
 * Everything that is no visible sign: control and format characters, lone surrogates, private and unassigned code points,
 * line and paragraph separators, and whatever else Unicode says is not to be drawn; also the Braille blank, which is drawn
 * as nothing.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Format characters of Arabic, Syriac and Kaithi that are drawn: signs that stand around a number. */
const DRAWN = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u

/** Writes out what cannot be seen: `\x1b`, `\r`, `<U+202E>`. Tabs stay, and with `multiline` line ends. */
export function visibleText(text: string, { multiline = false }: VisibleTextOptions = {}): string {
  return text.replace(UNSEEN, (character, at: number) => {
    if (character === '\n') return multiline ? character : '\\n'
    // The other half of a line end of Windows; alone it would let the rest of the line be written over.
    if (character === '\r' && multiline && text[at + 1] === '\n') return ''
    return isOrdinary(text, character, at) ? character : escaped(character)
  })
}

const MAX_MARKS = 6

/**
 * Writes out combining marks that have no letter to stand on, which would be drawn over what is before the text, and those that
 * pile up, which would be drawn over the lines above.
 */
export const groundedMarks = (text: string): string =>
  text.replace(/(?<=^|\n)\p{M}+|(?<=\p{M})\p{M}+/gu, (marks, at: number) => {
    const hasBase = at > 0 && text[at - 1] !== '\n'
    const codes = [...marks]
    // The first of a pile stands before those that are found here.
    const kept = hasBase ? codes.slice(0, MAX_MARKS - 1) : []
    return kept.join('') + codes.slice(kept.length).map(escaped).join('')
  })

/** Whether there is something in it that a person would not see. Line ends and tabs do not count. */
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

/** A selector of emoji or text style belongs to the sign before it; anywhere else, and in a row, it carries something hidden. */
const isEmojiBase = (character: string): boolean => /^[\p{Extended_Pictographic}0-9#*]$/u.test(character)

/** A family or a profession is several emoji with joiners between them. */
function joinsEmoji(text: string, at: number): boolean {
  let previous = before(text, at)
  if (previous === '\ufe0f' || /^\p{Emoji_Modifier}$/u.test(previous)) previous = before(text, at - previous.length)
  return /^\p{Extended_Pictographic}$/u.test(previous) && /^\p{Extended_Pictographic}$/u.test(after(text, at))
}

/** Scripts that cannot be spelled without joiners: Persian, Hindi, Sinhala and their kin. */
const JOINING =
  /^(?:\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Mongolian}|\p{scx=Devanagari}|\p{scx=Bengali}|\p{scx=Gurmukhi}|\p{scx=Gujarati}|\p{scx=Oriya}|\p{scx=Tamil}|\p{scx=Telugu}|\p{scx=Kannada}|\p{scx=Malayalam}|\p{scx=Sinhala}|\p{scx=Khmer})$/u

const isJoiningLetter = (character: string): boolean => /^[\p{L}\p{M}]$/u.test(character) && JOINING.test(character)

const joinsLetters = (text: string, at: number): boolean => isJoiningLetter(before(text, at)) && isJoiningLetter(after(text, at))

/** The code point that ends where another begins. */
function before(text: string, at: number): string {
  const code = text.codePointAt(at - 2)
  return code !== undefined && code > 0xffff ? String.fromCodePoint(code) : (text[at - 1] ?? '')
}

/** The code point after the joiner at a place. */
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
