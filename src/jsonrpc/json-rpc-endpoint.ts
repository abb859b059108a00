/**
 * One side of a JSON-RPC connection: tracks our requests until they settle and the peer's requests until they are
 * answered. It has no transport: the caller passes each message with its outlet, and a function to write each request.
 */

import { asText } from '../base/as-text.ts'
import type { Deadlines } from '../base/deadlines.ts'
import { onAbort } from '../base/on-abort.ts'
import { BatchOutlet } from './batch.ts'
import { Exchange } from './exchange.ts'
import { IdTable } from './id-table.ts'
import {
  type ErrorObject,
  type Id,
  type IgnoredMessage,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type Incoming,
  type NotificationMessage,
  numbered,
  type Params,
  type RequestMessage,
  type SingleMessage,
} from './message.ts'
import type { Outlet } from './outlet.ts'
import { Pending, type RequestOptions } from './pending.ts'
import { RemoteError } from './remote-error.ts'
import { errorJson } from './write.ts'

export type EndpointFailure = 'ERR_ANSWER_INVALID' | 'ERR_CLOSED' | 'ERR_TIMEOUT'

export interface EndpointHandler {
  /** Answers one request, now or later. If it throws, the answer is an internal error. */
  onRequest(exchange: Exchange): void
  onNotification(message: NotificationMessage, outlet: Outlet): void
  /** Called for a message that was not used and must not be answered. */
  onIgnored?(reason: string): void
  /** Creates the error for a failure on this side. */
  failure(code: EndpointFailure, message: string, cause?: unknown): Error
  /** Whether arrays of messages are accepted. */
  acceptsBatch(): boolean
  /** The id of the answer to a message without a readable id: null, or undefined to omit it. */
  unreadableId(): null | undefined
  deadlines: Deadlines
  /** The maximum number of requests that run at the same time. */
  maxActive: number
  /** The maximum number of requests that wait to run. More are refused. */
  maxWaiting: number
}

interface PeerState {
  nextId: number
  pending: IdTable<Pending>
  active: IdTable<Exchange>
  /** In order of arrival. Created when the first request has to wait. */
  waiting: Map<Id, Exchange>
  isStarting: boolean
  isClosing: boolean
  closeError: Error | undefined
  onIdle: (() => void)[] | undefined
}

/** Shared by all endpoints without waiting requests. Never written to. */
const NONE_WAITING = new Map<Id, Exchange>()

export class JsonRpcEndpoint {
  readonly #options: EndpointHandler
  readonly #state: PeerState = {
    nextId: 1,
    pending: new IdTable(),
    active: new IdTable(),
    waiting: NONE_WAITING,
    isStarting: false,
    isClosing: false,
    closeError: undefined,
    onIdle: undefined,
  }

  constructor(options: EndpointHandler) {
    this.#options = options
  }

  /** Whether one of our requests is unanswered. */
  get isWaiting(): boolean {
    return this.#state.pending.size > 0
  }

  /** The number of the peer's requests that run or wait. */
  get load(): number {
    return this.#state.active.size + this.#state.waiting.size
  }

  /**
   * True when a transport should stop reading until `onRelief`. Never while we wait for an answer, because the answer may come after
   * requests that were not read yet.
   */
  get isSaturated(): boolean {
    const { waiting, pending } = this.#state
    return waiting.size > 0 && waiting.size >= this.#options.maxWaiting / 2 && pending.size === 0
  }

  /** Called when reading may continue. */
  onRelief: (() => void) | undefined

  get isClosed(): boolean {
    return this.#state.isClosing
  }

  receive(message: Incoming, outlet: Outlet): void {
    if (message.kind !== 'batch') return this.#receiveOne(message, outlet)
    if (!this.#options.acceptsBatch()) return this.#refuseBatch(message.messages, outlet)
    const answered = message.messages.filter((each) => each.kind === 'request' || each.kind === 'malformed').length
    const shared = answered > 0 ? new BatchOutlet(outlet, answered) : outlet
    for (const each of message.messages) this.#receiveOne(each, (each.kind === 'request' && outlet.partOf?.(each, shared)) || shared)
  }

  /** The id for our next request. */
  takeId(): number {
    return this.#state.nextId++
  }

  /** Sends the request `json`, which contains `id`. */
  request(id: Id, method: string, json: string, options: RequestOptions): Promise<Params> {
    const state = this.#state
    if (state.isClosing) return Promise.reject(this.#closed(method))
    const { signal } = options
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    return new Promise<Params>((resolve, reject) => {
      const { deadlines } = this.#options
      const now = deadlines.now()
      const pending = new Pending(id, method, options, now, resolve, reject, this.#expire)
      deadlines.start(pending, Math.min(options.timeoutMs, options.maxTotalMs), now)
      if (signal) {
        pending.unwatch = onAbort(signal, () => this.#giveUp(pending, signal.reason as Error, 'The caller cancelled the request'))
      }
      const wasSaturated = this.isSaturated
      state.pending.add(pending)
      if (wasSaturated) this.onRelief?.()
      try {
        options.write(json)
      } catch (error) {
        this.#forget(pending)
        reject(error as Error)
      }
    })
  }

  /** Fails our request `id`, because its answer can no longer arrive. */
  abandon(id: Id, error: Error): void {
    const pending = this.#pendingOf(id)
    if (!pending) return
    this.#forget(pending)
    pending.reject(error)
  }

  /**
   * Restarts the timeout of our request `id`, never beyond `maxTotalMs`. False when there is no such request. Calls in quick succession
   * count once.
   */
  touch(id: Id): boolean {
    const pending = this.#pendingOf(id)
    if (!pending) return false
    const now = this.#options.deadlines.now()
    const { timeoutMs } = pending.options
    if (now - pending.touchedAt >= Math.min(1000, timeoutMs / 2)) {
      pending.touchedAt = now
      this.#options.deadlines.move(pending, Math.min(timeoutMs, pending.endsAt - now))
    }
    return true
  }

  /** Cancels the peer's request `id`. False when there is no such open request. */
  cancel(id: Id, reason: unknown): boolean {
    const exchange = this.#state.active.get(id) ?? this.#state.waiting.get(id)
    if (!exchange) return false
    exchange.cancel(reason)
    return true
  }

  /** The peer's open requests. */
  exchanges(): Iterable<Exchange> {
    return [...this.#state.active.all(), ...this.#state.waiting.values()]
  }

  /** Accepts no new requests. Resolves when the open ones are over. */
  drain(): Promise<void> {
    this.#state.isClosing = true
    if (this.load === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#state.onIdle ??= []
      this.#state.onIdle.push(resolve)
    })
  }

  /**
   * Ends everything now: our requests reject with `error`; the peer's requests are aborted.
   * @param answer the answer to the peer's requests. Undefined: they get none
   */
  close(error: Error, answer?: ErrorObject): void {
    const state = this.#state
    state.isClosing = true
    state.closeError ??= error
    for (const pending of state.pending.all()) {
      this.#forget(pending)
      pending.reject(error)
    }
    for (const exchange of this.exchanges()) exchange.cancel(error, answer)
  }

  #receiveOne(message: SingleMessage, outlet: Outlet): void {
    switch (message.kind) {
      case 'request':
        return this.#accept(message, outlet)
      case 'result':
        return this.#settle(message.id, message.result, undefined)
      case 'notification':
        return this.#notice(message, outlet)
      case 'error':
        return this.#settle(message.id, undefined, message.error)
      case 'malformed':
        // An object with only an id may be an answer without its result.
        if (!message.isRequest && this.#reject(message.id, message.error.message)) return
        return outlet.answer(errorJson(message.id ?? this.#options.unreadableId(), message.error), message.error.code)
      case 'ignored':
        return this.#ignore(message)
    }
  }

  #ignore({ id, otherId, reason }: IgnoredMessage): void {
    const isFirst = this.#reject(id, reason)
    const isOther = this.#reject(otherId, reason)
    if (!isFirst && !isOther) this.#options.onIgnored?.(reason)
  }

  /** Fails our requests whose answers are in the array, so that they do not wait for their timeout. */
  #refuseBatch(messages: readonly SingleMessage[], outlet: Outlet): void {
    const reason = 'Batches are not part of this protocol revision'
    let settled = 0
    for (const each of messages) {
      const isAnswer = each.kind === 'result' || each.kind === 'error' || each.kind === 'ignored'
      if (isAnswer && this.#reject(each.id, reason)) settled++
    }
    // A batch of answers gets no answer itself.
    if (settled > 0 && settled === messages.length) return outlet.drop()
    outlet.answer(errorJson(this.#options.unreadableId(), { code: INVALID_REQUEST, message: reason }), INVALID_REQUEST)
  }

  /** Fails our request `id` because its answer is unusable. False when there is no such request. */
  #reject(id: Id | undefined, reason: string): boolean {
    const pending = this.#pendingOf(id)
    if (!pending) return false
    this.#forget(pending)
    pending.reject(this.#options.failure('ERR_ANSWER_INVALID', `The answer to ${pending.method} cannot be used: ${reason}`))
    return true
  }

  /** Some peers turn numeric ids into strings, so a string that matches nothing is tried as a number. */
  #pendingOf(id: Id | undefined): Pending | undefined {
    if (id === undefined) return undefined
    const { pending } = this.#state
    const exact = pending.get(id)
    return exact || typeof id === 'number' ? exact : pending.get(numbered(id))
  }

  #notice(message: NotificationMessage, outlet: Outlet): void {
    try {
      this.#options.onNotification(message, outlet)
    } catch (error) {
      this.#options.onIgnored?.(`the notification ${message.method} could not be handled: ${asText(error)}`)
    }
  }

  #accept(message: RequestMessage, outlet: Outlet): void {
    const { active, waiting, isClosing } = this.#state
    if (isClosing) return refuse(message, outlet, { code: INTERNAL_ERROR, message: 'The connection is closing' })
    if (active.get(message.id) || waiting.has(message.id)) {
      return refuse(message, outlet, {
        code: INVALID_REQUEST,
        message: `A request with id ${JSON.stringify(message.id)} is already in progress`,
      })
    }
    const exchange = new Exchange(message, outlet, this.#over)
    if (active.size < this.#options.maxActive) return this.#start(exchange)
    if (waiting.size >= this.#options.maxWaiting) {
      const data = { reason: 'too-many-requests', limit: 'maxWaiting', max: this.#options.maxWaiting }
      return refuse(message, outlet, { code: INTERNAL_ERROR, message: 'Too many requests in progress', data })
    }
    if (waiting === NONE_WAITING) this.#state.waiting = new Map()
    this.#state.waiting.set(exchange.id, exchange)
  }

  #start(exchange: Exchange): void {
    this.#state.active.add(exchange)
    try {
      this.#options.onRequest(exchange)
    } catch {
      exchange.failUnexpectedly()
    }
  }

  readonly #over = (exchange: Exchange): void => {
    const { active, waiting, onIdle } = this.#state
    const wasSaturated = this.isSaturated
    if (!active.remove(exchange) && waiting !== NONE_WAITING) waiting.delete(exchange.id)
    if (waiting.size > 0) this.#startWaiting()
    if (wasSaturated && !this.isSaturated) this.onRelief?.()
    if (onIdle && this.load === 0) for (const resolve of onIdle.splice(0)) resolve()
  }

  #startWaiting(): void {
    const state = this.#state
    // A request that is answered immediately re-enters here. The outer loop starts the next one, so the stack stays flat.
    if (state.isStarting || state.closeError) return
    state.isStarting = true
    try {
      for (const [id, exchange] of state.waiting) {
        if (state.active.size >= this.#options.maxActive) break
        state.waiting.delete(id)
        this.#start(exchange)
      }
    } finally {
      state.isStarting = false
    }
  }

  #settle(id: Id | undefined, result: Params | undefined, error: ErrorObject | undefined): void {
    const pending = this.#pendingOf(id)
    if (!pending) {
      const what = id === undefined ? 'an error without an id' : `an answer with id ${JSON.stringify(id)}, which belongs to no open request`
      return this.#options.onIgnored?.(error ? `${what}: ${error.message}` : what)
    }
    this.#forget(pending)
    if (!result) return pending.reject(new RemoteError(error as ErrorObject))
    try {
      pending.resolve(pending.options.read?.(result) ?? result)
    } catch (unreadable) {
      pending.reject(unreadable)
    }
  }

  readonly #expire = (pending: Pending): void => {
    const { timeoutMs, maxTotalMs } = pending.options
    const isTotal = maxTotalMs < timeoutMs || (maxTotalMs > timeoutMs && this.#options.deadlines.now() >= pending.endsAt - 1)
    const limit = isTotal ? `${maxTotalMs} ms in all (maxTotalMs)` : `${timeoutMs} ms (timeoutMs)`
    const error = this.#options.failure('ERR_TIMEOUT', `No answer to ${pending.method} within ${limit}`)
    this.#giveUp(pending, error, error.message)
  }

  #giveUp(pending: Pending, error: Error, reason: string): void {
    this.#forget(pending)
    pending.reject(error)
    try {
      pending.options.onGiveUp?.(pending.id, reason, pending.method)
    } catch (cause) {
      this.#options.onIgnored?.(`The cancellation of ${pending.method} could not be sent: ${asText(cause)}`)
    }
  }

  #forget(pending: Pending): void {
    this.#state.pending.remove(pending)
    this.#options.deadlines.clear(pending)
    pending.unwatch?.()
  }

  #closed(method: string): Error {
    const { closeError } = this.#state
    return this.#options.failure('ERR_CLOSED', `Cannot send ${method}: ${closeError?.message ?? 'the connection is closed'}`, closeError)
  }
}

const refuse = (message: RequestMessage, outlet: Outlet, error: ErrorObject): void =>
  outlet.answer(errorJson(message.id, error), error.code)
