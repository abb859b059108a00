/**
 * The transport of the oldest revision: one stream of events carries everything the server sends. Its first event names the
 * URL for POSTs. The connection ends with the stream.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { McpError } from '../../protocol/errors.ts'
import { statusName } from './classify-refusal.ts'
import { EventReader } from './event-reader.ts'
import { getHeaders, mediaTypeOf } from './headers.ts'
import type { HttpConnection, ResponseHandler, Sending } from './http-request.ts'

export interface LegacySseStreamOptions {
  /** The server speaks this transport, and messages are posted to `endpoint`. */
  onReady(endpoint: URL): void
  /** The server does not speak this transport. */
  onRefused(error: McpError): void
  onMessage(data: string): void
  onEnd(error: McpError): void
}

export class LegacySseStream implements ResponseHandler, Sending {
  readonly #connection: HttpConnection
  readonly #options: LegacySseStreamOptions
  readonly #reader: EventReader
  readonly #sending: Sending
  #isReady = false
  #isOver = false

  constructor(connection: HttpConnection, options: LegacySseStreamOptions) {
    const { server, limits, url } = connection
    this.#connection = connection
    this.#options = options
    this.#reader = new EventReader({ server, limits, onEvent: (name, data) => this.#onEvent(name, data) })
    this.#sending = connection.send({ method: 'GET', url, headers: getHeaders({ id: undefined, version: undefined }) }, this)
  }

  abort(): void {
    this.#isOver = true
    this.#sending.abort()
    this.#reader.stop()
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    const type = mediaTypeOf(headers['content-type'])
    if (status === 200 && type === 'text/event-stream') return
    this.#end(
      this.#notThis(`GET was answered with HTTP ${statusName(status)} and ${type || 'no content type'}; expected text/event-stream`),
    )
  }

  onData(chunk: Uint8Array): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#end(error as McpError)
    }
  }

  onEnd(): void {
    const { server } = this.#connection
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
    if (name !== 'endpoint') return this.#end(this.#notThis(`the first event is ${JSON.stringify(name)}; expected "endpoint"`))
    const { server, url } = this.#connection
    const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined
    if (!endpoint) return this.#end(this.#notThis('its endpoint is not a valid URL'))
    if (endpoint.origin !== url.origin) {
      return this.#end(new McpError('ERR_INSECURE', `${server} names an endpoint at another origin, ${endpoint.origin}`))
    }
    this.#isReady = true
    this.#options.onReady(endpoint)
  }

  #notThis(why: string): McpError {
    return new McpError('ERR_NO_ENDPOINT', `${this.#connection.server} does not speak MCP: ${why}`)
  }

  #end(error: McpError): void {
    if (this.#isOver) return
    this.abort()
    if (this.#isReady) this.#options.onEnd(error)
    else this.#options.onRefused(error)
  }
}
