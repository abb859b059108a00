/** One open link with its JSON-RPC endpoint, used by both dialects. Adds progress, pacing and cancellation. */

import type { Clock } from '../base/clock.ts'
import type { Deadlines } from '../base/deadlines.ts'
import type { Exchange } from '../jsonrpc/exchange.ts'
import { JsonRpcEndpoint } from '../jsonrpc/json-rpc-endpoint.ts'
import { type Id, METHOD_NOT_FOUND, type NotificationMessage, numbered, type Params } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { notificationJson } from '../jsonrpc/write.ts'
import { McpError } from '../protocol/errors.ts'
import type { Link } from '../protocol/interfaces/link.ts'
import type { MirroredParam } from '../protocol/model/param-headers.ts'
import type { ClientLimits } from './limits.ts'
import type { SentOptions } from './options.ts'
import { Pacing } from './pacing.ts'
import { PROGRESS_RATE, ProgressSink, progressTokenIn } from './progress-sink.ts'

/** Requests of the server that run at the same time, and that wait to run. More are refused: no person or model answers as many. */
const MAX_ACTIVE = 64
const MAX_WAITING = 256

export interface OpenLinkOptions {
  limits: ClientLimits
  clock: Clock
  deadlines: Deadlines
  onWarning(message: string): void
  /** The mirrored arguments of a tool call; undefined on transports without headers. */
  mirrored?: ((params: Params) => readonly MirroredParam[] | undefined) | undefined
  /** The server no longer knows the session. */
  onForgotten?(): void
  /** The credentials changed. */
  onPermitted?(): void
  /** Messages that belong to no request may have been missed. */
  onMissed?(): void
  /** The connection ended; without an error when we closed it. */
  onClose(error: Error | undefined): void
}

/** A server that sends garbage must not flood the warnings. */
const MAX_IGNORED_WARNINGS = 100
/** How long a request counts as held after a notice. Links repeat the notice several times a second. */
const HELD_MS = 1000

export class OpenLink {
  readonly #link: Link
  readonly #options: OpenLinkOptions
  readonly #peer: JsonRpcEndpoint
  readonly #pacing: Pacing
  readonly #outlet: Outlet
  readonly #sinks = new Map<unknown, { sink: ProgressSink; resetsTimeout: boolean }>()
  #isClosed = false
  #isRetired = false
  #ignoredCount = 0
  #heldAt = Number.NEGATIVE_INFINITY
  /** Set by the dialect. Until then, requests of the server are refused. */
  onRequest: (exchange: Exchange) => void = (exchange) =>
    exchange.fail({ code: METHOD_NOT_FOUND, message: `Method not found: ${exchange.method}` })
  onNotification: (message: NotificationMessage) => void = () => {}
  /** The negotiated protocol version, if any. */
  version: string | undefined
  acceptsBatch = false
  /** False in a revision where clients send no responses. Requests of the server then become warnings. */
  mayAnswer = true
  unreadableId: null | undefined = null
  /** The time of the last message. */
  heardAt: number

  constructor(link: Link, options: OpenLinkOptions) {
    this.#link = link
    this.#options = options
    this.heardAt = options.clock.now()
    this.#pacing = new Pacing(options)
    this.#outlet = { push: (json) => void this.#write(json), answer: (json) => this.#answer(json), drop: () => {} }
    this.#peer = new JsonRpcEndpoint({
      onRequest: (exchange) => this.onRequest(exchange),
      onNotification: (message) => this.#notice(message),
      onIgnored: (reason) => this.#ignored(reason),
      failure: (code, message, cause) => new McpError(code, message, { cause }),
      acceptsBatch: () => this.acceptsBatch,
      unreadableId: () => this.unreadableId,
      deadlines: options.deadlines,
      maxActive: MAX_ACTIVE,
      maxWaiting: MAX_WAITING,
    })
    link.start({
      onMessage: (message) => {
        this.heardAt = options.clock.now()
        // Progress that arrives after the answer, even in the same turn, is not delivered.
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
      onMissed: () => options.onMissed?.(),
      onClose: (error) => this.#closed(error),
    })
  }

  /** Whether a request is unanswered. */
  get isWaiting(): boolean {
    return this.#peer.isWaiting
  }

  /** Whether a request waits for a person, for example for a login. */
  get isHeld(): boolean {
    return this.#options.clock.now() - this.#heldAt < HELD_MS
  }

  /** Resolves when messages that belong to no request are received. */
  get listening(): Promise<void> {
    return new Promise((resolve) => (this.#link.whenListening ? this.#link.whenListening(resolve) : resolve()))
  }

  /** Whether the server is a process that has written nothing yet. */
  get isStarting(): boolean {
    return this.#link.isStarting ?? false
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * @param params the params, for a transport that mirrors parts of them
   * @param write serialises the message with this id, and with a progress token if progress is wanted
   * @param read converts the result
   */
  request(
    method: string,
    params: Params,
    write: (id: Id, progressToken: Id | undefined) => string,
    options: SentOptions,
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
    options: SentOptions,
    read: ((result: Params) => Params) | undefined,
  ): Promise<Params> {
    const id = this.#peer.takeId()
    options.onSent?.(id)
    const isWatched = options.onProgress !== undefined || options.resetTimeoutOnProgress === true
    let json: string
    try {
      json = write(id, isWatched ? id : undefined)
    } catch (error) {
      // Params that cannot be serialised reject the call instead of throwing.
      return Promise.reject(new McpError('ERR_INVALID_PARAMS', (error as Error).message, { cause: error }))
    }
    if (!isWatched) return this.#send(id, method, params, json, options, read)
    const { clock } = this.#options
    const sink = new ProgressSink((progress) => options.onProgress?.(progress), PROGRESS_RATE, clock)
    this.#sinks.set(id, { sink, resetsTimeout: options.resetTimeoutOnProgress ?? true })
    return this.#send(id, method, params, json, options, read).finally(() => this.#endSink(id))
  }

  #send(
    id: Id,
    method: string,
    params: Params,
    json: string,
    options: SentOptions,
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

  /** Cancels the server's request `id`. */
  cancel(id: Id, reason: string): void {
    this.#peer.cancel(id, new DOMException(reason, 'AbortError'))
  }

  /** Fails our request `id` with `error` and closes its stream, if the transport has one. */
  abandon(id: Id, error: Error): void {
    this.#link.cancel?.(id)
    this.#peer.abandon(id, error)
  }

  notify(method: string, params?: Params): void {
    if (!this.#isClosed) this.#link.send(notificationJson(method, params), { method, params, version: this.version })
  }

  /** Sends nothing more, and closes when all requests are answered. */
  retire(): void {
    this.#isRetired = true
    this.#closeWhenIdle()
  }

  async close(): Promise<void> {
    this.#end(new McpError('ERR_CLOSED', 'The client was closed'))
    await this.#link.close()
  }

  /** Ends a broken connection. */
  async fail(error: Error): Promise<void> {
    // Report the end before closing the link, so that new requests wait for the next connection instead of failing here.
    this.#closed(error)
    await this.#link.close()
  }

  #ignored(reason: string): void {
    if (++this.#ignoredCount > MAX_IGNORED_WARNINGS) return
    const last = this.#ignoredCount === MAX_IGNORED_WARNINGS ? ' (further warnings of this kind are suppressed)' : ''
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
    this.#ignored('a request, in a revision where servers send no requests')
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
    // The handshake must not be cancelled.
    if (!isTold && method !== 'initialize') this.notify('notifications/cancelled', { requestId: id, reason })
  }

  #notice(message: NotificationMessage): void {
    if (message.method !== 'notifications/progress') return this.onNotification(message)
    const token = numbered(progressTokenIn(message.params))
    const entry = this.#sinks.get(token)
    // Progress of a task continues after the answer to its request.
    if (!entry) return this.onNotification(message)
    if (entry.sink.take(message.params as Params) && entry.resetsTimeout) this.#peer.touch(token as Id)
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
