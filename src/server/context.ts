/** The context of a handler. Its parts are created on first use. */

import { isObject } from '../base/json.ts'
import { Bucket } from '../base/rate.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { Cancelled, Declined } from '../protocol/errors.ts'
import type { Meta, ProgressToken } from '../protocol/model/base.ts'
import { isProgressToken } from '../protocol/model/progress.ts'
import type { Root } from '../protocol/model/roots.ts'
import type { CreateMessageParams, CreateMessageResult } from '../protocol/model/sampling.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { AnySchema, ObjectOf } from '../protocol/schema/any-schema.ts'
import type { FeatureEnvironment } from './feature-environment.ts'
import type { Caller, IncomingCall } from './incoming-call.ts'
import { form, page, type Question, rootList, sampling } from './input/question.ts'
import type { Log } from './logging.ts'

/** The questions of one `ctx.ask`, by name. */
export type Questions = Record<string, Question>
/** The answers to the questions of one `ctx.ask`, by name. */
export type AnswersTo<Q extends Questions> = { [K in keyof Q]: Q[K] extends Question<infer A> ? A : never }

/**
 * The second argument of every handler: the caller, and ways to report progress and to ask questions.
 *
 * @example
 * server.tool('import', {}, async (_args, ctx) => {
 *   for (let done = 1; done <= 10; done++) {
 *     ctx.signal.throwIfAborted()
 *     await importPart(done)
 *     await ctx.progress(done, 10)
 *   }
 *   return 'Imported'
 * })
 */
export interface Context {
  /** The arguments as sent, before validation. */
  readonly arguments: Record<string, unknown>
  /** The caller of this request. */
  readonly caller: Caller
  /** Aborts when the client cancels or disconnects, or when the time limit is reached. */
  readonly signal: AbortSignal
  /** The metadata of the request. */
  readonly meta: Meta
  /** The trace that the request belongs to, without invalid values. Undefined if there is none. */
  readonly trace: TraceContext | undefined
  /**
   * Identifies the call. It stays the same when a stateless call takes several rounds, so it can be an idempotency key.
   *
   * @example
   * await payments.charge(amount, { idempotencyKey: ctx.callId })
   */
  readonly callId: string
  /**
   * Sends log messages to the client.
   *
   * @example
   * ctx.log.warning({ message: 'Slow response', ms: 1200 })
   *
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  readonly log: Log
  /**
   * Reports progress. Does nothing when the client did not ask for it, or when the value does not grow. Throws a TypeError
   * for NaN and Infinity.
   *
   * @example
   * await ctx.progress(3, 10, 'Third of ten files')
   */
  progress(progress: number, total?: number, message?: string): Promise<void>
  /**
   * For long work: allows the client to disconnect and fetch the answer later, if revision and transport support it. Does
   * nothing otherwise.
   *
   * @example
   * ctx.release()
   * return await slowReport()
   */
  release(): void
  /**
   * Asks the person to fill in a form. Throws `Declined` or `Cancelled` if they do not.
   *
   * @example
   * const { city } = await ctx.elicit('city', 'Which city?', z.object({ city: z.string() }))
   *
   * @param name identifies the question within this call
   */
  elicit<S extends AnySchema>(name: string, message: string, schema: S): Promise<ObjectOf<S>>
  /**
   * Asks the person to visit a page. Resolves when they agree, throws `Declined` or `Cancelled` if they do not.
   *
   * @example
   * await ctx.elicitUrl('connect', 'Connect your calendar', 'https://example.com/connect')
   */
  elicitUrl(name: string, message: string, url: string, options?: { elicitationId?: string }): Promise<void>
  /**
   * Asks the client's model for a message.
   *
   * @example
   * const answer = await ctx.sample('title', { messages: [{ role: 'user', content: text('Suggest a title') }], maxTokens: 50 })
   *
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Call a model provider directly.
   */
  sample(name: string, params: CreateMessageParams): Promise<CreateMessageResult>
  /**
   * The folders that the client lets the server work in.
   *
   * @example
   * const [root] = await ctx.roots()
   *
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use tool arguments, resource URIs or configuration.
   */
  roots(): Promise<Root[]>
  /**
   * Asks several questions at once. Does not throw when the person declines: the answers contain the action.
   *
   * @example
   * const { name, agreed } = await ctx.ask({
   *   name: form('Your name?', z.object({ name: z.string() })),
   *   agreed: page('Read the terms', 'https://example.com/terms'),
   * })
   */
  ask<Q extends Questions>(questions: Q): Promise<AnswersTo<Q>>
  /**
   * Runs `step` once per call and remembers its JSON value. Use it for side effects, time and random values before a
   * question: a stateless call runs the handler again in each round.
   *
   * @example
   * const orderId = await ctx.once('order', () => orders.create())
   */
  once<T>(name: string, step: () => T | Promise<T>): Promise<T>
}

const DONE = Promise.resolve()

export class CallContext implements Context {
  readonly #call: IncomingCall
  readonly #environment: FeatureEnvironment
  readonly #progressToken: ProgressToken | undefined
  #log: Log | undefined
  #progress = Number.NEGATIVE_INFINITY
  #progressBucket: Bucket | undefined

  constructor(call: IncomingCall, environment: FeatureEnvironment) {
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

/** A handler may not await the promise. Its rejection, when the call is suspended or cancelled, must not end the process. */
function ignoringRejection<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => {})
  return promise
}

function accepted<A extends { action: string }>(answer: A, message: string): Extract<A, { action: 'accept' }> {
  if (answer.action === 'accept') return answer as Extract<A, { action: 'accept' }>
  if (answer.action === 'decline') throw new Declined(`The person declined: ${message}`)
  throw new Cancelled(`The person dismissed the question: ${message}`)
}

function checkFinite(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw new TypeError(`${name} must be a finite number, not ${String(value)}`)
}
