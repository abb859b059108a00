/** The interface between a client and a transport: a link is one connection to one server. */

import type { Id, Incoming, Params } from '../../jsonrpc/message.ts'
import type { MirroredParam } from '../model/param-headers.ts'

/** The callbacks of a link. */
export interface LinkReceiver {
  onMessage(message: Incoming): void
  /** The answer to our request `id` is lost, but the connection stays open. */
  onLost(id: Id, error: Error): void
  /** The request `id` waits for a person, for example for a login. Its timeout is extended. */
  onHeld?(id: Id): void
  /** The credentials changed, so that cached lists may be outdated. */
  onPermitted?(): void
  /** Messages that belong to no request may have been missed, such as notices of changes. */
  onMissed?(): void
  /** The server no longer knows the session. Open requests may still be answered, new ones are not. */
  onForgotten(): void
  /** The connection ended. Called once, without an error after `close`. */
  onClose(error: Error | undefined): void
}

/** The content of a message, for a transport that mirrors parts of it in headers. */
export interface About {
  method: string
  /** The id of a request. */
  id?: Id | undefined
  params?: Params | undefined
  /** The negotiated protocol version, if any. */
  version?: string | undefined
  /** Arguments that the tool's schema mirrors in headers. */
  mirrored?: readonly MirroredParam[] | undefined
}

/** One connection to one server. */
export interface Link {
  /** The id of the server's process, if the link started one. */
  readonly pid?: number | undefined
  /** The link started a process that has written nothing yet, so it may still be starting. Default: false. */
  readonly isStarting?: boolean
  /** Starts to deliver messages. */
  start(receiver: LinkReceiver): void
  /** Sends a message. Without `about` it is an answer. */
  send(json: string, about?: About): void
  /** Calls `run` when messages that belong to no request are received. If it is absent, they are from the start. */
  whenListening?(run: () => void): void
  /** Cancels our request `id` by means of the transport. If it returns false or is absent, a message is sent instead. */
  cancel?(id: Id): boolean
  close(): Promise<void>
}

/**
 * A way to reach one server. `httpTarget`, `processTarget` and `memoryTarget` create targets for `connect`.
 *
 * @example
 * const client = await connect(memoryTarget(server))
 */
export interface Target {
  /** Identifies the server in caches that outlive a connection. */
  key: string
  /** A short name for people. */
  label: string
  open(): Promise<Link>
  /** The transport mirrors tool parameters in headers. */
  mirrorsHeaders?: boolean
  /** Whether to reconnect when the connection ends: always, or in the stateless dialect only. Default: never. */
  restarts?: boolean | 'stateless'
  /** Sessions outlive connections, as over HTTP. When the server forgets a session, a new one is opened. */
  hasRemoteSessions?: boolean
}
