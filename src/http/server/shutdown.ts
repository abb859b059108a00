/** Ends a server without losing answers: on a signal, or when the program asks for it. */

import type { Server as HttpServer } from 'node:http'
import type { HttpHandler } from './handler.ts'
import type { ListenSettings } from './listen-settings.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** What a signal closes. */
export interface Closable {
  /** @param isSignal the process ends when everything has closed */
  close(isSignal?: boolean): Promise<void>
}

/** The servers that close on a signal. The process ends when all have closed. */
const following = new Set<Closable>()
let isSignalled = false

function onSignal(): void {
  // A second signal ends the process at once.
  if (isSignalled) process.exit(0)
  isSignalled = true
  void Promise.all([...following].map((each) => each.close(true))).then(() => process.exit(0))
}

export function followSignals(closable: Closable): void {
  if (following.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  following.add(closable)
}

export function unfollowSignals(closable: Closable): void {
  if (following.delete(closable) && following.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal)
}

/** The shutdown: no new requests, answers to those in progress, a clean end for idle streams, then all connections are closed. */
export class Shutdown implements Closable {
  readonly closed: Promise<void>
  readonly #server: HttpServer
  readonly #handler: HttpHandler
  readonly #settings: Pick<ListenSettings, 'graceMs' | 'drainDelayMs'>
  #settle: () => void = () => {}
  #isClosing = false

  constructor(server: HttpServer, handler: HttpHandler, settings: Pick<ListenSettings, 'graceMs' | 'drainDelayMs'>) {
    this.#server = server
    this.#handler = handler
    this.#settings = settings
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  async close(): Promise<void> {
    if (this.#isClosing) return this.closed
    this.#isClosing = true
    const { graceMs, drainDelayMs } = this.#settings
    await this.#handler.drain(graceMs, drainDelayMs)
    const over = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const ended = this.#handler.close()
    this.#server.closeIdleConnections()
    // The last bytes of the answers may still be on their way.
    await Promise.race([over, after(500)])
    this.#server.closeAllConnections()
    // Requests that are cut get their records before the process ends: sockets say between two immediates that they have closed.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await ended
    unfollowSignals(this)
    this.#settle()
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())
