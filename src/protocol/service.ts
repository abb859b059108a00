/** How a transport meets a server without knowing it: it opens channels and hands messages in. */

import type { Incoming } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'

export interface ChannelOptions {
  /** Where messages go that belong to no request. */
  outlet: Outlet
  /** Who is on the other side, as the transport has proved; undefined when nobody asked. */
  principal?: string | undefined
}

/** One conversation: a stdio process, an in-memory pair, an HTTP session. */
export interface Channel {
  /** Takes a message; everything about it is written to `outlet`. Never throws. */
  receive(message: Incoming, outlet: Outlet): void
  /** True when a transport that can stop reading should, until `onRelief` is called. */
  readonly isSaturated: boolean
  onRelief: (() => void) | undefined
  /** Takes no more requests; resolves when those in hand are over. */
  drain(): Promise<void>
  /** Aborts what is in hand and forgets the conversation. */
  close(reason: string): void
}

export interface Service {
  open(options: ChannelOptions): Channel
}

export const isService = (value: unknown): value is Service =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Service>).open === 'function'
