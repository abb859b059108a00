/** The options of a connection over HTTP, with every limit and its default. */

import type { IncomingHttpHeaders } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { ANSWER_BOUNDS } from '../../jsonrpc/read.ts'
import type { Authorizer } from '../../protocol/interfaces/authorizer.ts'

/** The limits of one connection over HTTP. */
export interface HttpClientLimits {
  /** The longest JSON response in bytes, and the longest event of a stream in characters. */
  maxBodyBytes: number
  /** Values of one message. An answer with more fails. */
  maxValues: number
  /** Requests at the same time; more are queued. Notifications and responses of the client have 8 connections of their own. */
  maxConnections: number
  /** Open streams, in addition to the requests. A call that is answered with a stream counts here while there is room. */
  maxStreams: number
  /** How long connecting may take. */
  connectTimeoutMs: number
}

/** The default of every limit. */
export const DEFAULT_HTTP_CLIENT_LIMITS: HttpClientLimits = {
  maxBodyBytes: 16 * 1024 * 1024,
  maxValues: ANSWER_BOUNDS.maxValues,
  // Requests and streams together: as many as one session of our own server accepts at the same time (64).
  maxConnections: 48,
  maxStreams: 16,
  connectTimeoutMs: 10_000,
}

/** `streamable-http`: one address for all requests. `sse`: the transport of the oldest revision, with one stream for all answers. */
export type HttpTransportName = 'streamable-http' | 'sse'

/** Names and values of headers. */
export type ExtraHeaders = Readonly<Record<string, string>>

/** A request and the head of its response. */
export interface HttpExchange {
  method: string
  url: URL
  /** Names and values in turn, without those of `headers` and `authorize`. */
  headers: readonly string[]
  /** The names of those of `headers` and `authorize`. */
  hiddenHeaders: readonly string[]
  /** The message. */
  body?: string
  status: number
  responseHeaders: IncomingHttpHeaders
}

/** Options of {@link httpTarget}. */
export interface HttpTargetOptions {
  /** Headers to add to every request, or a function that returns them. It is called for each request. */
  headers?: ExtraHeaders | (() => ExtraHeaders | Promise<ExtraHeaders>)
  /** Adds credentials to requests, and obtains them when the server asks: `oauth(...)` of portico/auth. */
  authorize?: Authorizer
  /** The HTTP transport to use. Default: the client finds out. */
  transport?: HttpTransportName
  /** Allow http without TLS to another machine. Default: false. */
  allowInsecure?: boolean
  /** TLS options such as certificates, as for `tls.connect`. */
  tls?: ConnectionOptions
  /** Default: {@link DEFAULT_HTTP_CLIENT_LIMITS}. */
  limits?: Partial<HttpClientLimits>
  /** Called with the head of each response, also of attempts that are repeated. */
  onExchange?(exchange: HttpExchange): void
  /** Receives warnings about unusual events that the client could handle. */
  onWarning?(message: string): void
}
