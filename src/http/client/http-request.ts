/** The types of one HTTP request and its response, shared by everything that sends or receives. */

import type { IncomingHttpHeaders } from 'node:http'
import type { McpError } from '../../protocol/errors.ts'
import type { HttpClientLimits } from './options.ts'

export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE'
  url: URL
  /** Names and values in turn. */
  headers: string[]
  body?: string
  /** The longest wait for the head of the response, and between two pieces of its body. Default: no limit. */
  timeoutMs?: number
  /** Default: `stream` for GET, `call` for POST. A DELETE waits in no lane. */
  lane?: LaneKind
}

/**
 * A request waits only for requests of its own kind. Our responses must not wait for calls, because the server may need a
 * response to finish a call. Calls must not wait for streams, because streams stay open for a long time.
 */
export type LaneKind = 'call' | 'notice' | 'stream'

/** Receives a response: a head, data and an end, or a failure at any point. After `abort` nothing more is called. */
export interface ResponseHandler {
  onHead(status: number, headers: IncomingHttpHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onFail(error: McpError): void
  /** The request waits for permission. Called repeatedly while it waits. */
  onHeld?(): void
  /** The request waits for the time that a busy server asked for. Called repeatedly while it waits. */
  onBusy?(): void
  /** The request is sent again with new permission. */
  onPermitted?(): void
}

/** A request that was sent or waits to be sent. */
export interface Sending {
  /** Cancels the request and closes its connection. */
  abort(): void
}

/** The server, and how to send to it. */
export interface HttpConnection {
  /** Names the server in errors. */
  readonly server: string
  readonly url: URL
  readonly limits: HttpClientLimits
  send(request: HttpRequest, handler: ResponseHandler): Sending
}
