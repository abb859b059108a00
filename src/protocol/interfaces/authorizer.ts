/** How the HTTP client authorizes its requests. */

/** Adds credentials to HTTP requests. `oauth()` of portico/auth creates one. */
export interface Authorizer {
  /** The headers for a request, such as `authorization`. They are not logged or passed on. */
  headers(request: SentRequest): Promise<Readonly<Record<string, string>>>
  /** Called when the server answers 401 or 403. True to send the request again. */
  onUnauthorized(refusal: Refusal): Promise<boolean>
  /** Called with the headers of any other response. */
  onResponse?(request: SentRequest, headers: ResponseHeaders): void
  /** Protocol extensions to declare to servers, by name. */
  readonly extensions?: Readonly<Record<string, Record<string, unknown>>>
}

/** A request. The same object for all its attempts. */
export interface SentRequest {
  method: string
  url: URL
  /** The server that was connected to. `url` may be another URL of the same origin. */
  server: URL
  /** The operation, for people and to distinguish requests. */
  operation: string
  /** The negotiated protocol version, if any. */
  version?: string | undefined
  /** Aborts when the answer is no longer needed. */
  signal: AbortSignal
}

/** A request that the server refused with 401 or 403. */
export interface Refusal {
  request: SentRequest
  status: number
  headers: ResponseHeaders
  /** The headers of the refused attempt. */
  sent: Readonly<Record<string, string>>
}

/** Names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>
