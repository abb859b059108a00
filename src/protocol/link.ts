/** How a client meets a transport without knowing it: one connection to one server. */

import type { Id, Incoming } from '../jsonrpc/message.ts'

export interface LinkReceiver {
  onMessage(message: Incoming): void
  /** The connection is gone; called once. No error when `close` was called. */
  onClose(error: Error | undefined): void
}

export interface Link {
  /** Begins to deliver. */
  start(receiver: LinkReceiver): void
  /** Sends one message. */
  send(json: string): void
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
  /** Tool parameters are mirrored into headers on this transport, so their annotations must be valid. */
  mirrorsHeaders?: boolean
  /** Open again when the connection ends by itself. */
  restarts?: boolean
}
