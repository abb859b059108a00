/** HTTP servers at real sockets that say exactly what a test wants them to say, well-behaved or not. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Client, ConnectOptions } from '../../../src/client/index.ts'
import { verdictMemory } from '../../../src/client/index.ts'
import type { HttpTargetOptions } from '../../../src/http/client/options.ts'
import { connect } from '../../../src/index.ts'
import type { Message } from '../../support/raw-channel.ts'

export const SESSION = '2025-11-25'
export const STATELESS = '2026-07-28'

/** One request as it arrived. */
export interface Received {
  verb: string
  path: string
  headers: IncomingHttpHeaders
  /** Names and values as they were written. */
  rawHeaders: string[]
  text: string
  /** The body, if it is JSON. */
  message: Message
  at: number
}

/** Ways to answer one request. */
export class Answer {
  readonly response: ServerResponse
  readonly #id: unknown

  constructor(response: ServerResponse, id: unknown) {
    this.response = response
    this.#id = id
  }

  result(result: Message, headers: Record<string, string> = {}): void {
    this.json({ jsonrpc: '2.0', id: this.#id, result }, 200, headers)
  }

  error(code: number, message: string, status = 200, data?: unknown): void {
    this.json({ jsonrpc: '2.0', id: this.#id ?? null, error: { code, message, data } }, status)
  }

  json(message: unknown, status = 200, headers: Record<string, string> = {}): void {
    this.text(typeof message === 'string' ? message : JSON.stringify(message), status, { 'content-type': 'application/json', ...headers })
  }

  text(text: string, status = 200, headers: Record<string, string> = {}): void {
    this.response.writeHead(status, headers).end(text)
  }

  status(status: number, headers: Record<string, string> = {}): void {
    this.response.writeHead(status, headers).end()
  }

  events(headers: Record<string, string> = {}): Events {
    this.response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders()
    return new Events(this.response, this.#id)
  }
}

/** A stream of events under the hand of a test. */
export class Events {
  readonly response: ServerResponse
  readonly #id: unknown

  constructor(response: ServerResponse, id: unknown) {
    this.response = response
    this.#id = id
  }

  raw(text: string): this {
    this.response.write(text)
    return this
  }

  message(message: unknown, id?: string): this {
    return this.raw(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`)
  }

  notice(method: string, params?: Message, id?: string): this {
    return this.message({ jsonrpc: '2.0', method, params }, id)
  }

  /** The answer to the request that the stream was opened for. */
  result(result: Message, id?: string): this {
    return this.message({ jsonrpc: '2.0', id: this.#id, result }, id)
  }

  end(): void {
    this.response.end()
  }

  /** Breaks the connection off. */
  destroy(): void {
    this.response.destroy()
  }
}

export type Respond = (received: Received, answer: Answer) => void

export interface HttpScript {
  url: string
  origin: string
  /** Every request so far. */
  received: Received[]
  /** The bodies of POSTs with this method. */
  posts(method: string): Received[]
  /** Resolves with the first request that fits, past or future. */
  until(fits: (received: Received) => boolean): Promise<Received>
  /** Connections now open. */
  sockets: Set<Socket>
  close(): Promise<void>
}

/** Answers every request with `respond` until the test is over. */
export async function httpScript(respond: Respond, port = 0): Promise<HttpScript> {
  const received: Received[] = []
  const waiting: { fits: (received: Received) => boolean; resolve: (received: Received) => void }[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { method: verb = '', url: path = '', headers, rawHeaders } = request
      const one: Received = { verb, path, headers, rawHeaders, text, message: parsed(text), at: performance.now() }
      received.push(one)
      for (const waiter of waiting.filter(({ fits }) => fits(one))) {
        waiting.splice(waiting.indexOf(waiter), 1)
        waiter.resolve(one)
      }
      respond(one, new Answer(response, one.message.id))
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(close)
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    origin,
    received,
    sockets,
    close,
    posts: (method) => received.filter(({ verb, message }) => verb === 'POST' && message.method === method),
    until: (fits) => {
      const past = received.find(fits)
      return past ? Promise.resolve(past) : new Promise((resolve) => waiting.push({ fits, resolve }))
    },
  }
}

const parsed = (text: string): Message => {
  try {
    return JSON.parse(text) as Message
  } catch {
    return {}
  }
}

export interface Script {
  /** What is done for a request that the canned part leaves over; by method, GET and DELETE by those names. */
  [method: string]: Respond
}

const SERVER_INFO = { name: 'scripted', version: '1' }
const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {} }

export const TOOL = { name: 'echo', inputSchema: { type: 'object' } }
export const SAID = { content: [{ type: 'text', text: 'said' }] }

/** A server with sessions; what is not in the script has a sensible answer. */
export function sessionServer(script: Script = {}, options: { sessionId?: string; revision?: string } = {}): Promise<HttpScript> {
  const { sessionId = 'session-1', revision = SESSION } = options
  return httpScript((received, answer) => {
    const { verb, message } = received
    const given = script[verb === 'POST' ? (message.method ?? 'answer') : verb]
    if (given) return given(received, answer)
    if (verb !== 'POST') return answer.status(verb === 'GET' ? 405 : 200)
    if (message.id === undefined || message.method === undefined) return answer.status(202)
    if (message.method === 'initialize')
      return answer.result({ protocolVersion: revision, capabilities: CAPABILITIES, serverInfo: SERVER_INFO }, idHeader(sessionId))
    if (message.method === 'server/discover')
      return answer.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request' } }, 400)
    usual(message, answer)
  })
}

const idHeader = (id: string): Record<string, string> => (id === '' ? {} : { 'mcp-session-id': id })

/** A server without sessions. */
export function statelessServer(script: Script = {}): Promise<HttpScript> {
  return httpScript((received, answer) => {
    const { verb, message } = received
    const given = script[verb === 'POST' ? (message.method ?? 'answer') : verb]
    if (given) return given(received, answer)
    if (verb !== 'POST') return answer.status(405, { allow: 'POST' })
    if (message.method === 'server/discover') {
      const _meta = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO }
      return answer.result({ ...complete, supportedVersions: [STATELESS], capabilities: CAPABILITIES, _meta })
    }
    usual(message, answer)
  })
}

const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

function usual({ method }: Message, answer: Answer): void {
  if (method === 'tools/list') return answer.result({ ...complete, tools: [TOOL] })
  if (method === 'tools/call') return answer.result({ ...complete, ...SAID })
  if (method === 'resources/list') return answer.result({ ...complete, resources: [] })
  if (method === 'ping' || method === 'resources/subscribe' || method === 'logging/setLevel') return answer.result({})
  if (method === 'resources/read') return answer.result({ ...complete, contents: [] })
  if (method === 'prompts/get') return answer.result({ ...complete, messages: [] })
  answer.error(-32601, `Method not found: ${method}`, 404)
}

export type Opened = ConnectOptions & { http?: HttpTargetOptions }

export interface Connected {
  client: Client
  warnings: string[]
}

/** Connects for the length of a test. Nothing is remembered from one test to the next. */
export async function open(to: { url: string } | string, options: Opened = {}): Promise<Connected> {
  const warnings: string[] = []
  const url = typeof to === 'string' ? to : to.url
  const client = await connect(url, { memory: verdictMemory(), onWarning: (message) => warnings.push(message), ...options })
  onTestFinished(() => client.close())
  return { client, warnings }
}

/** Connects as a client of sessions only: the server is not asked what it speaks. */
export const openSession = (to: { url: string } | string, options: Opened = {}): Promise<Connected> =>
  open(to, { revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'], ...options })

export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: unknown; data?: unknown; cause?: unknown }> {
  return promise.then(
    (value) => new Error(`It succeeded with ${JSON.stringify(value)}`),
    (error: Error) => error,
  )
}
