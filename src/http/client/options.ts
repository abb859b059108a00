/** What may be said about a server that is reached over HTTP, every bound with its default. */

import type { ConnectionOptions } from 'node:tls'
import type { Authorizer } from '../../protocol/authorizer.ts'

export interface HttpClientLimits {
  /** The longest answer in JSON, in bytes. */
  maxBodyBytes: number
  /** The longest event of a stream, in characters. */
  maxEventBytes: number
  /** The longest block of response headers. */
  maxHeaderBytes: number
  /** Redirects followed for one request; only to the same origin. */
  maxRedirects: number
  /** Attempts in a row to take up a broken stream before its request is given up. */
  maxReconnects: number
  /** How long a connection may take to be made. */
  connectTimeoutMs: number
  /** How long the server may take to accept a message that it owes no answer. */
  noticeTimeoutMs: number
}

export const DEFAULT_HTTP_CLIENT_LIMITS: HttpClientLimits = {
  maxBodyBytes: 16 * 1024 * 1024,
  maxEventBytes: 4 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxRedirects: 3,
  maxReconnects: 5,
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
