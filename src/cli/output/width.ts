/**
 * How many columns a terminal gives to a text: never fewer than any terminal takes. A line that is thought too narrow is wrapped by
 * the terminal, and what a server wrote then stands where only our own words should; one that is thought too wide is broken early.
 */

import { eastAsianWidth } from 'get-east-asian-width'

/** Where a tab leads to at most; `expandTabs` makes it spaces where the place is known. */
const TAB = 8

const MARK = /^\p{M}$/u
const DRAWN_OVER = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d)$/u
const PICTURE = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u

export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

/** The longest beginning that takes no more than `columns`. */
export const cutTo = (text: string, columns: number): string => text.slice(0, endOfFit(text, 0, columns))

/** One line as several that take no more than `columns` each, broken at spaces where there are any. @param first columns of the first one */
export function wrapTo(line: string, columns: number, first = columns): string[] {
  const lines: string[] = []
  let start = 0
  for (let room = Math.max(1, first); ; room = Math.max(1, columns)) {
    const end = endOfFit(line, start, room)
    if (end >= line.length) return [...lines, line.slice(start)]
    const place = breakIn(line, start, end)
    lines.push(line.slice(start, place))
    start = line[place] === ' ' && !isMarkAt(line, place + 1) ? place + 1 : place
  }
}

/** At a space in the second half of what fits, else where the room ends; never before a mark, which would sit on what comes before the next line. */
function breakIn(line: string, start: number, end: number): number {
  const space = line[end] === ' ' ? end - start : line.slice(start, end).lastIndexOf(' ')
  if (space > (end - start) / 2 && !isMarkAt(line, start + space + 1)) return start + space
  let place = end
  while (place > start && isMarkAt(line, place)) place -= line.codePointAt(place - 2) !== undefined && isPairEnd(line, place - 1) ? 2 : 1
  return place > start ? place : Math.max(end, start + characterAt(line, start).length)
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

/** Tabs as the spaces that they stand for, with a stop every eight columns from the beginning of each line. */
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
/** Terminals set to Chinese, Japanese or Korean draw many signs of other scripts two columns wide. */
const WIDEST = { ambiguousAsWide: true }

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) as number
  // With a sign for "as a picture" behind them, digits and signs such as © take two columns in some terminals.
  if (code === AS_PICTURE) return 1
  if (code < 0x80) return code === 0x09 ? TAB : 1
  if (DRAWN_OVER.test(character)) return isOldMark(code) ? 0 : 1
  return PICTURE.test(character) || eastAsianWidth(code, WIDEST) === 2 ? 2 : 1
}

/** Marks that every terminal draws over the letter before. Those that came to Unicode later take a column of their own in some. */
const isOldMark = (code: number): boolean =>
  code <= 0x07f3 ||
  (code >= 0x0900 && code <= 0x0963) ||
  (code >= 0x0e31 && code <= 0x0ecd) ||
  (code >= 0x200c && code <= 0x20f0) ||
  code === 0x3099 ||
  code === 0x309a ||
  (code >= 0xfe0e && code <= 0xfe23)
