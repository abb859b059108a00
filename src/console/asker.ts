/** An asker that parks questions until a page of the console answers. */

import { randomUUID } from 'node:crypto'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Answer, Asker, Question } from '../host/index.ts'
import { McpError } from '../host/index.ts'
import type { QuestionEnd } from './api.ts'
import { checkOptions } from './check-options.ts'
import { conflict, invalid, notFound } from './errors.ts'

/** What happens to the questions of a console. */
export interface QuestionListener {
  onAsked(question: Question): void
  onEnded(end: QuestionEnd): void
}

/** The questions that wait in a console. `consoleAsker` creates it. */
export interface ConsoleAsker extends Asker {
  /** Oldest first. */
  waiting(): readonly Question[]
  /** The group of questions that were asked together. Undefined: it was asked alone, or has ended. */
  groupOf(id: string): string | undefined
  /** The question with this id. @throws ApiError 404, or 409 with how it ended */
  get(id: string): Question
  /** The first answer counts. @throws ApiError 404, 409 with how it ended, or 400 for a scope that was not offered */
  answer(id: string, answer: Answer): void
  /** Returns the function that ends it. */
  listen(listener: QuestionListener): () => void
}

/** Options for `consoleAsker`. */
export interface ConsoleAskerOptions {
  /** Questions that wait at the same time. A further one fails. Default: 256. */
  maxWaiting?: number
  /** Milliseconds since 1970. Default: the system time. */
  now?(): number
}

interface Parked {
  question: Question
  group: string | undefined
  settle(answer: Answer): void
}

/** How many ended questions are remembered, to say who was first. */
const MAX_ENDED = 256

/**
 * An asker that parks questions until a page answers. Combine it with another asker, and the first answer counts.
 *
 * @example
 * const asker = consoleAsker()
 * const host = await createHost({ ask: firstOf(terminal, asker) })
 */
export function consoleAsker(options: ConsoleAskerOptions = {}): ConsoleAsker {
  checkOptions('consoleAsker', options, { maxWaiting: 1, now: 1 })
  const { maxWaiting = 256, now = Date.now } = options
  const parked = new Map<string, Parked>()
  const ended = new BoundedMap<string, QuestionEnd>(MAX_ENDED)
  const listeners = new Set<QuestionListener>()

  const end = (how: QuestionEnd): void => {
    parked.delete(how.id)
    ended.set(how.id, how)
    for (const listener of [...listeners]) listener.onEnded(how)
  }
  const get = (id: string): Parked => {
    const found = parked.get(id)
    const over = ended.get(id)
    if (found && now() <= found.question.expiresAt) return found
    if (found) throw conflict('The time to answer this question is over')
    if (over) throw conflict(endText(over))
    throw notFound(`No question has the id ${JSON.stringify(id)}`)
  }

  const park = async (question: Question, signal: AbortSignal, group?: string): Promise<Answer> => {
    signal.throwIfAborted()
    if (parked.size >= maxWaiting) throw new McpError('ERR_LIMIT', `${maxWaiting} questions wait in the console already (maxWaiting)`)
    return new Promise<Answer>((resolve, reject) => {
      const onAbort = (): void => {
        end({ id: question.id, how: 'ended', reason: reasonOf(signal) })
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      parked.set(question.id, {
        question,
        group,
        settle: (answer) => {
          signal.removeEventListener('abort', onAbort)
          end({ id: question.id, how: 'answered', answer: answer.kind })
          resolve(answer)
        },
      })
      for (const listener of [...listeners]) listener.onAsked(question)
    })
  }

  return {
    ask: (question, signal) => park(question, signal),
    askTogether: (questions, signal) => {
      const group = randomUUID()
      return questions.map((question) => park(question, signal, group))
    },
    groupOf: (id) => parked.get(id)?.group,
    waiting: () => [...parked.values()].map(({ question }) => question),
    get: (id) => get(id).question,
    answer: (id, answer) => {
      const { question, settle } = get(id)
      checkScope(question, answer)
      settle(answer)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function endText({ how, answer, reason }: QuestionEnd): string {
  if (how === 'answered') return `This question was answered already, with ${JSON.stringify(answer)}`
  return `This question has ended${reason === undefined ? '' : `: ${reason}`}`
}

/** Also for the reason that a signal has by default, which says nothing. */
const NOT_NEEDED = 'The answer is no longer needed'

const reasonOf = ({ reason }: AbortSignal): string =>
  reason instanceof Error && reason.name !== 'AbortError' ? reason.message : NOT_NEEDED

/** An approval must not last longer, or cover more, than the question offered. */
function checkScope({ scopes, widths, always }: Question, answer: Answer): void {
  if (answer.kind !== 'allow') return
  const allScopes = [...scopes, ...(always ? [always.scope] : [])]
  const allWidths = [...widths, ...(always ? [always.width] : [])]
  if (answer.scope !== 'once' && !allScopes.includes(answer.scope))
    throw invalid(`scope: expected one of the offered ones (${allScopes.join(', ') || 'once'}), got ${JSON.stringify(answer.scope)}`)
  if (answer.width !== undefined && !allWidths.includes(answer.width))
    throw invalid(`width: expected one of the offered ones (${allWidths.join(', ') || 'none'}), got ${JSON.stringify(answer.width)}`)
}
