/**
 * Text width in columns, rounded up to the widest of all terminals (a library would give one terminal's width). If a line is wider than
 * computed, the terminal wraps it, and text of a server appears where only our own text should be. Breaking too early is harmless.
 */

import { eastAsianWidth } from 'get-east-asian-width'

/** Maximum width of a tab. `expandTabs` replaces tabs where the position is known. */
const TAB = 8

const MARK = /^\p{M}$/u
const DRAWN_OVER = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d)$/u
const PICTURE = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u

export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

/** The longest prefix that fits into `columns`. */
export const cutTo = (text: string, columns: number): string => text.slice(0, endOfFit(text, 0, columns))

/** Wraps a line to `columns`, at spaces. Only a word that is wider than a line is broken. @param first the width of the first line */
export function wrapTo(line: string, columns: number, first = columns): string[] {
  const lines: string[] = []
  let start = 0
  for (let room = Math.max(1, first); ; room = Math.max(1, columns)) {
    const end = endOfFit(line, start, room)
    if (end >= line.length) return [...lines, line.slice(start)]
    const isWithoutSpace = room < columns && !line.slice(start, end + 1).includes(' ')
    // The first word does not fit beside a label, but on a line of its own.
    const place = isWithoutSpace && fits(line, start, columns) ? start : breakIn(line, start, end, columns)
    lines.push(line.slice(start, place))
    start = line[place] === ' ' && !isMarkAt(line, place + 1) ? place + 1 : place
  }
}

/** Breaks at the last space, else at the limit, and never before a combining mark, which would then attach to our own text. */
function breakIn(line: string, start: number, end: number, columns: number): number {
  const space = line[end] === ' ' ? end - start : line.slice(start, end).lastIndexOf(' ')
  const isNear = space > (end - start) / 2
  if (space > 0 && !isMarkAt(line, start + space + 1) && (isNear || fits(line, start + space + 1, columns))) return start + space
  let place = end
  while (place > start && isMarkAt(line, place)) place -= line.codePointAt(place - 2) !== undefined && isPairEnd(line, place - 1) ? 2 : 1
  return place > start ? place : Math.max(end, start + characterAt(line, start).length)
}

/** Whether the word at this place fits on one line. */
function fits(line: string, start: number, columns: number): boolean {
  const end = endOfFit(line, start, columns)
  return end >= line.length || line.slice(start, end + 1).includes(' ')
}

const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0x20)

const isMarkAt = (text: string, at: number): boolean => at < text.length && MARK.test(characterAt(text, at))

const isPairEnd = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

function endOfFit(text: string, start: number, columns: number): number {
  if (columns === Number.POSITIVE_INFINITY) return text.length
  let width = 0
  for (let at = start; at < text.length; ) {
    const character = characterAt(text, at)
    width += widthOfCharacter(character)
    if (width > columns) return at
    at += character.length
  }
  return text.length
}

/** Replaces tabs by spaces, with a tab stop every eight columns. */
export const expandTabs = (text: string): string => (text.includes('\t') ? text.split('\n').map(expandedLine).join('\n') : text)

function expandedLine(line: string): string {
  const [head = '', ...rest] = line.split('\t')
  let width = widthOf(head)
  let expanded = head
  for (const part of rest) {
    const gap = TAB - (width % TAB)
    expanded += ' '.repeat(gap) + part
    width += gap + widthOf(part)
  }
  return expanded
}

const AS_PICTURE = 0xfe0f
/** Terminals with a Chinese, Japanese or Korean locale draw ambiguous characters two columns wide. */
const WIDEST = { ambiguousAsWide: true }

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) as number
  // With an emoji variation selector, digits and signs such as © take two columns in some terminals.
  if (code === AS_PICTURE) return 1
  if (code < 0x80) return code === 0x09 ? TAB : 1
  if (DRAWN_OVER.test(character)) return isOldMark(code) ? 0 : 1
  return PICTURE.test(character) || eastAsianWidth(code, WIDEST) === 2 ? 2 : 1
}

/** Combining marks that every terminal draws with zero width. Newer ones take a column in some terminals. */
const isOldMark = (code: number): boolean =>
  code <= 0x07f3 ||
  (code >= 0x0900 && code <= 0x0963) ||
  (code >= 0x0e31 && code <= 0x0ecd) ||
  (code >= 0x200c && code <= 0x20f0) ||
  code === 0x3099 ||
  code === 0x309a ||
  (code >= 0xfe0e && code <= 0xfe23)
