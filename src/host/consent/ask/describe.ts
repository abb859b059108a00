/**
 * A question in words: the one rendering that the terminal, the inbox and the console share. Nothing that a server, a file or a
 * model wrote is left out or masked, and none of it can move the cursor, hide itself, or pass for a line of the host. What is
 * folded (data, and secrets among the person's own arguments) says how much it is, and is there when the whole is asked for.
 */

import { groundedMarks, visibleText } from '../../../base/text/visible-text.ts'
import type { Question, Subject } from '../../model/question.ts'
import { nameText, type QuestionLine } from './question-line.ts'
import { subjectLines, titleOf } from './subject-lines.ts'

export interface DescribeOptions {
  /** Nothing is folded. Default: false. */
  isWhole?: boolean
}

/** The title first, then who asks and why, then every detail, then what an answer means. */
export function describeQuestion(question: Question, { isWhole = false }: DescribeOptions = {}): QuestionLine[] {
  const { server, chain, reasons, scopes, expiresAt, subject } = question
  const lines: QuestionLine[] = [
    { label: '', text: titleOf(server.id, subject), tone: 'title' },
    {
      label: 'server',
      text: server.title === server.id ? server.id : `${server.id} (calls itself ${nameText(server.title)})`,
      tone: 'plain',
    },
    { label: 'at', text: server.where, tone: 'theirs' },
    { label: 'asked by', text: chain.join(' → '), tone: 'plain' },
    ...reasons.map((text): QuestionLine => ({ label: 'because', text, tone: 'plain' })),
    ...subjectLines(subject, isWhole),
  ]
  const folded = foldedIn(lines)
  if (folded > 0) lines.push({ label: 'not shown here', text: `${folded} characters`, tone: 'muted' })
  if (scopes.length > 0) lines.push({ label: 'a yes may hold', text: scopes.map((scope) => SCOPES[scope]).join(', '), tone: 'muted' })
  lines.push({ label: 'no answer is a no', text: `from ${new Date(expiresAt).toISOString()} on`, tone: 'muted' })
  return lines.map(visibleLine)
}

/** The details alone, for what is listed and not asked. */
export const describeSubject = (subject: Subject, { isWhole = false }: DescribeOptions = {}): QuestionLine[] =>
  subjectLines(subject, isWhole).map(visibleLine)

/** Nothing in it acts on a screen, hides, or is drawn over something else. */
export const visibleLine = (line: QuestionLine): QuestionLine => ({
  ...line,
  label: shown(line.label),
  text: shown(line.text, line.tone !== 'title'),
})

/** How many characters of what a question is about its short form does not show. */
export const foldedOf = ({ subject }: Question): number => foldedIn(subjectLines(subject))

const foldedIn = (lines: readonly QuestionLine[]): number => lines.reduce((sum, { folded = 0 }) => sum + folded, 0)

const SCOPES = {
  once: 'this once',
  turn: 'until you write again',
  session: 'for this conversation',
  project: 'in this project',
  always: 'always',
} as const

/** As plain text. Every line of others is marked, and so is every line after the first of any text: none passes for a line of the question. */
export const questionText = (lines: readonly QuestionLine[]): string =>
  lines
    .map(({ label, text, tone }) => {
      const body = text.replaceAll('\n', '\n  | ')
      if (tone === 'title') return body
      const isSeveral = text.includes('\n')
      return `  ${tone === 'warning' ? '! ' : ''}${label}: ${isSeveral ? `\n  | ${body}` : tone === 'theirs' ? `| ${body}` : body}`
    })
    .join('\n')

const shown = (text: string, multiline = false): string => groundedMarks(visibleText(text, { multiline }))
