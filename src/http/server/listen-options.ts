/** The options of `listen`, and what it returns. Types only. */

import type { SecureContextOptions } from 'node:tls'
import type { HttpHandler } from './handler.ts'
import type { HttpOptions } from './options.ts'

/** Options of {@link listen}. */
export interface ListenOptions extends HttpOptions {
  /** Default: 0, any free port. */
  port?: number
  /** The address to listen on. Default: 127.0.0.1, this machine only. */
  host?: string
  /** The path of the endpoint. Default: `/mcp`. */
  path?: string
  /** Key and certificate, for https. */
  tls?: SecureContextOptions
  /** Open connections of this process. Default: 12,000. */
  maxConnections?: number
  /** Open connections from one address. Default: 256; false with `trustProxy`. */
  maxConnectionsPerAddress?: number | false
  /** How long requests in progress and running tasks may take after the server was asked to close. Default: 10 s. */
  graceMs?: number
  /**
   * How long the server still accepts new requests after it was asked to close, while `/readyz` says that it is not ready. For balancers that ask
   * `/readyz`. `graceMs` begins afterwards. Default: 0.
   */
  drainDelayMs?: number
  /** Whether SIGTERM and SIGINT close the server and end the process. Default: true. */
  handleSignals?: boolean
  /**
   * Serves with this number of processes at one port, to use all cores of the machine; `auto` means one for each core. Each worker runs your
   * program from its start. The process that you started serves nothing itself: it starts workers, and replaces those that end. Without
   * `store` it also keeps the sessions of all workers. Default: this process serves alone.
   *
   * @example
   * const { url, worker } = await listen(server, { port: 3000, workers: 'auto' })
   * if (worker === undefined) console.log(`Serving at ${url}`)
   */
  workers?: number | 'auto'
}

/** A server that listens at a port. */
export interface Listening {
  /** The URL of the endpoint. */
  readonly url: string
  readonly port: number
  /** The handler of this process. With `workers` it gets no requests in the process that you started. */
  readonly handler: HttpHandler
  /** The number of this worker, from 1. Undefined in the process that you started. */
  readonly worker: number | undefined
  /** Resolves when the server has closed. */
  readonly closed: Promise<void>
  /** Answers the requests in progress and waits for running tasks, then closes. With `workers` this closes all of them, in whichever process you call it. */
  close(): Promise<void>
}
