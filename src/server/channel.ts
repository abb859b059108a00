/** A channel: the server's side of one client connection. It may hold a session. */

import { type ErrorObject, INVALID_REQUEST, type Incoming } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { malformed } from '../jsonrpc/read.ts'
import { closedBy } from '../protocol/end-of-request.ts'
import { McpError } from '../protocol/errors.ts'
import type { Channel, ChannelOptions, EndCause } from '../protocol/interfaces/service.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import { ClientMessages } from './client-messages.ts'
import type { Quota } from './quota.ts'
import type { ServerState } from './server-state.ts'

export class ServerChannel implements Channel {
  readonly #client: ClientMessages
  readonly #shutdownError: ErrorObject | undefined
  readonly #onOver: (channel: ServerChannel) => void

  constructor(serverState: ServerState, options: ChannelOptions, onOver: (channel: ServerChannel) => void) {
    this.#client = new ClientMessages(serverState, options)
    this.#shutdownError = options.shutdownError
    this.#onOver = onOver
  }

  get version(): string | undefined {
    return this.#client.session?.revision.version
  }

  get isSaturated(): boolean {
    return this.#client.peer.isSaturated
  }

  get onRelief(): (() => void) | undefined {
    return this.#client.peer.onRelief
  }

  set onRelief(listener: (() => void) | undefined) {
    this.#client.peer.onRelief = listener
  }

  receive(message: Incoming, outlet: Outlet): void {
    const { peer } = this.#client
    // Whether batches are allowed depends on the handshake, so the handshake cannot be inside a batch.
    if (message.kind === 'batch' && message.messages.some((each) => each.kind === 'request' && each.method === 'initialize')) {
      return peer.receive(malformed(undefined, INVALID_REQUEST, 'initialize cannot be part of a batch'), outlet)
    }
    peer.receive(message, outlet)
  }

  ping(timeoutMs: number): Promise<void> {
    const { session } = this.#client
    return session ? session.ping(timeoutMs) : Promise.reject(new McpError('ERR_CLOSED', 'There is no session'))
  }

  drain(): Promise<void> {
    this.#client.endListeners()
    return this.#client.peer.drain()
  }

  close(reason: string, cause?: EndCause): void {
    const { peer, session } = this.#client
    if (peer.isClosed && peer.load === 0 && !session) return
    peer.close(closedBy(reason, cause), cause === 'shutdown' ? this.#shutdownError : undefined)
    this.#client.endSession()
    this.#onOver(this)
  }

  /** Sends a log message that belongs to no request. Does nothing without a session. */
  log(json: (minimum: LogLevel, quota: Quota) => string | undefined): void {
    this.#client.session?.log(json)
  }
}
