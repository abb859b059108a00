/** The connection of a client: opens it, monitors it and reopens it. */

import { asText } from '../base/as-text.ts'
import { orAborted, orTimeout } from '../base/wait.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { Target } from '../protocol/interfaces/link.ts'
import type { ConnectedTo } from '../protocol/interfaces/telemetry.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import type { SubscriptionFilter } from '../protocol/model/subscriptions.ts'
import { type ClientDialect, explainRefusal } from './dialect/dialect.ts'
import { type Verdict, type VerdictMemory, verdictMemory } from './dialect-memory.ts'
import { startHeartbeat } from './heartbeat.ts'
import { OpenLink } from './open-link.ts'
import type { CallOptions, ConnectOptions, SentOptions } from './options.ts'
import { OpenAgain, openDialect } from './probe.ts'
import type { Settings } from './settings.ts'
import { withTrace } from './trace.ts'

export interface ConnectionEvents {
  /** The subscriptions to restore after a restart; undefined for none. */
  wanted(): SubscriptionFilter | undefined
  onReopened(): void
  /** The credentials changed. */
  onPermitted(): void
  onOver(): void
}

const DEFAULT_PING_MS = 30_000
/** Restarts within the window. A server that ends more often is considered broken. */
const MAX_RESTARTS = 5
const RESTART_WINDOW_MS = 60_000
const FIRST_RESTART_MS = 200

/** The dialects of servers, shared by all clients of this process. */
const processMemory = verdictMemory()

export class Connection {
  readonly #target: Target
  readonly #settings: Settings
  readonly #options: ConnectOptions
  readonly #events: ConnectionEvents
  readonly #memory: VerdictMemory
  readonly #restarts: number[] = []
  #openLink: OpenLink | undefined
  /** Earlier links with unanswered requests. */
  #retired: OpenLink[] = []
  #dialect: ClientDialect | undefined
  #stopHeartbeat: () => void = () => {}
  /** Tells the telemetry that the session has ended. */
  #endSession: (error?: Error) => void = () => {}
  /** Set while the connection is being reopened. Requests wait for it. */
  #reopening: Promise<void> | undefined
  /** Ends the pause before the next attempt to reopen. */
  #endPause: () => void = () => {}
  #isClosed = false

  constructor(target: Target, settings: Settings, options: ConnectOptions, events: ConnectionEvents) {
    this.#target = target
    this.#settings = settings
    this.#options = options
    this.#events = events
    // What is found out with a choice of revisions says nothing about connections without it.
    this.#memory = options.memory ?? (options.revisions ? verdictMemory() : processMemory)
  }

  get dialect(): ClientDialect {
    if (!this.#dialect) throw new McpError('ERR_CLOSED', 'The client is not connected')
    return this.#dialect
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  open(): Promise<void> {
    return this.#openAs(this.#memory.get(this.#target.key))
  }

  request(method: string, params: Params, options: CallOptions): Promise<Params> {
    if (this.#reopening) return this.#reopened(this.#reopening, method, options).then(() => this.request(method, params, options))
    if (this.#isClosed) return Promise.reject(new McpError('ERR_CLOSED', `Cannot send ${method}: the client is closed`))
    const { telemetry } = this.#options
    if (!telemetry) return this.#request(method, params, options)
    return telemetry({ method, params, ...this.#connected }, (trace, onSent) =>
      this.#request(method, params, { ...options, ...(trace && { trace }), ...(onSent && { onSent }) }),
    )
  }

  get #connected(): ConnectedTo {
    const { key, hasRemoteSessions } = this.#target
    return { revision: this.dialect.revision.version, url: hasRemoteSessions ? key.replace(/\?.*/s, '') : undefined }
  }

  #request(method: string, params: Params, options: SentOptions): Promise<Params> {
    const { dialect } = this
    const traced = withTrace(options, this.#options.trace, this.#settings.onWarning)
    const sent = explainRefusal(method, dialect.request(method, params, traced), dialect.server)
    if (!this.#target.hasRemoteSessions || dialect.revision.dialect !== 'session') return sent
    return sent.catch((error: unknown) => this.#onceMore(error, dialect, () => this.dialect.request(method, params, traced)))
  }

  async listenTo(filter: SubscriptionFilter): Promise<void> {
    if (this.#reopening) await this.#reopening
    const { dialect } = this
    if (!this.#isClosed)
      await dialect.listenTo(filter).catch((error) => this.#onceMore(error, dialect, () => this.dialect.listenTo(filter)))
  }

  async setLogLevel(level: LogLevel): Promise<void> {
    this.#settings.logLevel = level
    if (this.#reopening) await this.#reopening
    const { dialect } = this
    // A new session starts with this level.
    await dialect.setLogLevel(level).catch((error) => this.#onceMore(error, dialect, async () => {}))
  }

  async ping(options: CallOptions): Promise<void> {
    const method = this.dialect.revision.has('ping') ? 'ping' : 'server/discover'
    await this.request(method, {}, options)
  }

  async close(): Promise<void> {
    this.#over(undefined)
    this.#dialect?.close()
    await Promise.all([this.#openLink, ...this.#retired].map((openLink) => openLink?.close()))
  }

  /** @param remembered the dialect from the memory, which may be outdated */
  async #openAs(remembered: Verdict | undefined): Promise<void> {
    if (remembered !== undefined) {
      try {
        return await this.#openOnce(remembered)
      } catch (error) {
        if (this.#isClosed || isRefusal(error)) throw error
        this.#memory.set(this.#target.key, undefined)
      }
    }
    try {
      await this.#openOnce(undefined)
    } catch (error) {
      if (!(error instanceof OpenAgain)) throw error
      if (this.#isClosed) throw closedError()
      await this.#openOnce(error.as).catch((second: unknown) => {
        throw error.why ?? (second instanceof OpenAgain ? (second.why ?? second) : second)
      })
    }
  }

  async #openOnce(expected: Verdict | undefined): Promise<void> {
    const { limits, clock, deadlines, onWarning, mirrored } = this.#settings
    const link = await this.#target.open()
    const onForgotten = (): void => this.#onForgotten(openLink)
    const onPermitted = (): void => this.#events.onPermitted()
    const onMissed = (): void => this.#events.onReopened()
    const onClose = (error: Error | undefined): void => this.#onClose(openLink, error)
    const openLink = new OpenLink(link, { limits, clock, deadlines, onWarning, mirrored, onForgotten, onPermitted, onMissed, onClose })
    if (this.#isClosed) await abandon(openLink)
    this.#openLink = openLink
    const standsAlone = this.#target.hasRemoteSessions === true
    const dialect = await openDialect(openLink, this.#settings, { expected, hasIndependentRequests: standsAlone }).catch(
      async (error: unknown) => {
        // Some old servers exit when they receive an unknown request.
        const hasEnded = openLink.isClosed && expected === undefined && !this.#isClosed
        await openLink.close().catch(() => {})
        throw hasEnded && !isRefusal(error) ? new OpenAgain('session', error as Error) : error
      },
    )
    if (this.#isClosed) await abandon(openLink)
    this.#dialect = dialect
    this.#endSession = (dialect.revision.dialect === 'session' && this.#options.telemetry?.session?.(this.#connected)) || (() => {})
    this.#memory.set(this.#target.key, dialect.revision.dialect)
    this.#startHeartbeat(openLink, dialect)
  }

  #startHeartbeat(openLink: OpenLink, dialect: ClientDialect): void {
    this.#stopHeartbeat()
    const isRemote = this.#target.hasRemoteSessions === true
    // Sessions over HTTP do not depend on a connection, so they need no pings.
    const intervalMs = this.#options.pingIntervalMs ?? (isRemote ? 0 : DEFAULT_PING_MS)
    if (intervalMs <= 0 || !dialect.revision.has('ping')) return
    this.#stopHeartbeat = startHeartbeat({
      clock: this.#settings.clock,
      intervalMs,
      heardAt: () => openLink.heardAt,
      isWaiting: () => openLink.isWaiting,
      ping: (timeoutMs) => dialect.request('ping', {}, { timeoutMs }),
      onDead: (cause) =>
        isRemote
          ? this.#startHeartbeat(openLink, dialect)
          : void openLink.fail(new McpError('ERR_CLOSED', 'The server does not answer pings', { cause })),
      onWarning: this.#settings.onWarning,
    })
  }

  #onForgotten(openLink: OpenLink): void {
    if (this.#isClosed || openLink !== this.#openLink || !this.#dialect || this.#reopening || !this.#mayRestart()) return
    this.#sessionOver()
    this.#settings.onWarning(`${this.#target.label} no longer knows the session; opening a new one`)
    this.#reopening = this.#renew(openLink).finally(() => {
      this.#reopening = undefined
    })
    this.#reopening.catch(() => {})
  }

  /** Replaces a session that the server forgot. If that fails, the old one stays and the next request tries again. */
  async #renew(forgotten: OpenLink): Promise<void> {
    try {
      await this.#openAs(this.#memory.get(this.#target.key))
    } catch (error) {
      if (this.#openLink !== forgotten) await this.#openLink?.close().catch(() => {})
      this.#openLink = forgotten
      if (this.#isClosed) await forgotten.close().catch(() => {})
      throw error
    }
    forgotten.retire()
    this.#retired = [...this.#retired, forgotten].filter((openLink) => !openLink.isClosed)
    await this.#resume()
  }

  /** Repeats a request that was refused because the session was unknown. The server did not run it. */
  async #onceMore<T>(error: unknown, refused: ClientDialect, run: () => Promise<T>): Promise<T> {
    if (!(error instanceof McpError) || error.code !== 'ERR_SESSION_GONE') throw error
    await this.#reopening
    if (this.#isClosed || this.dialect === refused) throw error
    return run()
  }

  #onClose(openLink: OpenLink, error: Error | undefined): void {
    // If the connection ends while it is being opened, `open` handles it.
    if (this.#isClosed || openLink !== this.#openLink || !this.#dialect || this.#reopening) return
    this.#stopHeartbeat()
    const { restarts } = this.#target
    const isWanted = restarts === 'stateless' ? this.#dialect.revision.dialect === 'stateless' : restarts === true
    if (!isWanted || !this.#mayRestart()) return this.#over(error ?? new McpError('ERR_CLOSED', 'The server closed the connection'))
    this.#sessionOver(error)
    this.#settings.onWarning(`${this.#target.label} ended${error ? ` (${error.message})` : ''}; starting it again`)
    this.#reopening = this.#reopen().finally(() => {
      this.#reopening = undefined
    })
    this.#reopening.catch(() => {})
  }

  async #reopen(): Promise<void> {
    for (let waitMs = FIRST_RESTART_MS; ; waitMs *= 2) {
      await this.#pause(waitMs * (0.5 + Math.random()))
      if (this.#isClosed) throw closedError()
      try {
        await this.#openAs(this.#memory.get(this.#target.key))
        break
      } catch (error) {
        this.#settings.onWarning(`${this.#target.label} could not be started again: ${asText(error)}`)
        if (this.#mayRestart()) continue
        this.#over(error as Error)
        throw error
      }
    }
    await this.#resume()
  }

  /** Ends early if the client is closed. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#settings.clock.after(ms, resolve)
      timer.hold(true)
      this.#endPause = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  /** Resolves when the connection is open again. Rejects if the request is aborted or times out first. */
  #reopened(reopening: Promise<void>, method: string, options: CallOptions): Promise<void> {
    const { deadlines, limits } = this.#settings
    const { signal, timeoutMs = limits.timeoutMs } = options
    const limit = { deadlines, ms: timeoutMs, isHeld: () => this.#openLink?.isHeld ?? false }
    return orTimeout(signal ? orAborted(reopening, signal) : reopening, limit, () => {
      throw new McpError('ERR_TIMEOUT', `There was no connection to send ${method} on within ${timeoutMs} ms (timeoutMs)`)
    })
  }

  /** Restores the subscriptions on a new connection. */
  async #resume(): Promise<void> {
    this.#events.onReopened()
    const wanted = this.#events.wanted()
    if (wanted)
      await this.dialect
        .listenTo(wanted)
        .catch((error: unknown) => this.#settings.onWarning(`Change notices have stopped: ${asText(error)}`))
  }

  #mayRestart(): boolean {
    const now = this.#settings.clock.now()
    while (this.#restarts.length > 0 && (this.#restarts[0] as number) < now - RESTART_WINDOW_MS) this.#restarts.shift()
    if (this.#restarts.length >= MAX_RESTARTS) return false
    this.#restarts.push(now)
    return true
  }

  #sessionOver(error?: Error): void {
    const end = this.#endSession
    this.#endSession = () => {}
    end(error)
  }

  #over(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopHeartbeat()
    this.#endPause()
    this.#sessionOver(error)
    this.#settings.over.abort(error ?? closedError())
    this.#events.onOver()
    this.#options.onClose?.(error)
  }
}

/** After a refused login the person is not asked again. */
const isRefusal = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_AUTH'

const closedError = (): McpError => new McpError('ERR_CLOSED', 'The client was closed')

/** Closes a connection that was opened while the client was closed. */
async function abandon(openLink: OpenLink): Promise<never> {
  await openLink.close().catch(() => {})
  throw closedError()
}
