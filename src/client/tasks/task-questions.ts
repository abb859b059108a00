/** Answers the questions of one task, in the form where the client reads them with the task. */

import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { Answerer, Asking } from '../answer-server.ts'
import { questionsIn } from '../rounds.ts'

/** Questions of one task, over its whole life. A server that asks more often probably asks the same again. */
const MAX_QUESTIONS = 320
/** Keys are remembered as long as the task is followed. */
const MAX_KEY_CHARS = 1024

/** The error of a call whose task asks what this client cannot answer. */
export const cannotAnswer = (taskId: string, requiredCapabilities: Params): McpError =>
  new McpError(
    'ERR_CAPABILITY_MISSING',
    `The task asks a question that this client cannot answer (${Object.keys(requiredCapabilities).join(', ').slice(0, 100)}), so the call cancels it. Set \`answer\`, or let another client answer: callTask and resumeTask`,
    { data: { taskId, requiredCapabilities } },
  )

export interface QuestionEvents {
  /** Sends answers, by key. */
  send(answers: Params): Promise<void>
  onFailure(error: unknown): void
}

export class TaskQuestions {
  readonly #asking: Pick<Asking, 'server' | 'task'>
  readonly #answerer: Answerer
  readonly #events: QuestionEvents
  /** Keys that were asked before. A key is answered once, however often a poll shows it. */
  readonly #asked = new Set<string>()
  readonly #open = new Map<string, AbortController>()

  constructor(asking: Pick<Asking, 'server' | 'task'>, answerer: Answerer, events: QuestionEvents) {
    this.#asking = asking
    this.#answerer = answerer
    this.#events = events
  }

  /** Takes the questions that are open now. Throws if they are malformed or too many. */
  take(requests: unknown): void {
    const questions = questionsIn('tasks/get', requests)
    const fresh = questions.filter(([key]) => !this.#asked.has(key))
    if (this.#asked.size + fresh.length > MAX_QUESTIONS)
      throw new McpError('ERR_LIMIT', `The task asked more than ${MAX_QUESTIONS} questions`)
    const long = fresh.find(([key]) => key.length > MAX_KEY_CHARS)
    if (long) throw new McpError('ERR_LIMIT', `The key of a question has ${long[0].length} characters; at most ${MAX_KEY_CHARS}`)
    const keys = new Set(questions.map(([key]) => key))
    for (const key of [...this.#open.keys()]) if (!keys.has(key)) this.#withdraw(key)
    if (fresh.length > 0) void this.#answerTogether(fresh)
  }

  /** Ends all open questions: the task no longer waits for them. */
  withdrawAll(): void {
    for (const key of [...this.#open.keys()]) this.#withdraw(key)
  }

  #withdraw(key: string): void {
    const controller = this.#open.get(key)
    this.#open.delete(key)
    controller?.abort(new DOMException('The task no longer waits for the answer', 'AbortError'))
  }

  /** Answers that were asked for together are sent together, because a server may want all of them at once. */
  async #answerTogether(questions: readonly (readonly [string, InputRequest])[]): Promise<void> {
    const signals = questions.map(([key]) => {
      const controller = new AbortController()
      this.#asked.add(key)
      this.#open.set(key, controller)
      return controller.signal
    })
    try {
      const answers: Params = {}
      await Promise.all(
        questions.map(async ([key, request], index) => {
          const signal = signals[index] as AbortSignal
          try {
            answers[key] = await this.#answerer.answer(request, { ...this.#asking, signal })
          } catch (error) {
            if (!signal.aborted) throw error
          }
        }),
      )
      const open = Object.fromEntries(Object.entries(answers).filter(([key]) => this.#open.has(key)))
      if (Object.keys(open).length > 0) await this.#events.send(open)
      for (const key of Object.keys(open)) this.#open.delete(key)
    } catch (error) {
      this.#events.onFailure(error)
    }
  }
}
