/** Askers that need no screen: nobody, whoever is first, one question at a time, and answers that were written before. */

import { McpError } from '../../../protocol/errors.ts'
import type { Answer, Asker, Question } from '../../model/question.ts'
import { describeQuestion } from './describe.ts'

/** For runs without a person: every question is refused, in words that say what would have been asked. */
export const nobody = (): Asker => ({
  ask: async (question) => {
    const [title, ...lines] = describeQuestion(question)
    const reasons = lines.filter(({ kind }) => kind === 'reason').map(({ text }) => text)
    const why = reasons.length > 0 ? `; it would be asked because ${reasons.join('; ')}` : ''
    throw new McpError('ERR_CONSENT', `Nobody is here to answer: ${title?.text}${why}`, {
      data: { action: question.action, server: question.server.id, reasons: question.reasons },
    })
  },
})

/**
 * Puts a question to all of them, and takes the first answer; the signal tells the others that nobody needs theirs any more.
 * One that fails is no answer: only when all of them have failed does the question, with what the first of them said.
 */
export const firstOf = (...askers: readonly Asker[]): Asker => ({
  ask: async (question, signal) => {
    const over = new AbortController()
    const either = AbortSignal.any([signal, over.signal])
    try {
      return await Promise.any(askers.map(async (asker) => asker.ask(question, either)))
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof AggregateError ? (error.errors[0] ?? new McpError('ERR_CONSENT', 'There is nobody to ask')) : error
    } finally {
      over.abort(new McpError('ERR_CONSENT', 'Somebody else has answered'))
    }
  },
})

export interface QueueLimits {
  /** How many questions may wait for one person. */
  waitingQuestions: number
  /** And how many of one server, so that one cannot push the others' out. */
  waitingPerServer: number
}

export const DEFAULT_QUEUE_LIMITS: QueueLimits = { waitingQuestions: 100, waitingPerServer: 20 }

interface Turn {
  server: string
  begin(): void
}

/** One question at a time to one person. Servers take turns, so that one with many questions does not keep the others waiting. */
export function queued(asker: Asker, limits: Partial<QueueLimits> = {}): Asker {
  const { waitingQuestions, waitingPerServer } = { ...DEFAULT_QUEUE_LIMITS, ...limits }
  const state = { waiting: [] as Turn[], isAsking: false, lastServers: [] as string[] }

  const next = (): void => {
    // Of the servers that wait, the one whose turn is longest ago; of its questions, the oldest.
    const turn = state.waiting.toSorted((one, other) => state.lastServers.indexOf(one.server) - state.lastServers.indexOf(other.server))[0]
    state.isAsking = turn !== undefined
    if (!turn) return
    state.waiting.splice(state.waiting.indexOf(turn), 1)
    state.lastServers = [...state.lastServers.filter((server) => server !== turn.server), turn.server].slice(-waitingQuestions)
    turn.begin()
  }

  const itsTurn = (server: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const give = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const turn: Turn = { server, begin: give }
      const leave = (): void => {
        state.waiting = state.waiting.filter((each) => each !== turn)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      state.waiting.push(turn)
      if (!state.isAsking) next()
    })

  return {
    ask: async (question, signal) => {
      signal.throwIfAborted()
      const { id } = question.server
      if (state.waiting.length >= waitingQuestions)
        throw new McpError('ERR_LIMIT', `${waitingQuestions} questions wait for an answer already (waitingQuestions)`)
      if (state.waiting.filter(({ server }) => server === id).length >= waitingPerServer)
        throw new McpError('ERR_LIMIT', `${waitingPerServer} questions of ${id} wait for an answer already (waitingPerServer)`)
      await itsTurn(id, signal)
      try {
        signal.throwIfAborted()
        return await asker.ask(question, signal)
      } finally {
        next()
      }
    },
  }
}

/** An answer, or what makes one of the question. */
export type ScriptedAnswer = Answer | ((question: Question) => Answer)

export interface ScriptedAsker extends Asker {
  /** What was asked so far. */
  readonly asked: readonly Question[]
}

/** Answers from a list, in order, for tests and demonstrations; a question after the last is an error, not a yes. */
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
      if (!answer) throw new McpError('ERR_CONSENT', `No answer was written for: ${describeQuestion(question)[0]?.text}`)
      return typeof answer === 'function' ? answer(question) : answer
    },
  }
}
