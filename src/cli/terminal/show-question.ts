/** A question on the screen: every detail, with what a server wrote kept apart from what is ours. */

import { type DescribeOptions, describeQuestion, type Question, type QuestionLine, visibleLine } from '../../host/index.ts'
import { compactJson } from '../output/compact-json.ts'
import { LINE_BREAK, NOTHING, SafeText, safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import type { Styles } from '../output/style.ts'
import { expandTabs, widthOf, wrapTo } from '../output/width.ts'

/** Room that is left free, for signs that a terminal draws wider than we think. */
const MARGIN = 2
const INDENT = 4

/** The details scroll by as any other text; only the choices below them are drawn over. */
export function showQuestion(screen: Screen, question: Question, options: DescribeOptions = {}): void {
  const place: Place = { style: screen.noteStyle, columns: screen.noteColumns }
  screen.note(safe``)
  for (const line of describeQuestion(question, options)) if (!SAID_BY_CHOICES.has(line.label)) screen.note(shownLine(place, line))
}

/** One more detail, drawn like those of the question. */
export const showLine = (screen: Screen, line: QuestionLine): void =>
  screen.note(shownLine({ style: screen.noteStyle, columns: screen.noteColumns }, visibleLine(line)))

/** The same as a result, to be read and not answered. */
export function printLines(screen: Screen, lines: readonly QuestionLine[]): void {
  const place: Place = { style: screen.style, columns: screen.columns }
  for (const line of lines) screen.print(shownLine(place, line))
}

interface Place {
  style: Styles
  /** Undefined where nobody looks at it. */
  columns: number | undefined
}

/** What the choices below say by themselves. */
const SAID_BY_CHOICES: ReadonlySet<string> = new Set(['a yes may hold', 'no answer is a no'])

export const questionTitle = (question: Question): string => describeQuestion(question)[0]?.text ?? question.action

/**
 * Broken into lines here and not by the terminal. Every line of others has a bar before it, and so has every line after the first
 * of any detail: names of others stand in labels and in words of the host as well, and none of them may pass for a line of its own.
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
  // What is left beside the label, where that is short enough.
  const beside = labels.length > 1 ? 0 : columns - 2 - widthOf(labels[0] ?? '') - 1 - (tone === 'theirs' ? 2 : 0)
  const lines = linesOf(plain, columns - INDENT, isJson ?? false)
  const [only = ''] = lines
  if (lines.length === 1 && widthOf(only) <= beside) return safe`${head} ${mark}${said([only])}`
  const isFlowing = tone !== 'theirs' && beside > columns / 3
  const broken = lines.flatMap((line, i) => wrapTo(line, columns - INDENT, isFlowing && i === 0 ? beside : columns - INDENT))
  return isFlowing ? safe`${head} ${said(broken)}` : safe`${head}\n${bar}${said(broken)}`
}

/** A definition is JSON with a line for every member, which is more than anybody reads; the same in fewer lines, and nothing left out. */
function linesOf(text: string, columns: number, isJson: boolean): string[] {
  if (!isJson || columns === Number.POSITIVE_INFINITY) return text.split('\n')
  try {
    return compactJson(JSON.parse(text), columns)
  } catch {
    return text.split('\n')
  }
}

/** Lines with something before each but the first. */
const joined = (lines: readonly string[], lead: SafeText): SafeText => SafeText.join(lines, SafeText.join([LINE_BREAK, lead]))
