/**
 * The transport of the oldest revision: one stream of events for all that the server says, whose first event names the
 * URL that messages are posted to. The end of the stream is the end of the connection.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { McpError } from '../../protocol/errors.ts'
import { EventReader } from './event-reader.ts'
import { getHeaders } from './headers.ts'
import type { HttpClientLimits } from './options.ts'
import { mediaTypeOf } from './match-answer.ts'
import { statusName } from './classify-refusal.ts'
import type { ResponseHandler, HttpRequest, Sending } from './sender.ts'

export interface LegacySseStreamOptions {
  /** Names the server in errors. */
  server: string
  url: URL
  limits: HttpClientLimits
  send(request: HttpRequest, reply: ResponseHandler): Sending
  /** This is such a server, and messages go there. */
  onReady(endpoint: URL): void
  /** This is no such server. */
  onRefused(error: McpError): void
  onMessage(data: string): void
  onEnd(error: McpError): void
}

export class LegacySseStream implements ResponseHandler, Sending {
  readonly #options: LegacySseStreamOptions
  readonly #reader: EventReader
  readonly #sending: Sending
  #isReady = false
  #isOver = false

  constructor(options: LegacySseStreamOptions) {
    const { server, limits, url, send } = options
    this.#options = options
    this.#reader = new EventReader({ server, limits, onEvent: (name, data) => this.#onEvent(name, data) })
    this.#sending = send({ method: 'GET', url, headers: getHeaders({ id: undefined, version: undefined }) }, this)
  }

  abort(): void {
    this.#isOver = true
    this.#sending.abort()
    this.#reader.stop()
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    const type = mediaTypeOf(headers['content-type'])
    if (status === 200 && type === 'text/event-stream') return
    this.#end(this.#notThis(`GET is answered with HTTP ${statusName(status)} and ${type || 'nothing'}, not with text/event-stream`))
  }

  onData(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#end(error as McpError)
    }
  }

  onEnd(): void {
    const { server } = this.#options
    this.#end(this.#isReady ? new McpError('ERR_CLOSED', `${server} ended its stream`) : this.#notThis('the stream is empty'))
  }

  onFail(error: McpError): void {
    this.#end(error)
  }

  #onEvent(name: string, data: string): void {
    if (this.#isReady) {
      if (name === 'message') this.#options.onMessage(data)
      return
    }
    if (name !== 'endpoint')
      return this.#end(this.#notThis(`the stream begins with the event ${JSON.stringify(name)}, not with "endpoint"`))
    const { server, url } = this.#options
    const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined
    if (!endpoint) return this.#end(this.#notThis('its endpoint is no URL'))
    if (endpoint.origin !== url.origin) {
      return this.#end(new McpError('ERR_INSECURE', `${server} wants messages to be sent to another origin, ${endpoint.origin}`))
    }
    this.#isReady = true
    this.#options.onReady(endpoint)
  }

  #notThis(why: string): McpError {
    return new McpError('ERR_NO_ENDPOINT', `${this.#options.server} does not speak the protocol: ${why}`)
  }

  #end(error: McpError): void {
    if (this.#isOver) return
    this.abort()
    if (this.#isReady) this.#options.onEnd(error)
    else this.#options.onRefused(error)
  }
}
