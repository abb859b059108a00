/** A message that is owed no answer, only to be accepted: a notification, or an answer of ours. */

import type { IncomingHttpHeaders } from 'node:http'
import type { McpError } from '../../protocol/errors.ts'
import { BodyText } from './body-text.ts'
import type { HttpClientLimits } from './options.ts'
import { classifyRefusal } from './classify-refusal.ts'
import type { ResponseHandler, HttpRequest, Sending } from './sender.ts'

export interface NotificationOptions {
  /** Names the server in errors. */
  server: string
  limits: HttpClientLimits
  /** What it is, for errors. */
  method: string
  hadSession: boolean
  onAccepted(): void
  onRefused(fault: McpError): void
  /** The server no longer knows the session it was sent in. */
  onForgotten(): void
  onFail(error: McpError): void
}

/** What is read of the body of an acceptance, so that its connection can be used again. */
const MAX_IGNORED_BYTES = 64 * 1024

export class HttpNotification implements ResponseHandler {
  readonly #options: NotificationOptions
  readonly #sending: Sending
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #body: BodyText | undefined
  #ignored = 0

  constructor(options: NotificationOptions, send: (request: HttpRequest, reply: ResponseHandler) => Sending, request: HttpRequest) {
    this.#options = options
    this.#sending = send({ ...request, timeoutMs: options.limits.noticeTimeoutMs, lane: 'notice' }, this)
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
    if (status >= 200 && status < 300) return this.#options.onAccepted()
    this.#body = new BodyText(this.#options.server, this.#options.limits)
  }

  onData(chunk: Buffer): void {
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
    const { server, method, hadSession } = this.#options
    const body = this.#body.text() ?? ''
    const refusal = classifyRefusal({ server, status: this.#status, headers: this.#headers, body, method, id: undefined, hadSession })
    // A message without an id is never answered, so there is a fault unless the session is gone.
    if ('fault' in refusal) this.#options.onRefused(refusal.fault)
    else this.#options.onForgotten()
  }

  onFail(error: McpError): void {
    // Once accepted, nothing of it matters.
    if (this.#status < 200 || this.#status >= 300) this.#options.onFail(error)
  }
}
