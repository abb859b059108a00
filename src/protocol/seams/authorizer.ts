/** How requests over HTTP get their permission: what a transport asks, and somebody who knows answers. */

export interface Authorizer {
  /** Headers that give a request its permission, such as `authorization`; none of them is told to anybody else. */
  headers(request: SentRequest): Promise<Readonly<Record<string, string>>>
  /** The server answered 401 or 403. True when the request is worth another try. */
  onUnauthorized(refusal: Refusal): Promise<boolean>
  /** The head of any other answer. */
  onResponse?(request: SentRequest, headers: ResponseHeaders): void
  /** Extensions of the protocol that it makes use of, by their names: what is declared to servers. */
  readonly extensions?: Readonly<Record<string, Record<string, unknown>>>
}

/** One request; the same object for every try of it. */
export interface SentRequest {
  method: string
  url: URL
  /** The server that was connected to. What it says about itself may lead to other URLs of the same origin. */
  server: URL
  /** What the request does, for people and for telling requests apart. */
  operation: string
  /** The version of the protocol that the request is sent with, if any is agreed on. */
  version?: string | undefined
  /** Nobody waits for the answer any more. */
  signal: AbortSignal
}

export interface Refusal {
  request: SentRequest
  status: number
  headers: ResponseHeaders
  /** What `headers` had given for the try that was refused. */
  sent: Readonly<Record<string, string>>
}

/** Names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>
