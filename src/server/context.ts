/** What a handler is given beside its arguments. Everything in it is made when first used. */

import { isObject } from '../base/json.ts'
import { Bucket } from '../base/rate.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { Cancelled, Declined } from '../protocol/errors.ts'
import type { Meta, ProgressToken } from '../protocol/model/base.ts'
import { isProgressToken } from '../protocol/model/progress.ts'
import type { Root } from '../protocol/model/roots.ts'
import type { CreateMessageParams, CreateMessageResult } from '../protocol/model/sampling.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { AnySchema, ObjectOf } from '../protocol/schema/port.ts'
import type { Call, Caller } from './call.ts'
import type { FeatureEnvironment } from './feature-environment.ts'
import type { Log } from './features/logging.ts'
import { form, page, type Question, rootList, sampling } from './input/question.ts'

/** The questions of one `ask`, by name, and the answers to them. */
export type Questions = Record<string, Question>
export type AnswersTo<Q extends Questions> = { [K in keyof Q]: Q[K] extends Question<infer A> ? A : never }

export interface Context {
  /** What was sent, before any schema has looked at it. */
  readonly arguments: Record<string, unknown>
  readonly caller: Caller
  /** Aborts when the client cancels, goes away, or the time is up. */
  readonly signal: AbortSignal
  /** The request's metadata, as it came. */
  readonly meta: Meta
  /** The trace that the request is part of, checked: what is not valid is left out. Undefined without any. */
  readonly trace: TraceContext | undefined
  /** The same in every round of one call; new for every call. */
  readonly callId: string
  /**
   * Log messages to the client.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  readonly log: Log
  /**
   * Says how far the work is. Does nothing when the client did not ask, or when the value does not grow. Throws a
   * TypeError for a number that JSON cannot write: NaN and Infinity.
   */
  progress(progress: number, total?: number, message?: string): Promise<void>
  /**
   * For work that takes long: the client hangs up and comes back for the answer, where its revision and the transport
   * can do that. Does nothing elsewhere.
   */
  release(): void
  /** Asks the person to fill in a form; throws `Declined` or `Cancelled` when they do not. */
  elicit<S extends AnySchema>(name: string, message: string, schema: S): Promise<ObjectOf<S>>
  /** Asks the person to visit a page; resolves when they agree to, throws `Declined` or `Cancelled` when they do not. */
  elicitUrl(name: string, message: string, url: string, options?: { elicitationId?: string }): Promise<void>
  /**
   * Asks the client's model.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Call a provider of models directly.
   */
  sample(name: string, params: CreateMessageParams): Promise<CreateMessageResult>
  /**
   * The directories the client lets the server work in.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use arguments of tools, URIs of resources or configuration.
   */
  roots(): Promise<Root[]>
  /** Several questions at once, with their plain answers: nothing is thrown when a person declines. */
  ask<Q extends Questions>(questions: Q): Promise<AnswersTo<Q>>
  /** Runs `step` once in the life of the call and remembers its JSON value: for time, randomness and side effects. */
  once<T>(name: string, step: () => T | Promise<T>): Promise<T>
}

const DONE = Promise.resolve()

export class CallContext implements Context {
  readonly #call: Call
  readonly #environment: FeatureEnvironment
  readonly #progressToken: ProgressToken | undefined
  #log: Log | undefined
  #progress = Number.NEGATIVE_INFINITY
  #progressBucket: Bucket | undefined

  constructor(call: Call, environment: FeatureEnvironment) {
    this.#call = call
    this.#environment = environment
    const token = (call.params._meta as Meta | undefined)?.progressToken
    this.#progressToken = isProgressToken(token) ? token : undefined
  }

  get arguments(): Record<string, unknown> {
    const value = this.#call.params.arguments
    return isObject(value) ? value : {}
  }

  get caller(): Caller {
    return this.#call.caller
  }

  get signal(): AbortSignal {
    return this.#call.exchange.signal
  }

  get meta(): Meta {
    return (this.#call.params._meta as Meta | undefined) ?? {}
  }

  get trace(): TraceContext | undefined {
    return this.#call.trace
  }

  get callId(): string {
    return this.#call.asker.callId
  }

  get log(): Log {
    this.#log ??= this.#environment.logging.forCall(this.#call)
    return this.#log
  }

  progress(progress: number, total?: number, message?: string): Promise<void> {
    checkFinite('progress', progress)
    if (total !== undefined) checkFinite('total', total)
    const token = this.#progressToken
    if (token === undefined || !(progress > this.#progress) || this.#call.exchange.isOver) return DONE
    const rate = this.#environment.limits.progressNotices
    if (rate !== false) {
      const now = this.#environment.now()
      this.#progressBucket ??= new Bucket(rate, now)
      if (this.#progressBucket.take(now) > 0) return DONE
    }
    this.#progress = progress
    const params = this.#call.revision.downgradeParams('notifications/progress', { progressToken: token, progress, total, message })
    return this.#call.exchange.push(notificationJson('notifications/progress', params)) ?? DONE
  }

  release(): void {
    this.#call.exchange.release()
  }

  elicit<S extends AnySchema>(name: string, message: string, schema: S): Promise<ObjectOf<S>> {
    return ignoringRejection(async () => accepted(await this.#call.asker.ask(name, form(message, schema)), message).content)
  }

  elicitUrl(name: string, message: string, url: string, options: { elicitationId?: string } = {}): Promise<void> {
    return ignoringRejection(async () => {
      accepted(await this.#call.asker.ask(name, page(message, url, options.elicitationId)), message)
    })
  }

  sample(name: string, params: CreateMessageParams): Promise<CreateMessageResult> {
    return ignoringRejection(async () => this.#call.asker.ask(name, sampling(params)))
  }

  roots(): Promise<Root[]> {
    return ignoringRejection(async () => (await this.#call.asker.ask('roots', rootList())).roots)
  }

  ask<Q extends Questions>(questions: Q): Promise<AnswersTo<Q>> {
    return ignoringRejection(async () => {
      const { asker } = this.#call
      const answers = await Promise.all(
        Object.entries(questions).map(async ([name, question]) => [name, await asker.ask(name, question)] as const),
      )
      return Object.fromEntries(answers) as AnswersTo<Q>
    })
  }

  once<T>(name: string, step: () => T | Promise<T>): Promise<T> {
    return ignoringRejection(async () => this.#call.asker.once(name, step))
  }
}

/** A promise that the handler may leave unwatched: a call that is unwound or cancelled must not end the process. */
function ignoringRejection<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => {})
  return promise
}

function accepted<A extends { action: string }>(answer: A, message: string): Extract<A, { action: 'accept' }> {
  if (answer.action === 'accept') return answer as Extract<A, { action: 'accept' }>
  if (answer.action === 'decline') throw new Declined(`The person declined: ${message}`)
  throw new Cancelled(`The person gave no answer: ${message}`)
}

function checkFinite(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a finite number, not ${String(value)}`)
}
