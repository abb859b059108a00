/** The person in the demo: answers questions as a careful person would, and prints question and answer. */

import type { QuestionLine } from '../../host/index.ts'
import { type Answer, type Asker, describeQuestion, type Question } from '../../host/index.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'

export interface TourPerson extends Asker {
  readonly asked: readonly Question[]
  /** How to answer from now on. Default: allow once. */
  answersWith(answer: ((question: Question) => Answer | undefined) | undefined): void
}

const YES: Answer = { kind: 'allow', scope: 'once' }

export function tourPerson(screen: Screen): TourPerson {
  const asked: Question[] = []
  let answerOf: (question: Question) => Answer | undefined = () => undefined
  return {
    asked,
    answersWith: (answer) => {
      answerOf = answer ?? (() => undefined)
    },
    ask: async (question) => {
      asked.push(question)
      const answer = answerOf(question) ?? YES
      if (!screen.isJson) tell(screen, question, answer)
      return answer
    },
  }
}

/** Prints the title, the important details and the answer, as a terminal would show them. */
function tell(screen: Screen, question: Question, answer: Answer): void {
  const { style } = screen
  const [title, ...details] = describeQuestion(question)
  screen.print(safe`    ${style.yellow('?')} ${title?.text ?? ''}`)
  for (const { label, text } of details.filter(({ kind, tone }) => tone === 'warning' || TOLD.has(kind))) {
    screen.print(safe`      ${style.dim(`${label}:`)} ${text}`)
  }
  screen.print(
    safe`    ${answer.kind === 'allow' ? style.green('yes') : style.red('no')}${answer.kind === 'deny' && answer.feedback ? `: ${answer.feedback}` : ''}`,
  )
}

const TOLD: ReadonlySet<QuestionLine['kind']> = new Set(['command', 'address', 'argument', 'message', 'budget'])
