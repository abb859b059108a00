/** A person who answers as people do, and counts what they had to read. */

import type { Answer, Asker, Question } from '../../src/host/index.ts'
import { answerChoices, questionText, summaryOf } from '../../src/host/index.ts'

export interface StoryPerson extends Asker {
  readonly questions: Question[]
  /** How often the person was asked. Questions on one screen count once. */
  readonly times: number
  /** Lines of all questions together, on a terminal of 80 columns. */
  readonly lines: number
  /** The kinds of the questions, in order: `launch, call`. */
  readonly kinds: string
  /** From now on the person denies what this server asks: everything, or one kind of question. */
  deny(server: string, kind?: string): void
  /** Answers some questions otherwise. Undefined: as usual. */
  answer: (question: Question) => Answer | undefined
}

/** Says yes to starting servers, "always" to calls where that is offered, and yes to the rest. */
export function storyPerson(): StoryPerson {
  const questions: Question[] = []
  const denied = new Map<string, string | undefined>()
  const isDenied = ({ server, subject }: Question): boolean =>
    denied.has(server.id) && (denied.get(server.id) ?? subject.kind) === subject.kind
  const answered = (question: Question): Answer => {
    questions.push(question)
    return person.answer(question) ?? (isDenied(question) ? { kind: 'deny' } : answerTo(question))
  }
  let times = 0
  const person: StoryPerson = {
    questions,
    get times() {
      return times
    },
    answer: () => undefined,
    get lines() {
      return questions.reduce((sum, question) => sum + linesOf(question), 0)
    },
    get kinds() {
      return questions.map(({ subject }) => subject.kind).join(', ') || '-'
    },
    ask: async (question) => {
      times++
      return answered(question)
    },
    askTogether: async (all) => {
      times++
      return all.map(answered)
    },
    deny: (server, kind) => void denied.set(server, kind),
  }
  return person
}

function answerTo({ subject, always, scopes }: Question): Answer {
  if (subject.kind === 'form') return { kind: 'allow', scope: 'once', edited: subject.defaults }
  if (always) return { kind: 'allow', scope: always.scope, width: always.width }
  return { kind: 'allow', scope: scopes[0] ?? 'once' }
}

const COLUMNS = 80

/** The question as it is first shown, with the keys to choose from. */
function linesOf(question: Question): number {
  const keys = answerChoices(question).map(({ key, label }) => `[${key}] ${label}`)
  return [...questionText(summaryOf(question).lines).split('\n'), keys.join('  ')].reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)),
    0,
  )
}
