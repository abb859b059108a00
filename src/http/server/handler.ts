/** A server as something to mount: in a runtime with web standards, or on Node beside whatever else is served. */

import type { ServerResponse } from 'node:http'
import { McpError } from '../../protocol/errors.ts'
import { isService, type Service } from '../../protocol/seams/service.ts'
import { Endpoint, type HttpCounts } from './endpoint.ts'
import type { HttpOptions } from './options.ts'
import { type MaybeParsed, NodeExchange } from './runtime/node.ts'
import { WebReply, WebRequestView } from './runtime/web.ts'

export interface HttpHandler {
  /** For runtimes with web standards. */
  fetch(request: Request, info?: { remoteAddress?: string }): Promise<Response>
  /** For Node's own server and frameworks on it. `body` is the parsed body, where the framework has read it. */
  node(request: MaybeParsed, response: ServerResponse, body?: unknown): void
  /** False while it takes no more work. */
  readonly isReady: boolean
  readonly counts: HttpCounts
  /** Takes no new work and resolves when what is in hand is done, or the time is over. */
  drain(graceMs?: number): Promise<void>
  /** Ends every session and stream now. */
  close(): void
}

const DEFAULT_GRACE_MS = 10_000

export function httpHandler(service: Service, options: HttpOptions = {}): HttpHandler {
  if (!isService(service)) throw new McpError('ERR_DEFINITION', 'What is to be served must be made by createServer()')
  const endpoint = new Endpoint(service, options)
  return {
    fetch: (request, info) => {
      const reply = new WebReply(request)
      endpoint.handle(new WebRequestView(request, info?.remoteAddress), reply)
      return reply.response
    },
    node: (request, response, body) => {
      const post = new NodeExchange(request, response, body, endpoint.limits.stallMs)
      endpoint.handle(post, post)
    },
    get isReady() {
      return endpoint.isReady
    },
    get counts() {
      return endpoint.counts
    },
    drain: (graceMs = DEFAULT_GRACE_MS) => endpoint.drain(graceMs),
    close: () => endpoint.close(),
  }
}
