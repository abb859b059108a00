/** Shows a question with all details, and marks the text that a server wrote. */

import { type DescribeOptions, describeQuestion, type Question, type QuestionLine, visibleLine } from '../../host/index.ts'
import { compactJson } from '../output/compact-json.ts'
import { LINE_BREAK, NOTHING, SafeText, safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import type { Styles } from '../output/style.ts'
import { expandTabs, widthOf, wrapTo } from '../output/width.ts'

/** Free columns, for characters that a terminal draws wider than computed. */
const MARGIN = 2
const INDENT = 4

/** Details are printed as ordinary lines. Only the choices below them are redrawn. */
export function showQuestion(screen: Screen, question: Question, options: DescribeOptions = {}): void {
  const place: Place = { style: screen.noteStyle, columns: screen.noteColumns }
  screen.note(safe``)
  for (const line of describeQuestion(question, options)) if (!SAID_BY_CHOICES.has(line.kind)) screen.note(shownLine(place, line))
}

/** Prints one more detail in the same form. */
export const showLine = (screen: Screen, line: QuestionLine): void =>
  screen.note(shownLine({ style: screen.noteStyle, columns: screen.noteColumns }, visibleLine(line)))

/** Prints the details as a result, without a question. */
export function printLines(screen: Screen, lines: readonly QuestionLine[]): void {
  const place: Place = { style: screen.style, columns: screen.columns }
  for (const line of lines) screen.print(shownLine(place, line))
}

interface Place {
  style: Styles
  /** Undefined without a terminal. */
  columns: number | undefined
}

/** Lines that the choices below the question repeat. */
const SAID_BY_CHOICES: ReadonlySet<QuestionLine['kind']> = new Set(['scopes', 'expiry'])

export const questionTitle = (question: Question): string => describeQuestion(question)[0]?.text ?? question.action

/**
 * Wraps here, not in the terminal. Every line of untrusted text gets a bar, and so does every continuation line: labels and host text
 * may contain names from a server, and none of them may look like a line of the host.
 */
function shownLine({ style, columns: all = Number.POSITIVE_INFINITY }: Place, { label, text, tone, isJson }: QuestionLine): SafeText {
  const columns = all - MARGIN
  const bar = safe`  ${style.magenta('│')} `
  const plain = expandTabs(text)
  if (tone === 'title') return style.bold(style.cyan(joined(wrapTo(plain, columns - INDENT, columns), bar)))

  const labels = wrapTo(`${tone === 'warning' ? '! ' : ''}${expandTabs(label)}:`, columns - INDENT, columns - 2)
  const head = safe`  ${tone === 'warning' ? style.yellow(joined(labels, bar)) : style.dim(joined(labels, bar))}`
  const said = (lines: readonly string[]): SafeText => {
    const shown = joined(lines, bar)
    return tone === 'warning' ? style.yellow(shown) : tone === 'muted' ? style.dim(shown) : shown
  }
  const mark = tone === 'theirs' ? safe`${style.magenta('│')} ` : NOTHING
  // The width left beside a short label.
  const beside = labels.length > 1 ? 0 : columns - 2 - widthOf(labels[0] ?? '') - 1 - (tone === 'theirs' ? 2 : 0)
  const lines = linesOf(plain, columns - INDENT, isJson ?? false)
  const [only = ''] = lines
  if (lines.length === 1 && widthOf(only) <= beside) return safe`${head} ${mark}${said([only])}`
  const isFlowing = tone !== 'theirs' && beside > columns / 3
  const broken = lines.flatMap((line, i) => wrapTo(line, columns - INDENT, isFlowing && i === 0 ? beside : columns - INDENT))
  return isFlowing ? safe`${head} ${said(broken)}` : safe`${head}\n${bar}${said(broken)}`
}

/** JSON with one line per member is too long to read. Shows the same in fewer lines, with nothing left out. */
function linesOf(text: string, columns: number, isJson: boolean): string[] {
  if (!isJson || columns === Number.POSITIVE_INFINITY) return text.split('\n')
  try {
    return compactJson(JSON.parse(text), columns)
  } catch {
    return text.split('\n')
  }
}

/** Joins lines, with `lead` before each but the first. */
const joined = (lines: readonly string[], lead: SafeText): SafeText => SafeText.join(lines, SafeText.join([LINE_BREAK, lead]))
