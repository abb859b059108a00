/** What may be said about a server that is reached over HTTP, every bound with its default. */

import type { ConnectionOptions } from 'node:tls'
import { ANSWER_BOUNDS } from '../../jsonrpc/read.ts'
import type { Authorizer } from '../../protocol/seams/authorizer.ts'

export interface HttpClientLimits {
  /** The longest answer in JSON, in bytes. */
  maxBodyBytes: number
  /** The longest event of a stream, in characters. */
  maxEventBytes: number
  /** Values one message may hold; an answer with more fails. */
  maxValues: number
  /** The longest block of response headers. */
  maxHeaderBytes: number
  /** Redirects followed for one request; only to the same origin. */
  maxRedirects: number
  /** Attempts in a row to take up a broken stream before its request is given up. */
  maxReconnects: number
  /** Requests on their way at the same time; more wait in line. Notifications and answers of ours have 8 connections of their own. */
  maxConnections: number
  /** Streams that are open beside them. A call answered with a stream counts here as long as there is room. */
  maxStreams: number
  /** Requests that may wait in line. */
  maxQueued: number
  /** How often a request is sent again that the server refused with 429 or 503 and Retry-After. */
  maxBusyRetries: number
  /** The longest Retry-After that is waited for; a longer one is an error at once. */
  maxRetryAfterMs: number
  /** How long a connection may take to be made. */
  connectTimeoutMs: number
  /** How long the server may take to accept a message that it owes no answer. */
  noticeTimeoutMs: number
}

export const DEFAULT_HTTP_CLIENT_LIMITS: HttpClientLimits = {
  maxBodyBytes: 16 * 1024 * 1024,
  maxEventBytes: 4 * 1024 * 1024,
  maxValues: ANSWER_BOUNDS.maxValues,
  maxHeaderBytes: 16 * 1024,
  maxRedirects: 3,
  maxReconnects: 5,
  // Together no more than a session of our own server takes at the same time.
  maxConnections: 48,
  maxStreams: 16,
  maxQueued: 10_000,
  maxBusyRetries: 5,
  maxRetryAfterMs: 30_000,
  connectTimeoutMs: 10_000,
  noticeTimeoutMs: 30_000,
}

export type ExtraHeaders = Readonly<Record<string, string>>

export interface HttpTargetOptions {
  /** Headers to send along with every request, or what makes them for each. */
  headers?: ExtraHeaders | (() => ExtraHeaders | Promise<ExtraHeaders>)
  /** Gives requests their permission, and gets it when a server asks for it. */
  authorize?: Authorizer
  /** Speak unencrypted to a host that is not this machine. */
  allowInsecure?: boolean
  /** Certificates and other settings of TLS, as `tls.connect` takes them. */
  tls?: ConnectionOptions
  limits?: Partial<HttpClientLimits>
  /** Something was odd and was dealt with. */
  onWarning?(message: string): void
}
