/** How a transport meets a server without knowing it: it opens channels and hands messages in. */

import type { Incoming, RequestMessage } from '../../jsonrpc/message.ts'
import type { Outlet } from '../../jsonrpc/outlet.ts'
import type { ParamHeader } from '../model/param-headers.ts'

export interface ChannelOptions {
  /** Where messages go that belong to no request. */
  outlet: Outlet
  /** Who is on the other side, as the transport has proved; undefined when nobody asked. */
  principal?: string | undefined
  /** The version to speak without a handshake, for a transport that keeps nothing between requests. */
  assumed?: string | undefined
  /**
   * A later `initialize` begins the conversation anew instead of being refused: for a pipe that clients may share, one
   * after the other. Default: false.
   */
  beginsAnew?: boolean | undefined
}

/** One conversation: a stdio process, an in-memory pair, an HTTP session. */
export interface Channel {
  /** Takes a message; everything about it is written to `outlet`. Never throws. */
  receive(message: Incoming, outlet: Outlet): void
  /** The version agreed on by handshake, if there was one. */
  readonly version: string | undefined
  /** True when a transport that can stop reading should, until `onRelief` is called. */
  readonly isSaturated: boolean
  onRelief: (() => void) | undefined
  /** Asks the other side for a sign of life; rejects when none comes in time. */
  ping(timeoutMs: number): Promise<void>
  /** Takes no more requests; resolves when those in hand are over. */
  drain(): Promise<void>
  /** Aborts what is in hand and forgets the conversation. */
  close(reason: string): void
}

/** Who sent a request that stands alone, and in which version it speaks. */
export interface Sender {
  version: string
  principal: string | undefined
  /** Whose allowance the request is taken from. */
  account: string
  /** False where `subscriptions/listen` is not served, so that nothing is promised that needs it. */
  canListen?: boolean
}

/** A request that stands alone, while it is being answered. */
export interface Answering {
  /** The sender is gone: whatever is still done for it may stop. */
  cancel(reason: unknown): void
  /** Set to hear that it has stopped, after it was cancelled. */
  onStopped: (() => void) | undefined
  /** Ends a request that would stay open for ever, with its answer. Does nothing to any other. */
  finish(): void
}

export interface Service {
  open(options: ChannelOptions): Channel
  /** Answers one request of a version without sessions. Never throws. */
  answer(request: RequestMessage, outlet: Outlet, sender: Sender): Answering
  /** The versions spoken, oldest first. */
  readonly versions: readonly string[]
  /** The parameters of a tool that a transport mirrors into headers. */
  mirroredParams(tool: string): readonly ParamHeader[]
  /** The scopes without which a request will be refused. A transport that can refuse it in its own way asks first. */
  requiredScopes(request: Pick<RequestMessage, 'method' | 'params'>): readonly string[]
}

export const isService = (value: unknown): value is Service =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Service>).open === 'function'
