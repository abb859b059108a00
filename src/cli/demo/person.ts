/** The person of the tour: answers as a careful one would, and says aloud what was asked and answered. */

import { type Answer, type Asker, describeQuestion, type Question } from '../../host/index.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'

export interface TourPerson extends Asker {
  readonly asked: readonly Question[]
  /** From now on answers like this; undefined for a plain yes. */
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

/** The title, what is decisive of the rest, and the answer. All of it is what a terminal would show. */
function tell(screen: Screen, question: Question, answer: Answer): void {
  const { style } = screen
  const [title, ...details] = describeQuestion(question)
  screen.print(safe`    ${style.yellow('?')} ${title?.text ?? ''}`)
  for (const { label, text } of details.filter(({ label, tone }) => tone === 'warning' || TOLD.has(label))) {
    screen.print(safe`      ${style.dim(`${label}:`)} ${text}`)
  }
  screen.print(
    safe`    ${answer.kind === 'allow' ? style.green('yes') : style.red('no')}${answer.kind === 'deny' && answer.feedback ? `: ${answer.feedback}` : ''}`,
  )
}

const TOLD: ReadonlySet<string> = new Set(['command', 'the whole address', 'arguments', 'comes from', 'message', 'budget'])
