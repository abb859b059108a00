/** Questions and steps of a handler that may become a task: first as in a plain call, then through the task. */

import { jsonOf } from '../../jsonrpc/write.ts'
import type { TaskJournal, TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import { type Asker, Names, requireCapabilities } from '../input/asker.ts'
import { digestOf } from '../input/journal.ts'
import type { Question } from '../input/question.ts'
import { type ReplayAsker, Suspended, stepJson } from '../input/replay.ts'
import { answersTooLarge } from './kept-outcome.ts'

/** The task that a `TaskAsker` asks for. */
export interface AskingTask {
  tool: string
  /** Those of the client that made the call. */
  capabilities: ClientCapabilities
  /** The most characters of all answers and steps. */
  maxChars: number
  /** Stores the questions. Rejects when the task has ended. */
  ask(questions: Record<string, InputRequest>): Promise<void>
  /** Stores the value of a step. */
  keep(steps: Record<string, unknown>): Promise<void>
}

interface OpenQuestion {
  question: Question
  digest: string
  resolve(answer: unknown): void
  reject(error: unknown): void
  /** The error that is to continue the handler, while the store has not confirmed that the question is closed. */
  refusal?: { error: unknown }
}

/** Asks through the task. A restarted handler gets the answers and steps of its journal. */
export class TaskAsker implements Asker {
  readonly #task: AskingTask
  readonly #journal: TaskJournal
  readonly #names: Names
  readonly #open = new Map<string, OpenQuestion>()
  #unsaved: Record<string, InputRequest> | undefined
  #stopped: { reason: unknown } | undefined

  constructor(task: AskingTask, journal: TaskJournal, names = new Names()) {
    this.#task = task
    this.#journal = journal
    this.#names = names
  }

  get callId(): string {
    return this.#journal.callId
  }

  async ask<Answer>(key: string, question: Question<Answer>): Promise<Answer> {
    this.#names.claim(key)
    const { tool: name, capabilities } = this.#task
    // Folders are those of the client that made the call. Other questions wait for a client that can answer them.
    if (question.needs.roots) requireCapabilities(question.needs, { name, capabilities })
    const { asked, answers } = this.#journal
    const digest = await digestOf(question.request)
    if (Object.hasOwn(answers, key) && asked[key] === digest) {
      const known = await question.read(answers[key])
      if (known.ok) return known.value
    }
    return new Promise<Answer>((resolve, reject) => {
      if (this.#stopped) return reject(this.#stopped.reason as Error)
      this.#open.set(key, { question, digest, resolve: resolve as (answer: unknown) => void, reject })
      this.#save(key, question.request)
    })
  }

  async once<T>(key: string, step: () => T | Promise<T>): Promise<T> {
    this.#names.claim(key)
    const { steps } = this.#journal
    if (Object.hasOwn(steps, key)) return steps[key] as T
    const value = JSON.parse(stepJson(key, (await step()) ?? null)) as T
    this.checkSize(value)
    steps[key] = value
    await this.#task.keep({ [key]: value })
    return value
  }

  /** Stores a step that began before there was a task. */
  async adopt(key: string): Promise<void> {
    if (Object.hasOwn(this.#journal.steps, key)) await this.#task.keep({ [key]: this.#journal.steps[key] })
  }

  /** Throws ERR_LIMIT if the journal has no room for the value. */
  checkSize(value: unknown): void {
    const { maxChars } = this.#task
    const chars = jsonOf([this.#journal, value]).length
    if (chars > maxChars) throw answersTooLarge(chars, maxChars)
  }

  open(key: string): OpenQuestion | undefined {
    return this.#open.get(key)
  }

  /** Continues the handler with the answer. */
  settle(key: string, raw: unknown, value: unknown): void {
    const open = this.#open.get(key)
    if (!open) return
    this.#open.delete(key)
    this.#journal.asked[key] = open.digest
    this.#journal.answers[key] = raw
    open.resolve(value)
  }

  /** Continues the handler with an error. */
  fail(key: string, error: unknown): void {
    const open = this.#open.get(key)
    this.#open.delete(key)
    open?.reject(error)
  }

  /** Continues the handler with the answers of the stored task, and with the errors of questions that it no longer has. */
  async catchUp({ questions, journal }: TaskRecord): Promise<void> {
    for (const [key, { question, digest, refusal }] of [...this.#open]) {
      const raw = journal.asked[key] === digest ? journal.answers[key] : undefined
      const read = raw === undefined ? undefined : await question.read(raw)
      if (read?.ok) this.settle(key, raw, read.value)
      else if (refusal && !Object.hasOwn(questions, key)) this.fail(key, refusal.error)
    }
  }

  /** Rejects all questions, because the task has ended. */
  stop(reason: unknown): void {
    this.#stopped = { reason }
    for (const key of [...this.#open.keys()]) this.fail(key, reason)
  }

  /** Questions that are asked in one turn are stored together, so that the client sees all of them. */
  #save(key: string, request: InputRequest): void {
    if (this.#unsaved) {
      this.#unsaved[key] = request
      return
    }
    const unsaved: Record<string, InputRequest> = { [key]: request }
    this.#unsaved = unsaved
    setTimeout(() => {
      this.#unsaved = undefined
      this.#task.ask(unsaved).catch((error: unknown) => {
        for (const name of Object.keys(unsaved)) this.fail(name, error)
      })
    }, 0)
  }
}

/** Asks as in a plain call until the call becomes a task. */
export class SwitchingAsker implements Asker {
  #plain: Asker | undefined
  #task: TaskAsker | undefined
  /** While the task is being created, new questions and steps wait for it. */
  #switching: Promise<unknown> | undefined
  #asking = 0

  constructor(first: Asker | TaskAsker) {
    if (first instanceof TaskAsker) this.#task = first
    else this.#plain = first
  }

  get task(): TaskAsker | undefined {
    return this.#task
  }

  get callId(): string {
    return this.#current.callId
  }

  get #current(): Asker {
    return this.#task ?? (this.#plain as Asker)
  }

  /** False while a question is open, and after it has ended the call: the client answers it with its next request. */
  get canSwitch(): boolean {
    return this.#asking === 0
  }

  async ask<Answer>(key: string, question: Question<Answer>): Promise<Answer> {
    if (this.#switching) await this.#switching
    if (this.#task) return this.#task.ask(key, question)
    this.#asking++
    try {
      const answer = await this.#current.ask(key, question)
      this.#asking--
      return answer
    } catch (error) {
      if (!(error instanceof Suspended)) this.#asking--
      throw error
    }
  }

  async once<T>(key: string, step: () => T | Promise<T>): Promise<T> {
    if (this.#switching) await this.#switching
    const before = this.#task
    const value = await this.#current.once(key, step)
    // The step began in the plain call and ended in the task, which must remember it.
    if (this.#switching) await this.#switching
    if (!before && this.#task) await this.#task.adopt(key)
    return value
  }

  /** The answers and steps so far, for the task that continues the call. */
  handOver(): { journal: TaskJournal; names: Names } {
    const { journal, names } = this.#plain as ReplayAsker
    return { journal, names }
  }

  /** @param created resolves with the asker of the task, or undefined if there is none */
  switchTo(created: Promise<TaskAsker | undefined>): void {
    this.#switching = created.then(
      (task) => {
        this.#task = task
        this.#switching = undefined
      },
      () => {
        this.#switching = undefined
      },
    )
  }
}
