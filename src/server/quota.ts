/** Rate limits per caller. */

import { BoundedMap } from '../base/bounded-map.ts'
import { Bucket, type Rate } from '../base/rate.ts'
import { McpError } from '../protocol/errors.ts'
import type { SharedServices } from '../protocol/interfaces/replaceable-services.ts'
import type { ServerLimits } from './limits.ts'

type Metered = 'toolCalls' | 'completions' | 'logMessages' | 'taskRequests'

export interface QuotaSurroundings {
  readonly limits: ServerLimits
  /** Set if replicas count together. */
  readonly shared: SharedServices | undefined
  now(): number
}

/** The rate limits of one caller. Buckets are created on first use. */
export class Quota {
  readonly #around: QuotaSurroundings
  /** Undefined for a connection, which only this process serves. */
  readonly account: string | undefined
  /** Where tasks are counted: all sessions of one address together. */
  taskAccount: string | undefined
  readonly #buckets = new Map<Metered, Bucket>()

  constructor(around: QuotaSurroundings, account?: string, taskAccount = account) {
    this.#around = around
    this.account = account
    this.taskAccount = taskAccount
  }

  /**
   * Throws ERR_RATE_LIMITED with the time to wait. Returns a promise if the other replicas have to be asked; it rejects with
   * ERR_STORE_DOWN if that is not possible.
   */
  spend(what: 'toolCalls' | 'completions' | 'taskRequests', rate: Rate | false, tokens = 1): undefined | Promise<void> {
    if (rate === false) return undefined
    const { shared } = this.#around
    const wait =
      shared && this.account !== undefined ? shared.rates.take(`${what} ${this.account}`, rate, tokens) : this.#take(what, rate, tokens)
    if (wait === 0) return undefined
    if (typeof wait === 'number') throw tooFast(what, rate, wait)
    return wait.then((retryAfterMs) => {
      if (retryAfterMs > 0) throw tooFast(what, rate, retryAfterMs)
    })
  }

  /** Whether one more log message may be sent. Each process counts those that it sends. */
  mayLog(): boolean {
    const rate = this.#around.limits.logMessages
    return rate === false || this.#take('logMessages', rate, 1) === 0
  }

  #take(what: Metered, rate: Rate, tokens: number): number {
    const now = this.#around.now()
    let bucket = this.#buckets.get(what)
    if (!bucket) {
      bucket = new Bucket(rate, now)
      this.#buckets.set(what, bucket)
    }
    return bucket.take(now, tokens)
  }
}

const tooFast = (what: string, { perSecond, burst }: Rate, retryAfterMs: number): McpError =>
  new McpError('ERR_RATE_LIMITED', `Too many requests: ${perSecond} a second, ${burst} at once (limits.${what})`, {
    data: { reason: 'rate-limited', limit: what, retryAfterMs },
  })

/** A limit on memory: beyond it the oldest account is forgotten, and starts with full buckets when it returns. */
const MAX_ACCOUNTS = 10_000

/** One quota per account, shared by all sessions and stateless requests of that account. */
export class Quotas {
  readonly #around: QuotaSurroundings
  readonly #quotas = new BoundedMap<string, Quota>(MAX_ACCOUNTS)

  constructor(around: QuotaSurroundings) {
    this.#around = around
  }

  of(account: string, taskAccount?: string): Quota {
    let quota = this.#quotas.get(account)
    if (!quota) {
      quota = new Quota(this.#around, account)
      this.#quotas.set(account, quota)
    }
    // A session may begin without an address, and continue from another one.
    if (taskAccount !== undefined) quota.taskAccount = taskAccount
    return quota
  }
}
