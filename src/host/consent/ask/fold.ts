/** Shortens foreign text for the short form of a question, and counts the characters that it leaves out. */

import { isCodeName } from '../../server-command/code-arguments.ts'
import { type LineKind, line, nameText, type QuestionLine, theirs } from './question-line.ts'
import { counted } from './title.ts'

/** The longest value of an argument, and the longest list of arguments. */
const MAX_VALUE = 120
const MAX_ARGUMENTS = 300
const MAX_NAME = 60
const MAX_ARGUMENT_COUNT = 12
/** Shorter text is never folded: to open the details would take longer than to read it. */
const LEAST_FOLDED = 60
/** More lines are shown as one, with their line breaks written out. */
const MAX_OPEN_LINES = 6

/** The longest text, and how much of a longer one is shown. */
const MAX_TEXT = 220
const MAX_TEXT_LINES = 3
const EXCERPT = 100

/** `4,210 characters, see details`. */
export const foldedText = (length: number): string => `${counted(length, 'character')}, see details`

interface Pair {
  label: string
  json: string
  /** How many characters stay out of the summary. */
  folded: number
  /** Code is never folded. */
  isCode: boolean
}

/**
 * Arguments on one line: `title = "Milk"  text = "2 l"`. Strings are in quotes, so that a value looks neither like another argument
 * nor like words of the host.
 */
export function argumentsLine(args: Readonly<Record<string, unknown>>, label = ''): QuestionLine[] {
  const pairs = Object.entries(args).map(([name, value]): Pair => {
    const json = withPlainQuotes(JSON.stringify(value) ?? 'nothing')
    const isCode = isCodeName(name)
    return { label: withPlainQuotes(nameText(name)), json, isCode, folded: !isCode && json.length > MAX_VALUE ? json.length : 0 }
  })
  if (pairs.length === 0) return []
  const isFirst = ({ label, isCode }: Pair, i: number): boolean => isCode || (i < MAX_ARGUMENT_COUNT && label.length <= MAX_NAME)
  const lengthOf = (some: readonly Pair[]): number => some.reduce((sum, { label, json }) => sum + label.length + json.length, 0)
  const later = pairs.filter((pair, i) => !isFirst(pair, i))
  const isShort = lengthOf(later) < LEAST_FOLDED
  const listed = isShort ? pairs : pairs.filter(isFirst)
  foldToFit(listed)
  const others = isShort ? [] : later
  const otherLength = lengthOf(others)
  const parts = listed.map(({ label, json, folded }) => `${label} = ${folded > 0 ? foldedText(folded) : json}`)
  if (others.length > 0) parts.push(`${counted(others.length, 'more argument')} (${foldedText(otherLength)})`)
  const folded = listed.reduce((sum, each) => sum + each.folded, otherLength)
  return [{ kind: 'argument', label, text: parts.join('  '), tone: 'theirs', ...(folded > 0 && { folded }) }]
}

/** Characters that look like `"`, and two that look like it together. */
const LIKE_QUOTES =
  /[\u02ba\u02dd\u02ee\u02f6\u05f4\u201c-\u201f\u2033\u2036\u275d-\u2760\u2e42\u3003\u301d-\u301f\uff02]|['`\u00b4\u02b9\u02bb-\u02bd\u02c8\u2018-\u201b\u2032\u2035\uff07]{2,}/g
const LIKE_EQUALS = /[=\u1400\u207c\u208c\u2550\u2e40\u30a0\ua78a\ufe66\uff1d]/

/** A text with `=` and look-alikes of quotes could imitate the end of its value and another argument. Other texts keep their quotes. */
const withPlainQuotes = (json: string): string =>
  LIKE_EQUALS.test(json)
    ? json.replace(LIKE_QUOTES, (found) => found.replace(/./g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`))
    : json

/** Folds the longest values until all arguments together are short. */
function foldToFit(pairs: readonly Pair[]): void {
  const open = pairs.filter(({ folded, isCode }) => folded === 0 && !isCode).sort((one, other) => one.json.length - other.json.length)
  let length = open.reduce((sum, { json }) => sum + json.length, 0)
  for (let longest = open.pop(); longest && length > MAX_ARGUMENTS && longest.json.length >= LEAST_FOLDED; longest = open.pop()) {
    longest.folded = longest.json.length
    length -= longest.json.length
  }
}

export interface ShortOptions {
  /** Default: 220 characters. */
  maxLength?: number
  /** Default: 3 lines. */
  maxLines?: number
}

/** A foreign text in full, or its beginning with its length in the label. */
export function shortText(
  label: string,
  text: string | undefined,
  kind: LineKind = 'detail',
  { maxLength = MAX_TEXT, maxLines = MAX_TEXT_LINES }: ShortOptions = {},
): QuestionLine[] {
  if (text === undefined) return []
  if (text.length <= maxLength && text.split('\n').length <= maxLines) return theirs(label, text, kind)
  // Half a character at the end would be drawn as an escape that is not in the text.
  const shown = text
    .slice(0, EXCERPT)
    .split('\n', maxLines)
    .join('\n')
    .replace(/[\ud800-\udbff]$/, '')
  const rest = text.length - shown.length
  if (rest < LEAST_FOLDED) return theirs(label, text.split('\n').length <= MAX_OPEN_LINES ? text : JSON.stringify(text), kind)
  const about = `${label} (${foldedText(text.length)})`
  return [{ kind, label: about, text: `${shown} …`, tone: 'theirs', folded: rest }]
}

/** Shortens the foreign lines of a description, and shows the first `max` of them. */
export function shortLines(lines: readonly QuestionLine[], max: number): QuestionLine[] {
  // Binary data has no text to read: its line states its size, and nothing has to be opened.
  const short = lines.slice(0, max).flatMap(({ folded: _data, ...each }) => {
    if (each.tone !== 'theirs') return [each]
    return shortText(each.label, each.isJson ? onOneLine(each.text) : each.text, each.kind)
  })
  const rest = lines.slice(max)
  if (rest.length === 0) return short
  const folded = rest.reduce((sum, { label, text }) => sum + label.length + text.length, 0)
  return [...short, { ...line('and', `${counted(rest.length, 'more part')} (${foldedText(folded)})`, 'muted'), folded }]
}

function onOneLine(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}
