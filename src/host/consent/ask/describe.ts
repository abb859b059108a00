/**
 * Renders a question as lines, for the terminal, the inbox and other user interfaces. Foreign text is complete, and it cannot move the
 * cursor, hide itself or pass for a line of the host. Folded parts (binary data, and secrets among the person's own arguments) state
 * their size; `isWhole` shows them.
 */

import { counted } from '../../../base/text/counted.ts'
import { groundedMarks, visibleText } from '../../../base/text/visible-text.ts'
import type { Question, Subject } from '../../model/question.ts'
import { SCOPE_WORDS } from './choices.ts'
import { line, nameText, type QuestionLine, reasonLine, theirs } from './question-line.ts'
import { subjectLines } from './subject-lines.ts'
import { titleOf } from './title.ts'

/** Options for `describeQuestion` and `describeSubject`. */
export interface DescribeOptions {
  /** Show everything, also what is folded by default. Default: false. */
  isWhole?: boolean
}

/**
 * Describes a question line by line: the title, the server, the reasons, the subject (folded parts only with `isWhole`), how long an
 * approval can last, and when the question expires. `answerChoices` gives the answers.
 *
 * @example
 * for (const { label, text } of describeQuestion(question)) console.log(label, text)
 */
export function describeQuestion(question: Question, { isWhole = false }: DescribeOptions = {}): QuestionLine[] {
  const { server, chain, reasons, scopes, expiresAt, subject } = question
  const lines: QuestionLine[] = [
    line('', titleOf(question), 'title', 'title'),
    line('server', server.title === server.id ? server.id : `${server.id} (calls itself ${nameText(server.title)})`, 'plain', 'server'),
    ...theirs('location', server.where, 'location'),
    line('requested by', chain.join(' → '), 'plain', 'requester'),
    ...reasons.map((text) => reasonLine('reason', text)),
    ...subjectLines(subject, isWhole),
  ]
  const folded = countFolded(lines)
  if (folded > 0) lines.push(line('not shown', counted(folded, 'character'), 'muted', 'hidden'))
  if (scopes.length > 0) lines.push(line('approval can last', scopes.map((scope) => SCOPE_WORDS[scope]).join(', '), 'muted', 'scopes'))
  lines.push(line('expires', `${new Date(expiresAt).toISOString()} (then denied)`, 'muted', 'expiry'))
  return lines.map(visibleLine)
}

/**
 * The lines of a subject alone, to list it without asking about it.
 *
 * @example
 * console.log(questionText(describeSubject(question.subject)))
 */
export const describeSubject = (subject: Subject, { isWhole = false }: DescribeOptions = {}): QuestionLine[] =>
  subjectLines(subject, isWhole).map(visibleLine)

/**
 * A copy with control and invisible characters made visible.
 *
 * @example
 * const line = visibleLine({ kind: 'detail', label: 'name', text: fileName, tone: 'theirs' })
 */
export const visibleLine = (line: QuestionLine): QuestionLine => ({
  ...line,
  label: visible(line.label),
  text: visible(line.text, line.tone !== 'title'),
})

/**
 * How many characters of the subject `describeQuestion` shows only with `isWhole`.
 *
 * @example
 * if (foldedOf(question) > 0) offerToShowEverything()
 */
export const foldedOf = ({ subject }: Question): number => countFolded(subjectLines(subject))

const countFolded = (lines: readonly QuestionLine[]): number => lines.reduce((sum, { folded = 0 }) => sum + folded, 0)

/**
 * Joins the lines of a question to plain text. Every foreign line is marked, and so is every continuation line, so that none passes for
 * a line of the host.
 *
 * @example
 * console.log(questionText(describeQuestion(question)))
 */
export const questionText = (lines: readonly QuestionLine[]): string =>
  lines
    .map(({ label, text, tone }) => {
      const body = text.replaceAll('\n', '\n  | ')
      if (tone === 'title') return body
      const isSeveral = text.includes('\n')
      return `  ${tone === 'warning' ? '! ' : ''}${label}: ${isSeveral ? `\n  | ${body}` : tone === 'theirs' ? `| ${body}` : body}`
    })
    .join('\n')

const visible = (text: string, multiline = false): string => groundedMarks(visibleText(text, { multiline }))
