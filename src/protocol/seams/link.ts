/** How a client meets a transport without knowing it: one connection to one server. */

import type { Id, Incoming, Params } from '../../jsonrpc/message.ts'
import type { MirroredParam } from '../model/param-headers.ts'

export interface LinkReceiver {
  onMessage(message: Incoming): void
  /** The answer to our request `id` will not come, though the connection goes on. */
  onLost(id: Id, error: Error): void
  /** The request `id` is held up by something that takes a person's time, such as a login; that is not the server being silent. */
  onHeld?(id: Id): void
  /** We are somebody else to the server now, or may do more: what it told us before need not hold. */
  onPermitted?(): void
  /** The server has forgotten the session. What it has in hand may still be answered; nothing new will be. */
  onForgotten(): void
  /** The connection is gone; called once. No error when `close` was called. */
  onClose(error: Error | undefined): void
}

/** What a request or notification says, for a transport that repeats parts of it beside the message. */
export interface About {
  method: string
  /** Of a request. */
  id?: Id | undefined
  params?: Params | undefined
  /** The protocol version spoken, once one is. */
  version?: string | undefined
  /** Arguments that the tool's schema wants beside the message. */
  mirrored?: readonly MirroredParam[] | undefined
}

export interface Link {
  /** Begins to deliver. */
  start(receiver: LinkReceiver): void
  /** Sends one message; without `about` it is an answer. */
  send(json: string, about?: About): void
  /** Gives up our request `id` in the transport's own way; false or absent when a message must say so. */
  cancel?(id: Id): boolean
  close(): Promise<void>
}

/** What `connect` is given: a way to reach one server, again if need be. */
export interface Target {
  /** Names the server for what is remembered about it between connections. */
  key: string
  /** A short name for people. */
  label: string
  open(): Promise<Link>
  /** Tool parameters are mirrored into headers on this transport, so their annotations must be known and valid. */
  mirrorsHeaders?: boolean
  /** Open again when the connection ends by itself: always, or only where no session is lost by it. Default: never. */
  restarts?: boolean | 'stateless'
  /** A session lives on the server, whatever becomes of connections; when the server forgets it, a new one is opened. */
  hasRemoteSessions?: boolean
}
