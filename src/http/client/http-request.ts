/** The types of one HTTP request and its response, shared by everything that sends or receives. */

import type { IncomingHttpHeaders } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
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
  onData(chunk: Uint8Array): void
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

/** Controls one attempt to send a request. */
export interface AttemptControl {
  abort(reason: Error): void
  /** Stops reading the body until `resume`. */
  pause(): void
  resume(): void
}

/** Hears how one attempt goes. Every call names the control of its attempt, because an earlier one may still report. */
export interface AttemptHandler {
  onRequestStart(control: AttemptControl): void
  onResponseStart(control: AttemptControl, status: number, headers: IncomingHttpHeaders): void
  onResponseData(control: AttemptControl, chunk: Uint8Array): void
  onResponseEnd(control: AttemptControl): void
  onResponseError(control: AttemptControl, error: Error): void
}

/** One attempt to send a request. */
export interface Attempt {
  method: 'POST' | 'GET' | 'DELETE'
  path: string
  headers: string[]
  body: string | null
  /** 0: no limit. */
  headersTimeout: number
  bodyTimeout: number
}

/** Sends requests to one origin. undici does it on Node, and `fetch` everywhere else. */
export interface Dispatcher {
  dispatch(attempt: Attempt, handler: AttemptHandler): unknown
  destroy(): Promise<void>
}

/** What a dispatcher needs to know. */
export interface DispatcherSettings {
  origin: string
  /** Connections at the same time. */
  connections: number
  connectTimeoutMs: number
  tls: ConnectionOptions | undefined
}

/** The server, and how to send to it. */
export interface HttpConnection {
  /** Names the server in errors. */
  readonly server: string
  readonly url: URL
  readonly limits: HttpClientLimits
  send(request: HttpRequest, handler: ResponseHandler): Sending
}
