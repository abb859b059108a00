/** Several servers that wait for a start: they can be answered together. */

import type { QuestionView } from '../../../src/console/api.ts'
import type { WaitingQuestion } from './console-state.ts'
import { cardLines, mustOpen } from './question-words.ts'

export type StartQuestion = WaitingQuestion & { view: QuestionView }

/** A longer start is asked alone. */
const MAX_CHARACTERS = 4_000

/** Two or more starts without folded text. Everything else is answered one by one. */
export function startGroup(questions: readonly WaitingQuestion[]): readonly StartQuestion[] {
  const starts = questions.filter((question): question is StartQuestion => question.end === undefined && isStart(question.view))
  return starts.length < 2 ? [] : starts
}

function isStart(view: QuestionView | undefined): boolean {
  const kind = view?.question.subject.kind
  return view !== undefined && (kind === 'launch' || kind === 'connect') && !mustOpen(view) && isBrief(view)
}

const isBrief = (view: QuestionView): boolean => cardLines(view).reduce((sum, { text }) => sum + text.length, 0) <= MAX_CHARACTERS
