/** One configured server and its one connection: started when it may be, watched, and started again when it failed. */

import { asText } from '../../base/as-text.ts'
import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { onAbort } from '../../base/on-abort.ts'
import { orAborted } from '../../base/wait.ts'
import type { Answers } from '../../client/answers.ts'
import type { Client } from '../../client/client.ts'
import type { ClientLimits } from '../../client/limits.ts'
import type { ConnectAnywhereOptions } from '../../index.ts'
import { type ErrorCode, McpError } from '../../protocol/errors.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { Authorizer } from '../../protocol/seams/authorizer.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { downError, type Health, isUnderway } from '../model/health.ts'
import type { Offering } from '../model/offering.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import { connectServer, type PermittedTransport } from './connect-server.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './limits.ts'
import { type Listing, SurfaceReader } from './listing.ts'
import { Liveness } from './liveness.ts'
import { LogGate, type ServerLog } from './log-gate.ts'
import { Recovery } from './recovery.ts'
import { Subscriptions } from './subscriptions.ts'

export interface SupervisedOptions {
  spec: ServerSpec
  /** Asked before every start. Throws ERR_DENIED, ERR_CONSENT or the like when it may not be started. */
  permit(signal: AbortSignal): Promise<PermittedTransport>
  /** How questions of this server are answered. */
  answers?: Answers
  auth?: Authorizer
  /** Who the host says it is. */
  info?: Implementation
  limits?: Partial<ServerLimits>
  clientLimits?: Partial<ClientLimits>
  clock?: Clock
  /** Takes out of what it lists what may not be kept or shown. */
  clean?(surface: Offering): Offering
  /** @see ReaderOptions */
  onItem?(item: object): void
  onHealth?(health: Health): void
  onListing?(listing: Listing): void
  onLog?(log: ServerLog): void
  onWarning?(message: string): void
}

/** Only a person can do something about these: to try again by itself would ask them again and again. */
const NEEDS_A_PERSON: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_DENIED',
  'ERR_CONSENT',
  'ERR_ANSWER_INVALID',
  'ERR_QUARANTINED',
  'ERR_SECRET',
  'ERR_CONFIG',
  'ERR_AUTH',
  'ERR_INSECURE',
])

/** After these it is worth asking whether the server is still there. */
const SUSPICIOUS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_NETWORK',
  'ERR_HTTP',
  'ERR_NO_ENDPOINT',
  'ERR_SESSION_GONE',
  'ERR_TIMEOUT',
  'ERR_CLOSED',
])

/** A person reads no more of one. */
const MAX_WARNING_CHARS = 2_000

/** A connection and all that is done on it. */
interface Connected {
  client: Client
  reader: SurfaceReader
  pulse: Liveness
  /** Settled when its lists were read for the first time. */
  listed: Promise<void>
}

export class SupervisedServer {
  readonly spec: ServerSpec
  readonly #options: SupervisedOptions
  readonly #limits: ServerLimits
  readonly #clock: Clock
  readonly #recovery: Recovery
  readonly #subscriptions: Subscriptions
  readonly #logs: LogGate
  readonly #ending = new AbortController()
  /** Those who wait for another state. */
  readonly #waiting = new Set<() => void>()
  #health: Health
  #listing: Listing | undefined
  #connection: Connected | undefined
  #starting: Promise<void> | undefined
  /** The end of the connection before this one. */
  #former: Promise<void> = Promise.resolve()
  #retryTimer: Timer | undefined
  #inUse = 0

  constructor(options: SupervisedOptions) {
    this.spec = options.spec
    this.#options = options
    this.#limits = withDefaults(DEFAULT_SERVER_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
    this.#recovery = new Recovery(this.#limits)
    this.#subscriptions = new Subscriptions(this.#limits.maxSubscriptions, (message) => this.#warn(message))
    this.#logs = new LogGate(this.#limits.logs, this.#clock, options)
    this.#health = { state: options.spec.isDisabled ? 'disabled' : 'idle' }
  }

  get id(): string {
    return this.spec.id
  }

  get health(): Health {
    return this.#health
  }

  /** What it lists, as last known; undefined before anything was read. It outlives the connection. */
  get listing(): Listing | undefined {
    return this.#listing
  }

  /** The protocol revision spoken; undefined while there is no connection. */
  get revision(): string | undefined {
    return this.#connection?.client.revision
  }

  /** Aborted when it is closed: whatever was asked because of it nobody needs to know any more. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Connects in the background, unless that was done or refused before. */
  start(): void {
    if (this.#health.state === 'idle') void this.#begin()
  }

  /** Tries now, whatever failed or was refused before; resolves when it is clear how that went. */
  async retry(): Promise<Health> {
    const { state } = this.#health
    if (state === 'disabled' || state === 'closed') return this.#health
    if (state !== 'ready') {
      if (!this.#starting) this.#recovery.forget()
      await this.#begin()
    }
    await this.settled()
    return this.#health
  }

  /** Resolves when nothing is under way any more: it is connected and has been listed, or it failed. */
  async settled(): Promise<void> {
    while (isUnderway(this.#health)) await this.#change()
    await this.#connection?.listed
  }

  /**
   * Runs `run` with the client of this server, once its lists were read. A connection that is being opened is waited for, a little; one that failed
   * is not: ERR_SERVER_DOWN says when it is tried again.
   */
  async use<T>(run: (client: Client) => Promise<T>, options: { signal?: AbortSignal } = {}): Promise<T> {
    const { client, pulse, listed } = this.#connection ?? (await this.#connected(options.signal))
    // What it offers is known before it is sent anything: it may not be what the connection before this one led to.
    await (options.signal ? orAborted(listed, options.signal) : listed)
    this.#inUse++
    try {
      return await run(client)
    } catch (error) {
      if (this.#isSuspicious(error)) void pulse.check()
      throw error
    } finally {
      this.#inUse--
    }
  }

  /** Calls `listener` when the resource changes, and after each new connection, because then it may have. */
  subscribe(uri: string, listener: (uri: string) => void): Promise<() => void> {
    return this.#subscriptions.add(uri, listener, this.#connection?.client)
  }

  /** It is another server than the one that they were made for. */
  forgetSubscriptions(): void {
    this.#subscriptions.forget()
  }

  /** Reads all lists again. */
  async refresh(): Promise<void> {
    await this.#connection?.reader.refresh()
  }

  /** The roots that `answers.roots` gives are others now. */
  announceRoots(): void {
    const { roots } = this.#options.answers ?? {}
    if (roots) this.#connection?.client.answer({ roots })
  }

  /** Ends the connection, and with it the process. Nothing is started after this. */
  async close(): Promise<void> {
    if (this.#health.state !== 'closed') {
      this.#ending.abort(new McpError('ERR_CLOSED', `The server ${this.#name} was closed`))
      this.#drop()
      this.#set({ state: 'closed' })
    }
    await this.#starting
    await this.#former
  }

  get #name(): string {
    return JSON.stringify(this.spec.id)
  }

  /** Silence is not, as long as the server works on something else: it may be unable to do two things at a time. */
  #isSuspicious(error: unknown): boolean {
    return error instanceof McpError && SUSPICIOUS.has(error.code) && (error.code !== 'ERR_TIMEOUT' || this.#inUse === 1)
  }

  #begin(): Promise<void> {
    this.#retryTimer?.cancel()
    this.#starting ??= this.#open()
      .catch((error: unknown) => this.#onFailure(error as Error))
      .finally(() => {
        this.#starting = undefined
      })
    return this.#starting
  }

  async #open(): Promise<void> {
    const { signal } = this.#ending
    signal.throwIfAborted()
    this.#set({ state: 'permitting' })
    // One process at a time: what a former one holds, such as a lock or a port, the next one may need.
    await this.#former
    const transport = await orAborted(this.#options.permit(signal), signal)
    this.#set({ state: 'connecting', isTrial: this.#recovery.isTrial })
    // Both are set while the connection is being opened, or after it: it may be over before we have it.
    let client: Client | undefined
    let closedBy: Error | undefined
    client = await this.#connect(transport, (error) => {
      closedBy = error
      if (client) this.#lose(client, error)
    })
    if (client.isClosed || signal.aborted) {
      await client.close().catch(() => {})
      throw closedBy ?? signal.reason
    }
    this.#onConnected(client)
  }

  #connect(transport: PermittedTransport, onClose: (error: Error) => void): Promise<Client> {
    const { answers, auth, info, clientLimits } = this.#options
    const { timeoutMs } = this.spec
    const { connectTimeoutMs, maxSubscriptions, maxSurfaceItems } = this.#limits
    const limits = {
      connectTimeoutMs,
      maxWatches: maxSubscriptions + 3,
      maxItems: maxSurfaceItems,
      ...(timeoutMs !== undefined && { timeoutMs }),
    }
    const options: ConnectAnywhereOptions = {
      clock: this.#clock,
      signal: this.#ending.signal,
      // Looked after here, in the same way for every transport.
      pingIntervalMs: 0,
      // In revisions without a setting of the session nothing is logged unless it is asked for.
      logLevel: 'info',
      limits: { ...limits, ...clientLimits },
      onWarning: (message) => this.#warn(message),
      onLog: (message) => this.#logs.pass({ kind: 'message', message }),
      onClose: (error) => onClose(error ?? new McpError('ERR_CLOSED', `The server ${this.#name} closed the connection`)),
      ...(answers && { answer: answers }),
      ...(auth && { auth }),
      ...(info && { info }),
    }
    return connectServer(transport, options, (line) => this.#logs.pass({ kind: 'stderr', line }))
  }

  #onConnected(client: Client): void {
    const limits = this.#limits
    const clock = this.#clock
    this.#recovery.onReady(clock.now())
    const reader = new SurfaceReader({
      client,
      limits,
      clock,
      known: this.#listing?.surface,
      ...(this.#options.onItem && { onItem: this.#options.onItem }),
      onListing: (listing) => this.#setListing(listing),
      onWarning: (message) => this.#warn(message),
    })
    const pulse = new Liveness({
      client,
      limits,
      clock,
      isBusy: () => this.#inUse > 0,
      onMissed: (missedPings) => this.#set({ state: 'ready', missedPings }),
      onDead: (error) => this.#lose(client, error),
    })
    this.#connection = { client, reader, pulse, listed: reader.start() }
    void this.#subscriptions.resume(client)
    this.#set({ state: 'ready', missedPings: 0 })
  }

  /** The connection is gone, or not worth keeping. */
  #lose(client: Client, error: Error): void {
    if (this.#connection?.client !== client) return
    this.#drop()
    if (this.#listing) {
      const { surface } = this.#listing
      this.#setListing({ surface, isStale: true, faults: [{ list: 'connection', error }] })
    }
    this.#onFailure(error)
  }

  #drop(): void {
    this.#retryTimer?.cancel()
    const connection = this.#connection
    this.#connection = undefined
    if (!connection) return
    const { client, reader, pulse } = connection
    reader.stop()
    pulse.stop()
    this.#subscriptions.pause()
    this.#former = client.close().catch(() => {})
  }

  #onFailure(error: Error): void {
    if (this.#health.state === 'closed') return
    if (error instanceof McpError && NEEDS_A_PERSON.has(error.code)) return this.#set({ state: 'refused', error })
    const { state, retryAt } = this.#recovery.onFailure(this.#clock.now())
    this.#retryTimer = this.#clock.after(retryAt - this.#clock.now(), () => void this.#begin())
    this.#set({ state, retryAt, lastError: error })
  }

  async #connected(signal: AbortSignal | undefined): Promise<Connected> {
    this.start()
    let isLate = false
    const timer = this.#clock.after(this.#limits.waitMs, () => {
      isLate = true
      this.#wake()
    })
    timer.hold(true)
    try {
      while (!this.#connection && isUnderway(this.#health) && !isLate) await this.#change(signal)
    } finally {
      timer.cancel()
    }
    if (this.#connection) return this.#connection
    throw downError(this.spec.id, this.#health, this.#clock.now(), this.#limits.waitMs)
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let unwatch = (): void => {}
      const wake = (): void => {
        this.#waiting.delete(wake)
        unwatch()
        resolve()
      }
      this.#waiting.add(wake)
      if (!signal) return
      unwatch = onAbort(signal, () => {
        this.#waiting.delete(wake)
        reject(signal.reason as Error)
      })
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #set(health: Health): void {
    if (this.#health.state === 'closed') return
    this.#health = health
    this.#tell(() => this.#options.onHealth?.(health))
    this.#wake()
  }

  #setListing(read: Listing): void {
    const listing = { ...read, surface: this.#options.clean?.(read.surface) ?? read.surface }
    this.#listing = listing
    this.#tell(() => this.#options.onListing?.(listing))
  }

  /** What a listener does wrong is not the server's fault, and stops nothing here. */
  #tell(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#warn(`A listener for the server ${this.#name} failed: ${asText(error)}`)
    }
  }

  /** Servers have a say in these: their names and their errors are in them. */
  #warn(message: string): void {
    this.#options.onWarning?.(message.length > MAX_WARNING_CHARS ? `${message.slice(0, MAX_WARNING_CHARS)}…` : message)
  }
}
