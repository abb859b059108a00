/**
 * A question in words: the one rendering that the terminal, the inbox and the console share. Nothing is shortened, secrets
 * are masked, and what a server wrote cannot move the cursor, hide itself, or pass for a line of the host.
 */

import { redactText } from '../../protocol/redact.ts'
import { visibleText } from '../../protocol/visible-text.ts'
import type { Question } from './question.ts'
import type { QuestionLine } from './question-line.ts'
import { subjectLines, titleOf } from './subject-lines.ts'

/** The title first, then who asks and why, then every detail, then what an answer means. */
export function describeQuestion(question: Question): QuestionLine[] {
  const { server, chain, reasons, scopes, expiresAt, subject } = question
  const lines: QuestionLine[] = [
    { label: '', text: titleOf(server.id, subject), tone: 'title' },
    { label: 'server', text: server.title === server.id ? server.id : `${server.id} (calls itself ${server.title})`, tone: 'plain' },
    { label: 'at', text: server.where, tone: 'plain' },
    { label: 'asked by', text: chain.join(' → '), tone: 'plain' },
    ...reasons.map((text): QuestionLine => ({ label: 'because', text, tone: 'plain' })),
    ...subjectLines(subject),
  ]
  if (scopes.length > 0) lines.push({ label: 'a yes may hold', text: scopes.map((scope) => SCOPES[scope]).join(', '), tone: 'muted' })
  lines.push({ label: 'no answer is a no', text: `from ${new Date(expiresAt).toISOString()} on`, tone: 'muted' })
  return lines.map(({ label, text, tone }) => ({ label: shown(label, false), text: shown(text, tone !== 'title'), tone }))
}

const SCOPES = {
  once: 'this once',
  turn: 'until you write again',
  session: 'for this conversation',
  project: 'in this project',
  always: 'always',
} as const

/** As plain text. Every line after the first of a text is marked, so that none can be mistaken for a line of the question. */
export const questionText = (lines: readonly QuestionLine[]): string =>
  lines
    .map(({ label, text, tone }) => {
      const body = text.replaceAll('\n', '\n  | ')
      if (tone === 'title') return body
      return `  ${tone === 'warning' ? '! ' : ''}${label}: ${body.includes('\n') ? `\n  | ${body}` : body}`
    })
    .join('\n')

const shown = (text: string, multiline: boolean): string => visibleText(redactText(text), { multiline })
