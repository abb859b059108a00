/** A question on the screen: every detail, with what a server wrote kept apart from what is ours. */

import { describeQuestion } from '../../host/ask/describe.ts'
import type { Question } from '../../host/ask/question.ts'
import type { QuestionLine } from '../../host/ask/question-line.ts'
import { compactJson } from '../output/compact-json.ts'
import type { Screen } from '../output/screen.ts'
import { LINE_BREAK, Shown, words } from '../output/shown.ts'
import { brokenTo, widthOf } from '../output/width.ts'

/** Room that is left free, for signs that a terminal draws wider than we think. */
const MARGIN = 2
const INDENT = 4

/** The details scroll by as any other text; only the choices below them are drawn over. */
export function showQuestion(screen: Screen, question: Question): void {
  screen.note(words``)
  for (const line of describeQuestion(question)) if (!SAID_BY_CHOICES.has(line.label)) screen.note(shownLine(screen, line))
}

/** What the choices below say by themselves. */
const SAID_BY_CHOICES: ReadonlySet<string> = new Set(['a yes may hold', 'no answer is a no'])

export const questionTitle = (question: Question): string => describeQuestion(question)[0]?.text ?? question.action

/** Broken into lines here and not by the terminal: what goes on stays indented, and cannot pass for a line of its own. */
function shownLine(screen: Screen, { label, text, tone }: QuestionLine): Shown {
  const { noteStyle: style, noteColumns = Number.POSITIVE_INFINITY } = screen
  const columns = noteColumns - MARGIN
  const broken = (first: number): string[] => {
    const [head = '', ...others] = linesOf(text, columns - first)
    return [...brokenTo(head, columns - INDENT, columns - first), ...others.flatMap((line) => brokenTo(line, columns - INDENT))]
  }
  const afterLabel = 2 + widthOf(label) + 2
  switch (tone) {
    case 'title':
      return style.bold(style.cyan(joined(brokenTo(text, columns), words``)))
    case 'warning':
      return words`  ${style.yellow(words`! ${label}: ${joined(broken(afterLabel + 2), words`  ! `)}`)}`
    case 'theirs': {
      if (!text.includes('\n') && widthOf(text) <= columns - afterLabel) return words`  ${style.dim(`${label}:`)} ${text}`
      // A bar before every line of theirs, so that none can pass for one of ours.
      const bar = words`  ${style.magenta('│')} `
      const lines = linesOf(text, columns - INDENT).flatMap((line) => brokenTo(line, columns - INDENT))
      return words`  ${style.dim(`${label}:`)}\n${bar}${joined(lines, bar)}`
    }
    case 'muted':
      return words`  ${style.dim(words`${label}: ${joined(broken(afterLabel), words`    `)}`)}`
    case 'plain':
      return words`  ${style.dim(`${label}:`)} ${joined(broken(afterLabel), words`    `)}`
  }
}

/** A definition is JSON with a line for every member, which is more than anybody reads; the same in fewer lines, and nothing left out. */
function linesOf(text: string, columns: number): string[] {
  if (!text.startsWith('{') || columns === Number.POSITIVE_INFINITY) return text.split('\n')
  try {
    return compactJson(JSON.parse(text), columns)
  } catch {
    return text.split('\n')
  }
}

/** Lines with something before each but the first. */
const joined = (lines: readonly string[], lead: Shown): Shown => Shown.join(lines, Shown.join([LINE_BREAK, lead]))
