/** A worker: a module that exports fetch, for Cloudflare Workers, Deno Deploy, Bun and others. */

import { apiKeys } from 'portico/auth'
import { type HttpHandler, httpHandler } from 'portico/http'
import { createServer } from 'portico/server'
import { z } from 'zod'

/** What the platform passes to each request. */
export interface Env {
  /** The public host name, for example `tools.example.workers.dev`. */
  PUBLIC_HOST: string
  /** A secret: the key that callers send as `Authorization: Bearer ...`. */
  API_KEY: string
}

const server = createServer({ name: 'colours', version: '1.0.0' })
server.tool('mix', { description: 'Mixes two colours', input: z.object({ a: z.string(), b: z.string() }) }, ({ a, b }) => {
  const part = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16)
  const mixed = [1, 3, 5].map((at) => Math.round((part(a, at) + part(b, at)) / 2))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
})

let handler: HttpHandler | undefined

/** The environment comes with the first request, so the handler is made then. */
function handlerFor({ PUBLIC_HOST, API_KEY }: Env): HttpHandler {
  handler ??= httpHandler(server, { auth: apiKeys({ keys: { caller: API_KEY }, host: PUBLIC_HOST }), sessions: false })
  return handler
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const remoteAddress = request.headers.get('cf-connecting-ip') ?? undefined
    return handlerFor(env).fetch(request, remoteAddress === undefined ? {} : { remoteAddress })
  },
}
