/** The answers that last, in words: for how long, and for which arguments. */

import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'
import { isOfferedTime, SCOPE_WORDS, widthText } from '../../../src/host/consent/ask/choices.ts'
import { dateText } from './format.ts'
import { isStart } from './question-words.ts'

type Question = QuestionView['question']
type Allow = Extract<GivenAnswer, { kind: 'allow' }>
export type Scope = Allow['scope']
export type Width = Question['widths'][number]

export interface LastingAnswer {
  /** `Always, with similar arguments`. */
  label: string
  answer: Allow
}

/** People do not read longer menus. The rest is chosen in two steps. */
const MAX_ENTRIES = 5

/** The entries of the menu, the longest time first. Of many answers only those about the proposed arguments. */
export function menuAnswers(question: Question): LastingAnswer[] {
  if (isStart(question.subject)) return shorterStarts(question)
  const all = lastingAnswers(question)
  if (all.length <= MAX_ENTRIES) return all
  const [proposed] = sortedWidths(question)
  return all.filter(({ answer }) => answer.width === proposed)
}

/** Whether the menu leaves answers out. */
export const hasMoreAnswers = (question: Question): boolean =>
  !isStart(question.subject) && menuAnswers(question).length < lastingAnswers(question).length

/** How long an answer about these arguments can last, the longest first. */
export const timesOf = (question: Question, width: Width | undefined): Scope[] =>
  (Object.keys(SCOPE_WORDS) as Scope[]).reverse().filter((scope) => scope !== 'once' && isOfferedTime(question, scope, width))

export function lastingAnswer({ subject, always }: Question, scope: Scope, width: Width | undefined): LastingAnswer {
  const until = scope === always?.scope && width === always.width ? always.expiresAt : undefined
  const words = [
    SCOPE_WORDS[scope],
    width === undefined ? '' : widthText(subject, width),
    until === undefined ? '' : `until ${dateText(until)}`,
  ]
  return { label: capital(words.filter(Boolean).join(', ')), answer: { kind: 'allow', scope, ...(width !== undefined && { width }) } }
}

function lastingAnswers(question: Question): LastingAnswer[] {
  const widths = question.widths.length === 0 ? [undefined] : sortedWidths(question)
  const times = timesOf(question, 'exact')
  return times.flatMap((scope) =>
    widths.filter((width) => isOfferedTime(question, scope, width)).map((width) => lastingAnswer(question, scope, width)),
  )
}

/** The proposed one first. */
export const sortedWidths = ({ widths, always }: Question): Width[] =>
  always ? [always.width, ...widths.filter((width) => width !== always.width)] : [...widths]

/** A server is not started for one message. */
const shorterStarts = ({ scopes }: Question): LastingAnswer[] =>
  scopes
    .slice(1)
    .filter((scope) => scope !== 'turn')
    .map((scope) => ({ label: scope === 'once' ? 'Only this time' : capital(SCOPE_WORDS[scope]), answer: { kind: 'allow', scope } }))

const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`
