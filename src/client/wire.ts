/** One open connection: our requests, the server's requests, and the notices of both, below any dialect. */

import type { Clock } from '../base/clock.ts'
import type { Deadlines } from '../base/deadlines.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import { type Id, METHOD_NOT_FOUND, type NotificationMessage, numbered, type Params } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { Peer } from '../jsonrpc/peer.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import type { MirroredParam } from '../protocol/model/param-headers.ts'
import type { Link } from '../protocol/seams/link.ts'
import type { ClientLimits } from './limits.ts'
import type { CallOptions } from './options.ts'
import { Pacing } from './pacing.ts'
import { ProgressSink, progressTokenIn } from './progress-sink.ts'

export interface WireOptions {
  limits: ClientLimits
  clock: Clock
  deadlines: Deadlines
  onWarning(message: string): void
  /** Arguments of a tool call that travel beside the message as well; absent where nothing does. */
  mirrored?: ((params: Params) => readonly MirroredParam[] | undefined) | undefined
  /** The server has forgotten the session. */
  onForgotten?(): void
  /** We may do other things than before. */
  onPermitted?(): void
  /** The connection is gone; without an error when we closed it. */
  onClose(error: Error | undefined): void
}

const MAX_IGNORED_WARNINGS = 100
/** For how long a request that was held up counts as held up; it is said anew several times a second. */
const HELD_MS = 1000

export class Wire {
  readonly #link: Link
  readonly #options: WireOptions
  readonly #peer: Peer
  readonly #pacing: Pacing
  readonly #outlet: Outlet
  readonly #sinks = new Map<unknown, { sink: ProgressSink; resetsTimeout: boolean }>()
  #isClosed = false
  #isRetired = false
  #ignoredCount = 0
  #heldAt = Number.NEGATIVE_INFINITY
  /** Set by the dialect once it is known; until then nothing the server asks is answered. */
  onRequest: (exchange: Exchange) => void = (exchange) =>
    exchange.fail({ code: METHOD_NOT_FOUND, message: `Method not found: ${exchange.method}` })
  onNotification: (message: NotificationMessage) => void = () => {}
  /** The protocol version spoken, once one is. */
  version: string | undefined
  acceptsBatch = false
  /** False in a revision in which clients send no responses: what the server asks is told as a warning instead. */
  mayAnswer = true
  unreadableId: null | undefined = null
  /** When something last arrived. */
  heardAt: number

  constructor(link: Link, options: WireOptions) {
    this.#link = link
    this.#options = options
    this.heardAt = options.clock.now()
    this.#pacing = new Pacing(options)
    this.#outlet = { push: (json) => void this.#write(json), answer: (json) => this.#answer(json), drop: () => {} }
    this.#peer = new Peer({
      onRequest: (exchange) => this.onRequest(exchange),
      onNotification: (message) => this.#notice(message),
      onIgnored: (reason) => this.#ignored(reason),
      failure: (code, message, cause) => new McpError(code, message, { cause }),
      acceptsBatch: () => this.acceptsBatch,
      unreadableId: () => this.unreadableId,
      deadlines: options.deadlines,
      maxActive: options.limits.maxActive,
      maxWaiting: options.limits.maxWaiting,
    })
    link.start({
      onMessage: (message) => {
        this.heardAt = options.clock.now()
        // With its answer a request is over: progress that comes after it, even in the same turn, is not delivered.
        if (this.#sinks.size > 0 && (message.kind === 'result' || message.kind === 'error')) this.#endSink(numbered(message.id))
        this.#peer.receive(message, this.#outlet)
        if (this.#isRetired) this.#closeWhenIdle()
      },
      onLost: (id, error) => {
        this.#peer.abandon(id, error)
        if (this.#isRetired) this.#closeWhenIdle()
      },
      onHeld: (id) => {
        this.#heldAt = options.clock.now()
        this.#peer.touch(id)
      },
      onForgotten: () => options.onForgotten?.(),
      onPermitted: () => options.onPermitted?.(),
      onClose: (error) => this.#closed(error),
    })
  }

  /** Whether an answer is waited for. */
  get isWaiting(): boolean {
    return this.#peer.isWaiting
  }

  /** Whether a request is held up by something that takes a person's time. */
  get isHeld(): boolean {
    return this.#options.clock.now() - this.#heldAt < HELD_MS
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * @param params what the message is about, as far as the transport must know
   * @param write writes the message with this id, and with a token to ask for progress with if any is wanted
   * @param read gives the result its final form
   */
  request(
    method: string,
    params: Params,
    write: (id: Id, progressToken: Id | undefined) => string,
    options: CallOptions,
    read?: (result: Params) => Params,
  ): Promise<Params> {
    const { timeoutMs = this.#options.limits.timeoutMs, signal } = options
    const send = (): Promise<Params> => this.#requestOnce(method, params, write, options, read)
    return this.#pacing.send({ method, send, timeoutMs, signal })
  }

  #requestOnce(
    method: string,
    params: Params,
    write: (id: Id, progressToken: Id | undefined) => string,
    options: CallOptions,
    read: ((result: Params) => Params) | undefined,
  ): Promise<Params> {
    const id = this.#peer.takeId()
    const isWatched = options.onProgress !== undefined || options.resetTimeoutOnProgress === true
    let json: string
    try {
      json = write(id, isWatched ? id : undefined)
    } catch (error) {
      // What cannot be written is a failure of the call like any other.
      return Promise.reject(new McpError('ERR_INVALID_PARAMS', (error as Error).message, { cause: error }))
    }
    if (!isWatched) return this.#send(id, method, params, json, options, read)
    const { limits, clock } = this.#options
    const sink = new ProgressSink((progress) => options.onProgress?.(progress), limits.progressCallbacks, clock)
    this.#sinks.set(id, { sink, resetsTimeout: options.resetTimeoutOnProgress ?? true })
    return this.#send(id, method, params, json, options, read).finally(() => this.#endSink(id))
  }

  #send(
    id: Id,
    method: string,
    params: Params,
    json: string,
    options: CallOptions,
    read: ((result: Params) => Params) | undefined,
  ): Promise<Params> {
    const { limits, mirrored } = this.#options
    return this.#peer.request(id, method, json, {
      write: mirrored
        ? (text) => this.#link.send(text, { method, id, params, version: this.version, mirrored: mirroredOf(method, params, mirrored) })
        : this.#writeRequest,
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? limits.timeoutMs,
      maxTotalMs: options.maxTotalMs ?? limits.maxTotalMs,
      onGiveUp: this.#giveUp,
      read,
    })
  }

  readonly #writeRequest = (json: string): void => this.#link.send(json)

  /** Stops our answering of the server's request `id`. */
  cancel(id: Id, reason: string): void {
    this.#peer.cancel(id, new DOMException(reason, 'AbortError'))
  }

  /** Stops waiting for the answer to our request `id`, which fails with `error`. A transport that can closes its stream. */
  abandon(id: Id, error: Error): void {
    this.#link.cancel?.(id)
    this.#peer.abandon(id, error)
  }

  notify(method: string, params?: Params): void {
    if (!this.#isClosed) this.#link.send(notificationJson(method, params), { method, params, version: this.version })
  }

  /** Sends nothing more and closes as soon as nothing is waited for. */
  retire(): void {
    this.#isRetired = true
    this.#closeWhenIdle()
  }

  async close(): Promise<void> {
    this.#end(new McpError('ERR_CLOSED', 'The client was closed'))
    await this.#link.close()
  }

  /** Ends the connection because something is wrong with it. */
  async fail(error: Error): Promise<void> {
    // Told before the link is down: what is sent meanwhile has to wait for the next connection, not fail with this one.
    this.#closed(error)
    await this.#link.close()
  }

  #ignored(reason: string): void {
    if (++this.#ignoredCount > MAX_IGNORED_WARNINGS) return
    const last = this.#ignoredCount === MAX_IGNORED_WARNINGS ? ' (no more of these are told)' : ''
    this.#options.onWarning(`Ignored: ${reason}${last}`)
  }

  #closed(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#end(error ?? new McpError('ERR_CLOSED', 'The server closed the connection'))
    this.#options.onClose(error)
  }

  #end(error: Error): void {
    this.#isClosed = true
    this.#pacing.close(error)
    this.#peer.close(error)
  }

  #answer(json: string): undefined {
    if (this.mayAnswer) return this.#write(json)
    this.#ignored('a message that wants an answer, in a revision without questions')
    return undefined
  }

  #write(json: string): undefined {
    if (!this.#isClosed) this.#link.send(json)
    return undefined
  }

  #closeWhenIdle(): void {
    if (!this.#isClosed && !this.isWaiting) this.close().catch(() => {})
  }

  readonly #giveUp = (id: Id, reason: string, method: string): void => {
    const isTold = this.#link.cancel?.(id) ?? false
    if (this.#isRetired) return this.#closeWhenIdle()
    // The handshake is the one request that may not be cancelled.
    if (!isTold && method !== 'initialize') this.notify('notifications/cancelled', { requestId: id, reason })
  }

  #notice(message: NotificationMessage): void {
    if (message.method !== 'notifications/progress') return this.onNotification(message)
    const token = numbered(progressTokenIn(message.params))
    const entry = this.#sinks.get(token)
    if (entry?.sink.take(message.params as Params) && entry.resetsTimeout) this.#peer.touch(token as Id)
  }

  #endSink(token: Id | undefined): void {
    this.#sinks.get(token)?.sink.end()
    this.#sinks.delete(token)
  }
}

const mirroredOf = (
  method: string,
  params: Params,
  mirrored: (params: Params) => readonly MirroredParam[] | undefined,
): readonly MirroredParam[] | undefined => (method === 'tools/call' ? mirrored(params) : undefined)
