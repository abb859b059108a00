/** Answers to the questions of tasks: given to the handler that waits for them here, or kept until a handler asks for them. */

import { McpError } from '../../protocol/errors.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { describeAnswerIssues } from '../input/question.ts'
import { isRefusal } from './kept-outcome.ts'
import { keyOf, type TaskKey } from './owner.ts'
import { checkReceived, refusalIn, refusalOf } from './received-answers.ts'
import type { Running } from './task-run.ts'
import type { TaskTable } from './task-table.ts'
import { answer, heldBy, receive, type Transition, withdraw } from './transitions.ts'

export interface TaskAnswersOptions {
  table: TaskTable
  /** The tasks that this process runs. */
  runs: ReadonlyMap<string, Running>
  maxTaskBytes: number
  /** Tells the handler what the store knows. */
  follow(running: Running): Promise<void>
  followLater(running: Running): void
}

export class TaskAnswers {
  readonly #options: TaskAnswersOptions

  constructor(options: TaskAnswersOptions) {
    this.#options = options
  }

  /** Gives answers to the handler. Answers to questions that are not open are ignored; invalid ones are refused. */
  async deliver(task: TaskRecord, responses: Record<string, unknown>): Promise<void> {
    const { runs, maxTaskBytes, follow } = this.#options
    const running = runs.get(keyOf(task))
    const asker = running?.run.asker.task
    const others = Object.fromEntries(Object.entries(responses).filter(([name]) => !asker?.open(name)))
    if (Object.keys(others).length > 0) {
      await checkReceived(task, others, maxTaskBytes)
      await this.#receive(task, others)
    }
    if (!running || !asker) return
    const { lease } = running.task
    const checked = []
    for (const [name, raw] of Object.entries(responses)) {
      const open = Object.hasOwn(others, name) ? undefined : asker.open(name)
      if (!open) continue
      const read = await open.question.read(raw)
      if (!read.ok) throw new McpError('ERR_INVALID_PARAMS', describeAnswerIssues(open.question, read.issues))
      asker.checkSize(raw)
      checked.push({ name, raw, digest: open.digest, value: read.value })
    }
    for (const { name, raw, digest, value } of checked)
      if (await this.#change(task, heldBy(lease, answer(name, digest, raw)))) asker.settle(name, raw, value)
      // The store may have an answer whose reply was lost.
      else await follow(running)
  }

  /** Continues the handler with an error instead of an answer. */
  async refuse(key: TaskKey, name: string, error: unknown): Promise<void> {
    const running = this.#options.runs.get(keyOf(key))
    const asker = running?.run.asker.task
    const open = asker?.open(name)
    if (!running || !asker || !open) return this.#receive(key, { [name]: refusalOf(error) })
    open.refusal = { error }
    if (await this.#change(key, withdraw(name))) asker.fail(name, error)
    else await this.#options.follow(running)
  }

  /** Gives the answers that were kept to the handler, if it runs here and waits for them. */
  async takeReceived(task: TaskRecord): Promise<void> {
    const asker = this.#options.runs.get(keyOf(task))?.run.asker.task
    for (const [name, raw] of Object.entries(task.received)) {
      if (!asker?.open(name)) continue
      const refusal = refusalIn(raw)
      const taken = refusal ? this.refuse(task, name, refusal) : this.deliver(task, { [name]: raw })
      await taken.catch((error: unknown) => (isRefusal(error) ? this.refuse(task, name, error) : undefined))
    }
  }

  /** Keeps answers until the handler asks for them. It may have done so meanwhile. */
  async #receive(key: TaskKey, answers: Record<string, unknown>): Promise<void> {
    const kept = await this.#change(key, receive(answers))
    if (kept) await this.takeReceived(kept)
  }

  async #change(key: TaskKey, transition: Transition): Promise<TaskRecord | undefined> {
    const { table, runs, followLater } = this.#options
    try {
      return await table.change(key, transition)
    } catch (error) {
      // The store may have changed the task all the same.
      const running = runs.get(keyOf(key))
      if (running) followLater(running)
      throw error
    }
  }
}
