/** The person in the demo: answers questions as a careful person would, and prints question and answer. */

import type { CreateMessageResult } from '../../client/index.ts'
import type { QuestionLine } from '../../host/index.ts'
import { type Answer, type Asker, describeQuestion, type Question } from '../../host/index.ts'
import type { Screen } from '../output/screen.ts'
import { widthOf } from '../output/width.ts'
import { tell } from './tell.ts'

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
      tellQuestion(screen, question, answer)
      return answer
    },
  }
}

/** Prints the title, the important details and the answer, as a terminal would show them. */
function tellQuestion(screen: Screen, question: Question, answer: Answer): void {
  const { style } = screen
  const [title, ...details] = describeQuestion(question)
  tell(screen, title?.text ?? '', { mark: { text: style.yellow('?'), width: 1 } })
  const labelled = (label: string, text: string): void =>
    tell(screen, text, { indent: 6, mark: { text: style.dim(`${label}:`), width: widthOf(label) + 1 } })
  for (const line of details.filter((each) => isTold(question, each))) labelled(line.label, textOf(line))
  for (const [label, text] of sampledText(question)) labelled(label, text)
  if (answer.kind === 'allow' && question.subject.kind === 'form')
    for (const [name, value] of Object.entries(answer.edited as Record<string, unknown>)) labelled(`you fill in ${name}`, String(value))
  const mark = { text: style.dim('you answer:'), width: 11 }
  if (answer.kind === 'allow') tell(screen, 'yes', { indent: 6, mark, style: style.green })
  else tell(screen, answer.kind === 'deny' && answer.feedback ? `no: ${answer.feedback}` : 'no', { indent: 6, mark, style: style.red })
}

/** The step that changes the rogue prints the warnings about each changed tool itself. */
const isTold = ({ subject }: Question, { kind, tone }: QuestionLine): boolean =>
  (tone === 'warning' && subject.kind !== 'approve') || TOLD.has(kind)

const TOLD: ReadonlySet<QuestionLine['kind']> = new Set(['command', 'address', 'argument', 'message', 'budget'])

const textOf = ({ text, isJson }: QuestionLine): string => (isJson ? JSON.stringify(JSON.parse(text)) : text)

const MAX_SAMPLED = 160

function sampledText({ subject }: Question): [label: string, text: string][] {
  if (subject.kind === 'sample') return [['prompt', shortened(subject.params.messages.at(-1)?.content)]]
  return subject.kind === 'sampled' ? [['text', shortened(subject.result.content)]] : []
}

function shortened(content: CreateMessageResult['content'] = []): string {
  const text = [content]
    .flat()
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
  return text.length > MAX_SAMPLED ? `${text.slice(0, MAX_SAMPLED)} ...` : text
}
