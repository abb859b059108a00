/** A message that gets no answer and only has to be accepted: a notification, or a response of ours to the server. */

import type { IncomingHttpHeaders } from 'node:http'
import type { McpError } from '../../protocol/errors.ts'
import { BodyText } from './body-text.ts'
import { classifyRefusal } from './classify-refusal.ts'
import type { HttpConnection, HttpRequest, ResponseHandler, Sending } from './http-request.ts'

export interface OneWayPostOptions {
  /** Names the message in errors. */
  method: string
  /** Whether it is sent with a session id. */
  hasSession: boolean
  onAccepted?(): void
  /** The server no longer knows the session. */
  onSessionGone?(): void
  onFail(error: McpError): void
}

/** How many bytes of a 202 response are read and discarded, so that the connection can be used again. */
const MAX_IGNORED_BYTES = 64 * 1024
/** How long the server may take to accept the message. It has nothing to compute, so this only covers a slow network. */
const ACCEPT_TIMEOUT_MS = 30_000

export class OneWayPost implements ResponseHandler {
  readonly #connection: HttpConnection
  readonly #options: OneWayPostOptions
  readonly #sending: Sending
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #body: BodyText | undefined
  #ignored = 0

  /** Sends it. */
  constructor(connection: HttpConnection, request: HttpRequest, options: OneWayPostOptions) {
    this.#connection = connection
    this.#options = options
    this.#sending = connection.send({ ...request, timeoutMs: ACCEPT_TIMEOUT_MS, lane: 'notice' }, this)
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
    if (status >= 200 && status < 300) return this.#options.onAccepted?.()
    this.#body = new BodyText(this.#connection.server, this.#connection.limits)
  }

  onData(chunk: Uint8Array): void {
    if (!this.#body) {
      this.#ignored += chunk.length
      if (this.#ignored > MAX_IGNORED_BYTES) this.#sending.abort()
      return
    }
    try {
      this.#body.push(chunk)
    } catch (error) {
      this.#sending.abort()
      this.#options.onFail(error as McpError)
    }
  }

  onEnd(): void {
    if (!this.#body) return
    const { method, hasSession } = this.#options
    const { server } = this.#connection
    const body = this.#body.text() ?? ''
    const refusal = classifyRefusal({ server, status: this.#status, headers: this.#headers, body, method, id: undefined, hasSession })
    // The message has no id, so the refusal is either a fault or a lost session, never a JSON-RPC answer.
    if ('fault' in refusal) this.#options.onFail(refusal.fault)
    else this.#options.onSessionGone?.()
  }

  onFail(error: McpError): void {
    // Once the server has accepted the message, a broken connection does not matter.
    if (this.#status < 200 || this.#status >= 300) this.#options.onFail(error)
  }
}
