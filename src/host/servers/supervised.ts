/** Supervises the connection to one configured server: asks before each start, watches the connection, and starts it again after a failure. */

import { asText } from '../../base/as-text.ts'
import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { orAborted } from '../../base/wait.ts'
import type { Client } from '../../client/client.ts'
import type { ConnectAnywhereOptions } from '../../index.ts'
import { McpError } from '../../protocol/errors.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { downError, type Health, isUnderway } from '../model/health.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { ServerConnection } from '../model/traffic.ts'
import { connectServer, type PermittedTransport } from './connect-server.ts'
import { connectionFacts } from './connection-facts.ts'
import { connectionOptions } from './connection-options.ts'
import { type AllSupervisionLimits, DEFAULT_SUPERVISION_LIMITS, FIXED_SUPERVISION_LIMITS } from './limits.ts'
import { OfferingReader, type ServerListing } from './listing.ts'
import { Liveness } from './liveness.ts'
import { LogGate } from './log-rate.ts'
import { Recovery } from './recovery.ts'
import { Subscriptions } from './subscriptions.ts'
import { NEEDS_A_PERSON, SUSPICIOUS, type SupervisedOptions } from './supervised-options.ts'
import { Waiters } from './waiters.ts'

/** Enough for a person. Servers control parts of the text. */
const MAX_WARNING_CHARS = 2_000

/** A connection and everything that works on it. */
interface Connected {
  client: Client
  reader: OfferingReader
  pulse: Liveness
  /** Resolves when the lists were read for the first time. */
  listed: Promise<void>
  /** Milliseconds since 1970. */
  since: number
}

export class SupervisedServer {
  readonly spec: ServerSpec
  readonly #options: SupervisedOptions
  readonly #limits: AllSupervisionLimits
  readonly #clock: Clock
  readonly #recovery: Recovery
  readonly #subscriptions: Subscriptions
  readonly #logs: LogGate
  readonly #ending = new AbortController()
  readonly #waiters = new Waiters()
  /** The lowest level of log messages of later connections. */
  logLevel: LogLevel = 'info'
  #health: Health
  #listing: ServerListing | undefined
  #connection: Connected | undefined
  #starting: Promise<void> | undefined
  /** Resolves when the former connection has ended. */
  #former: Promise<void> = Promise.resolve()
  #retryTimer: Timer | undefined
  #inUse = 0
  /** The process of the newest connection. */
  #pid: number | undefined

  constructor(options: SupervisedOptions) {
    this.spec = options.spec
    this.#options = options
    this.#limits = withDefaults({ ...DEFAULT_SUPERVISION_LIMITS, ...FIXED_SUPERVISION_LIMITS }, options.limits)
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

  /** How the server is connected. Undefined while it is not. */
  get connection(): ServerConnection | undefined {
    if (!this.#connection) return undefined
    const { client, since } = this.#connection
    const facts = { revision: client.revision, ...client.server, connectedAt: since, ...connectionFacts(client, this.logLevel) }
    return { ...facts, ...(this.#pid !== undefined && { pid: this.#pid }) }
  }

  /** @throws McpError ERR_SERVER_DOWN while there is no connection */
  get client(): Client {
    if (this.#connection) return this.#connection.client
    throw new McpError('ERR_SERVER_DOWN', `The server ${this.#name} is not connected`)
  }

  /** The last known listing. It outlives the connection. Undefined before the first one. */
  get listing(): ServerListing | undefined {
    return this.#listing
  }

  /** Aborted when the server is closed: questions about it are withdrawn then. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Connects in the background, if that asks no question. Does nothing after the first start. */
  start(): void {
    if (this.#health.state === 'idle') void this.#begin({ isInBackground: true })
  }

  /** Tries to connect now, whatever failed or was refused before, and asks if needed. Resolves with the outcome. */
  async retry(): Promise<Health> {
    const { state } = this.#health
    if (state === 'disabled' || state === 'closed') return this.#health
    if (state !== 'ready') {
      if (!this.#starting) this.#recovery.forget()
      await this.#begin()
      // A start in the background was under way, and did not ask.
      if (this.health.state === 'not-enabled') await this.#begin()
    }
    await this.settled()
    return this.#health
  }

  /** Ends the connection and the process, and opens them again. Resolves with the outcome. */
  restart(): Promise<Health> {
    if (this.#connection) {
      this.#drop()
      this.#set({ state: 'idle' })
    }
    return this.retry()
  }

  /** Ends the connection, and connects again only when a person asks for it. @param error why */
  refuse(error: McpError): void {
    if (!this.#connection) return
    this.#drop()
    this.#set({ state: 'refused', error })
  }

  /** Resolves when the server is connected and listed, or has failed. */
  async settled(): Promise<void> {
    while (isUnderway(this.#health)) await this.#waiters.wait()
    await this.#connection?.listed
  }

  /**
   * Runs `run` with the client of this server after its lists were read. Asks about the start if that is still to be asked. Waits for
   * the answer, then up to `waitMs` for a connection that is being opened, and not at all after a failure.
   * @throws McpError ERR_SERVER_DOWN that says when the host tries again
   */
  async use<T>(run: (client: Client) => Promise<T>, options: { signal?: AbortSignal | undefined } = {}): Promise<T> {
    const { client, pulse, listed } = this.#connection ?? (await this.#connected(options.signal))
    // A new connection may lead to a changed server: pins can be checked only after its lists were read.
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

  /** Reads the entry of a skill that the server need not list. */
  async includeSkill(uri: string, signal: AbortSignal | undefined): Promise<void> {
    const { reader } = this.#connection ?? (await this.#connected(signal))
    await reader.includeSkill(uri)
  }

  /** Calls `listener` when the resource changes, and after each new connection, because it may have changed before. */
  subscribe(uri: string, listener: (uri: string) => void): Promise<() => void> {
    return this.#subscriptions.add(uri, listener, this.#connection?.client)
  }

  /** Ends all subscriptions: they were made for a different server. */
  forgetSubscriptions(): void {
    this.#subscriptions.forget()
  }

  /** Tells the server that the roots of `answers.roots` changed. */
  announceRoots(): void {
    const { roots } = this.#options.answers ?? {}
    if (roots) this.#connection?.client.answer({ roots })
  }

  /** Ends the connection and the process. They are not restarted. */
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

  /** A timeout is not suspicious while another call is under way: some servers do one thing at a time. */
  #isSuspicious(error: unknown): boolean {
    return error instanceof McpError && SUSPICIOUS.has(error.code) && (error.code !== 'ERR_TIMEOUT' || this.#inUse === 1)
  }

  #begin({ isInBackground = false } = {}): Promise<void> {
    this.#retryTimer?.cancel()
    this.#starting ??= this.#open(isInBackground)
      .catch((error: unknown) => this.#onFailure(error as Error))
      .finally(() => {
        this.#starting = undefined
      })
    return this.#starting
  }

  async #open(isInBackground: boolean): Promise<void> {
    const { signal } = this.#ending
    signal.throwIfAborted()
    const former = this.#health
    this.#set({ state: 'permitting' })
    // One process at a time: the former one may still hold a lock or a port that this one needs.
    await this.#former
    const { mayStart, isAsPermitted } = this.#options
    if (isInBackground && mayStart && !(await orAborted(mayStart(), signal)))
      return this.#set({ state: 'not-enabled', ...('lastError' in former && former.lastError && { lastError: former.lastError }) })
    const transport = await orAborted(this.#options.permit(signal), signal)
    this.#set({ state: 'connecting', isTrial: this.#recovery.isTrial })
    // The connection can close before `connect` returns the client, so `onClose` may come first.
    let client: Client | undefined
    let closedBy: Error | undefined
    client = await this.#connect(
      transport,
      () => client?.revision,
      (error) => {
        closedBy = error
        if (client) this.#lose(client, error)
      },
    )
    const isExpected = !isAsPermitted || (await isAsPermitted())
    if (client.isClosed || signal.aborted || !isExpected) {
      await client.close().catch(() => {})
      if (!isExpected) return this.#set({ state: 'not-enabled' })
      throw closedBy ?? signal.reason
    }
    this.#onConnected(client)
  }

  #connect(transport: PermittedTransport, revision: () => string | undefined, onClose: (error: Error) => void): Promise<Client> {
    const options: ConnectAnywhereOptions = {
      ...connectionOptions(this.#options, this.#limits),
      clock: this.#clock,
      signal: this.#ending.signal,
      // Revisions without sessions log only for requests that name a level.
      logLevel: this.logLevel,
      onWarning: (message) => this.#warn(message),
      onLog: (message) => this.#logs.pass({ kind: 'message', message }),
      onClose: (error) => onClose(error ?? new McpError('ERR_CLOSED', `The server ${this.#name} closed the connection`)),
    }
    this.#pid = undefined
    return connectServer(transport, options, {
      onStderr: (line) => this.#logs.pass({ kind: 'stderr', line }),
      onProcess: (pid) => {
        this.#pid = pid
      },
      traffic: this.#options.traffic?.observe(this.spec.id, revision),
      httpTransport: this.spec.httpTransport,
    })
  }

  #onConnected(client: Client): void {
    const limits = this.#limits
    const clock = this.#clock
    this.#recovery.onReady(clock.now())
    const reader = new OfferingReader({
      client,
      limits,
      clock,
      known: this.#listing?.offering,
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
    this.#connection = { client, reader, pulse, listed: reader.start(), since: Date.now() }
    void this.#subscriptions.resume(client)
    this.#set({ state: 'ready', missedPings: 0 })
  }

  /** The connection is closed, or the server no longer answers. */
  #lose(client: Client, error: Error): void {
    if (this.#connection?.client !== client) return
    this.#drop()
    if (this.#listing) {
      const { offering } = this.#listing
      this.#setListing({ offering, isStale: true, faults: [{ list: 'connection', error }] })
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
    this.#retryTimer = this.#clock.after(retryAt - this.#clock.now(), () => void this.#begin({ isInBackground: true }))
    this.#set({ state, retryAt, lastError: error })
  }

  async #connected(signal: AbortSignal | undefined): Promise<Connected> {
    // A start in the background may be about to end without having asked.
    if (this.health.state === 'not-enabled') await this.#starting
    if (this.#health.state === 'idle' || this.health.state === 'not-enabled') void this.#begin()
    let isLate = false
    let timer: Timer | undefined
    try {
      while (!this.#connection && isUnderway(this.#health) && !isLate) {
        // A person who is asked may take longer.
        if (this.#health.state === 'connecting' && !timer) {
          timer = this.#clock.after(this.#limits.waitMs, () => {
            isLate = true
            this.#waiters.wake()
          })
          timer.hold(true)
        }
        await this.#waiters.wait(signal)
        if (!this.#connection && this.health.state === 'not-enabled' && !isLate) {
          await this.#starting
          void this.#begin()
        }
      }
    } finally {
      timer?.cancel()
    }
    if (this.#connection) return this.#connection
    throw downError(this.spec.id, this.#health, this.#clock.now(), this.#limits.waitMs)
  }

  #set(health: Health): void {
    if (this.#health.state === 'closed') return
    this.#health = health
    this.#tell(() => this.#options.onHealth?.(health))
    this.#waiters.wake()
  }

  #setListing(read: ServerListing): void {
    const listing: ServerListing = { ...read, offering: this.#options.clean?.(read.offering) ?? read.offering }
    this.#listing = listing
    this.#tell(() => this.#options.onListing?.(listing))
  }

  /** An error of a listener is reported and stops nothing here. */
  #tell(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#warn(`A listener for the server ${this.#name} failed: ${asText(error)}`)
    }
  }

  /** Bounded because the names and errors of servers are part of the text. */
  #warn(message: string): void {
    this.#options.onWarning?.(message.length > MAX_WARNING_CHARS ? `${message.slice(0, MAX_WARNING_CHARS)}…` : message)
  }
}
