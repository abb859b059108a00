/**
 * Questions in stateless requests: the handler runs again from the start in each round. Earlier answers and steps come
 * from the journal. The first question without an answer ends the round.
 */

import { randomId } from '../../base/bytes.ts'
import { isObject } from '../../base/json.ts'
import { counted } from '../../base/text/counted.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { jsonOf } from '../../jsonrpc/write.ts'
import { McpError } from '../../protocol/errors.ts'
import type { KeyRing } from '../../protocol/interfaces/replaceable-services.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { ServerLimits } from '../limits.ts'
import { type Asker, Names, requireCapabilities } from './asker.ts'
import { digestOf, type Journal, type JournalOwner, newJournal, sealJournal } from './journal.ts'
import { describeAnswerIssues, type Question } from './question.ts'

/** Rounds of questions in one call. A person loses patience sooner, and several questions fit into one round. */
const MAX_ROUNDS = 10

export interface ReplayOptions {
  owner: JournalOwner
  capabilities: ClientCapabilities
  keys: KeyRing
  limits: ServerLimits
  /** The journal of the previous rounds, if any. */
  journal: Journal | undefined
  /** The answers that the client sent in this round. */
  responses: unknown
  /** Runs a step, unless another run of this round has done so. */
  step: ((name: string, run: () => Promise<string>) => Promise<string>) | undefined
  /** Ends the round with a result that contains the questions, or with an error. */
  onSuspend(outcome: Promise<Params>): void
}

/** Thrown into a handler that must wait for answers. Its `finally` blocks run. Its result or error is then ignored. */
export class Suspended extends Error {
  override readonly name = 'Suspended'
}

export class ReplayAsker implements Asker {
  readonly #options: ReplayOptions
  readonly journal: Journal
  readonly #responses: Record<string, unknown>
  readonly names = new Names()
  readonly #open = new Map<string, { request: InputRequest; unwind: (error: Suspended) => void }>()
  /** The number of running steps and lookups. The round ends after them. */
  #busy = 0
  #isScheduled = false
  #isSuspended = false

  constructor(options: ReplayOptions) {
    this.#options = options
    this.journal = options.journal ?? newJournal(randomId())
    this.#responses = isObject(options.responses) ? options.responses : {}
  }

  get callId(): string {
    return this.journal.callId
  }

  async ask<Answer>(key: string, question: Question<Answer>): Promise<Answer> {
    this.#begin(key)
    requireCapabilities(question.needs, { name: this.#options.owner.target, capabilities: this.#options.capabilities })
    const known = await this.#busily(() => this.#answerTo(key, question))
    if (known) return known.value
    return new Promise<Answer>((_, reject) => {
      this.#open.set(key, { request: question.request, unwind: reject })
      this.#scheduleSuspension()
    })
  }

  /**
   * The answer of this or an earlier round, if it is for exactly this question. A first round may contain answers too: no
   * other question was asked that they could belong to. Throws for an answer to our question that is not valid: a program
   * would give the same answer again and again.
   */
  async #answerTo<Answer>(key: string, question: Question<Answer>): Promise<{ value: Answer } | undefined> {
    const { asked, answers, round } = this.journal
    if (round > 0 && !Object.hasOwn(asked, key)) return undefined
    if (round === 0 && !Object.hasOwn(this.#responses, key)) return undefined
    const digest = await digestOf(question.request)
    if (round > 0 && asked[key] !== digest) return undefined
    const raw = Object.hasOwn(answers, key) ? answers[key] : Object.hasOwn(this.#responses, key) ? this.#responses[key] : undefined
    if (raw === undefined) return undefined
    const checked = await question.read(raw)
    if (!checked.ok) {
      if (round === 0) return undefined
      throw new McpError('ERR_INVALID_PARAMS', describeAnswerIssues(question, checked.issues))
    }
    answers[key] = raw
    asked[key] = digest
    return { value: checked.value }
  }

  async once<T>(key: string, step: () => T | Promise<T>): Promise<T> {
    this.#begin(key)
    const { steps } = this.journal
    if (Object.hasOwn(steps, key)) return steps[key] as T
    return this.#busily(async () => {
      // Convert through JSON, so that this round gets the same value as the next one: not a Date now and a string later.
      const run = async (): Promise<string> => stepJson(key, (await step()) ?? null)
      steps[key] = JSON.parse(await (this.#options.step ? this.#options.step(key, run) : run()))
      return steps[key] as T
    })
  }

  async #busily<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      if (this.#open.size > 0) this.#scheduleSuspension()
    }
  }

  #begin(key: string): void {
    if (this.#isSuspended) throw new Suspended()
    this.names.claim(key)
  }

  /** Waits for running steps and for the end of this turn, so that questions asked together are sent together. */
  #scheduleSuspension(): void {
    if (this.#isScheduled || this.#isSuspended) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      if (this.#busy === 0 && !this.#isSuspended) this.#suspend()
    }, 0)
  }

  #suspend(): void {
    this.#isSuspended = true
    this.#options.onSuspend(this.#questions())
    for (const { unwind } of this.#open.values()) unwind(new Suspended())
  }

  async #questions(): Promise<Params> {
    const { limits, owner, keys } = this.#options
    const journal = this.journal
    if (journal.round >= MAX_ROUNDS) {
      throw new McpError(
        'ERR_LIMIT',
        `The call has asked questions in ${counted(journal.round, 'round')}, the maximum; ask several questions in one round`,
      )
    }
    const asked: Record<string, string> = {}
    for (const key of Object.keys(journal.answers)) asked[key] = journal.asked[key] as string
    const inputRequests: Record<string, InputRequest> = {}
    for (const [key, { request }] of this.#open) {
      inputRequests[key] = request
      asked[key] = await digestOf(request)
    }
    const next: Journal = { ...journal, round: journal.round + 1, asked }
    return { resultType: 'input_required', inputRequests, requestState: await sealJournal(next, owner, keys, limits) }
  }
}

export function stepJson(key: string, value: unknown): string {
  try {
    return jsonOf(value)
  } catch (cause) {
    throw new TypeError(`The step ${JSON.stringify(key)} returned a value that is not JSON`, { cause })
  }
}
