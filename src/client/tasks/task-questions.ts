/** Answers the questions of one task, in the form where the client reads them with the task. */

import { orAborted } from '../../base/wait.ts'
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
  /**
   * Keys that were asked before. A key is answered once, however often a poll shows it. A key that was withdrawn without an answer is
   * forgotten: a server that was restarted asks it again.
   */
  readonly #asked = new Set<string>()
  /** How many questions were asked. */
  #count = 0
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
    if (this.#count + fresh.length > MAX_QUESTIONS) throw new McpError('ERR_LIMIT', `The task asked more than ${MAX_QUESTIONS} questions`)
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
    this.#asked.delete(key)
    controller?.abort(new DOMException('The task no longer waits for the answer', 'AbortError'))
  }

  /** Answers that were asked for together are sent together, because a server may want all of them at once. */
  async #answerTogether(questions: readonly (readonly [string, InputRequest])[]): Promise<void> {
    this.#count += questions.length
    const signals = questions.map(([key]) => {
      const controller = new AbortController()
      this.#asked.add(key)
      this.#open.set(key, controller)
      return controller.signal
    })
    try {
      const answers = new Map<string, Params>()
      await Promise.all(
        questions.map(async ([key, request], index) => {
          const signal = signals[index] as AbortSignal
          try {
            // A handler may ignore its signal. The answers to the other questions do not wait for it.
            answers.set(key, await orAborted(this.#answerer.answer(request, { ...this.#asking, signal }), signal))
          } catch (error) {
            if (!signal.aborted) throw error
          }
        }),
      )
      // A question that was withdrawn may have been asked again meanwhile. Then its first answer does not count.
      for (const [index, [key]] of questions.entries()) if (signals[index]?.aborted) answers.delete(key)
      for (const key of answers.keys()) this.#open.delete(key)
      if (answers.size > 0) await this.#events.send(Object.fromEntries(answers))
    } catch (error) {
      this.#events.onFailure(error)
    }
  }
}
