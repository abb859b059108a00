/** One of our requests that waits for its answer. */

import { Deadline } from '../base/deadlines.ts'
import type { Id, Params } from './message.ts'

export interface RequestOptions {
  /** Writes the message. */
  write(json: string): void
  signal?: AbortSignal | undefined
  /** The request fails after this time without an answer or a sign of life. */
  timeoutMs: number
  /** The request fails after this time in any case. */
  maxTotalMs: number
  /** Called when we stop waiting for the answer, so that the peer can be told. */
  onGiveUp?: ((id: Id, reason: string, method: string) => void) | undefined
  /** Converts the result. */
  read?: ((result: Params) => Params) | undefined
}

/** It is its own deadline, so that a request needs one object only. */
export class Pending extends Deadline {
  readonly id: Id
  readonly method: string
  readonly options: RequestOptions
  readonly resolve: (result: Params) => void
  readonly reject: (error: unknown) => void
  readonly endsAt: number
  readonly #expire: (pending: Pending) => void
  touchedAt: number
  sibling: Pending | undefined
  unwatch: (() => void) | undefined

  constructor(
    id: Id,
    method: string,
    options: RequestOptions,
    now: number,
    resolve: (result: Params) => void,
    reject: (error: unknown) => void,
    expire: (pending: Pending) => void,
  ) {
    super()
    this.id = id
    this.method = method
    this.options = options
    this.resolve = resolve
    this.reject = reject
    this.touchedAt = now
    this.endsAt = now + options.maxTotalMs
    this.#expire = expire
  }

  fire(): void {
    this.#expire(this)
  }
}
