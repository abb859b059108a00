/** A question on the screen: every detail, with what a server wrote kept apart from what is ours. */

import { describeQuestion } from '../../host/ask/describe.ts'
import type { Question } from '../../host/ask/question.ts'
import type { QuestionLine } from '../../host/ask/question-line.ts'
import type { Screen } from '../output/screen.ts'
import { LINE_BREAK, Shown, untrustedLines, words } from '../output/shown.ts'

export function showQuestion(screen: Screen, question: Question): void {
  screen.note(words``)
  for (const line of describeQuestion(question)) screen.note(shownLine(screen, line))
}

function shownLine(screen: Screen, { label, text, tone }: QuestionLine): Shown {
  const { noteStyle: style } = screen
  const lines = text.split('\n')
  switch (tone) {
    case 'title':
      return style.bold(style.cyan(untrustedLines(text)))
    case 'warning':
      return words`  ${style.yellow(words`! ${label}: ${joined(lines, style.yellow('  ! '))}`)}`
    case 'theirs':
      // A bar before every line of theirs, so that none can pass for one of ours.
      return words`  ${style.dim(`${label}:`)}${lines.length === 1 ? ' ' : words`\n  ${style.magenta('│')} `}${joined(lines, words`  ${style.magenta('│')} `)}`
    case 'muted':
      return words`  ${style.dim(words`${label}: ${joined(lines, words`    `)}`)}`
    case 'plain':
      return words`  ${style.dim(`${label}:`)} ${joined(lines, words`    `)}`
  }
}

/** Lines with something before each but the first. */
const joined = (lines: readonly string[], lead: Shown): Shown => Shown.join(lines, Shown.join([LINE_BREAK, lead]))
