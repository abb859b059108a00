/** Askers without a user interface: deny everything, first answer wins, one question at a time, scripted answers. */

import { visibleText } from '../../../base/text/visible-text.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Answer, Asker, Question } from '../../model/question.ts'
import { actionName } from '../gate/action-words.ts'
import { describeQuestion } from './describe.ts'

/**
 * An asker for runs without a person: it refuses every question, with an error that names the action and what to do.
 *
 * @example
 * const host = await createHost({ ask: denyAll() })
 */
export const denyAll = (): Asker => ({
  ask: async (question) => {
    const { action, server, subject } = question
    const name = actionName({
      kind: action,
      server,
      ...(subject.kind === 'call' && { primitive: { name: visibleText(subject.tool.name) } }),
    })
    const what = `${name.charAt(0).toUpperCase()}${name.slice(1)} needs your approval, and there is no terminal`
    throw new McpError('ERR_CONSENT', `${what}. Run it once in a terminal, add a rule (portico policy), or use --inbox.`, {
      data: { action: question.action, server: question.server.id, reasons: question.reasons },
    })
  },
})

/**
 * Puts a question to several askers and takes the first answer; the signal then aborts the others. An asker that fails gives no
 * answer: the question fails only when all of them have failed, with the error of the first.
 *
 * @example
 * const ask = firstOf(terminal, inboxAsker({ folder }))
 */
export function firstOf(...askers: readonly Asker[]): Asker {
  const first: Asker = {
    ask: (question, signal) =>
      whileOpen(signal, (either) =>
        anyOf(
          askers.map(async (asker) => asker.ask(question, either)),
          signal,
        ),
      ),
  }
  if (askers.every(({ askTogether }) => askTogether === undefined)) return first
  return {
    ...first,
    askTogether: (questions, signal) =>
      whileOpen(signal, async (either) => {
        // For each asker one promise for each question.
        const asked = askers.map((asker) => answersOf(asker, questions, either))
        return Promise.all(
          questions.map((_, index) =>
            anyOf(
              asked.flatMap((answers) => answers[index] ?? []),
              signal,
            ),
          ),
        )
      }),
  }
}

/** Aborts the other askers as soon as the answer is there. */
async function whileOpen<Result>(signal: AbortSignal, work: (either: AbortSignal) => Promise<Result>): Promise<Result> {
  const over = new AbortController()
  try {
    return await work(AbortSignal.any([signal, over.signal]))
  } finally {
    over.abort(new McpError('ERR_CONSENT', 'The question was answered elsewhere'))
  }
}

async function anyOf(answers: readonly Promise<Answer>[], signal: AbortSignal): Promise<Answer> {
  try {
    return await Promise.any(answers)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof AggregateError ? (error.errors[0] ?? new McpError('ERR_CONSENT', 'No asker is configured')) : error
  }
}

function answersOf(asker: Asker, questions: readonly Question[], signal: AbortSignal): Promise<Answer>[] {
  if (!asker.askTogether) return questions.map((question) => handled(asker.ask(question, signal)))
  const all = asker.askTogether(questions, signal)
  if (!(all instanceof Promise)) return all.map(handled)
  return questions.map((_, index) =>
    handled(
      all.then((answers) => {
        const answer = answers[index]
        if (!answer) throw new McpError('ERR_CONSENT', `An asker gave ${answers.length} answers to ${questions.length} questions`)
        return answer
      }),
    ),
  )
}

/** Nobody may wait for an answer that comes after another asker's. */
function handled<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {})
  return promise
}

interface Turn {
  begin(): void
}

/**
 * Puts one question at a time. Servers take turns, so that a server with many questions does not delay the others. It has no limits
 * of its own: the gate bounds the number of pending questions (`maxQuestions`).
 *
 * @example
 * const ask = queued({ ask: (question, signal) => showDialog(question, signal) })
 */
export function queued(asker: Asker): Asker {
  /** Pending questions by server. The server at the front has its turn next. */
  const pending = new Map<string, Turn[]>()
  let current: string | undefined

  const next = (): void => {
    // The server that had its turn goes to the back.
    const others = current === undefined ? undefined : pending.get(current)
    if (current !== undefined && others) {
      pending.delete(current)
      pending.set(current, others)
    }
    const [front] = pending
    current = front?.[0]
    if (!front) return
    const [server, [turn, ...rest]] = front
    if (rest.length > 0) pending.set(server, rest)
    else pending.delete(server)
    turn?.begin()
  }

  const waitForTurn = (server: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        const rest = (pending.get(server) ?? []).filter((each) => each !== turn)
        if (rest.length > 0) pending.set(server, rest)
        else pending.delete(server)
        reject(signal.reason)
      }
      const turn: Turn = {
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      pending.set(server, [...(pending.get(server) ?? []), turn])
      if (current === undefined) next()
    })

  return {
    ask: async (question, signal) => {
      signal.throwIfAborted()
      await waitForTurn(question.server.id, signal)
      try {
        signal.throwIfAborted()
        return await asker.ask(question, signal)
      } finally {
        next()
      }
    },
  }
}

/** An answer, or a function that makes one. */
export type ScriptedAnswer = Answer | ((question: Question) => Answer)

export interface ScriptedAsker extends Asker {
  /** All questions so far. */
  readonly asked: readonly Question[]
}

/**
 * Answers from a list, in order, for tests and demonstrations. A question after the last answer fails.
 *
 * @example
 * const ask = scripted([{ kind: 'allow', scope: 'once' }, { kind: 'deny' }])
 */
export function scripted(answers: Iterable<ScriptedAnswer> | ((question: Question) => Answer)): ScriptedAsker {
  const asked: Question[] = []
  const rest = typeof answers === 'function' ? undefined : answers[Symbol.iterator]()
  const nextOf = (): ScriptedAnswer | undefined => {
    if (typeof answers === 'function') return answers
    const step = rest?.next()
    return step?.done ? undefined : step?.value
  }
  return {
    asked,
    ask: async (question, signal) => {
      signal.throwIfAborted()
      asked.push(question)
      const answer = nextOf()
      if (!answer) throw new McpError('ERR_CONSENT', `No scripted answer is left for: ${describeQuestion(question)[0]?.text}`)
      return typeof answer === 'function' ? answer(question) : answer
    },
  }
}
