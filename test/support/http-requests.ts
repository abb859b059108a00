/** HTTP as somebody speaks it who has none of our code: node:http, raw sockets, and events read by hand. */

import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Message } from './raw-channel.ts'

export interface HttpCall {
  method?: string
  headers?: Record<string, string | string[]>
  /** An object is sent as JSON. */
  body?: unknown
  agent?: Agent
  /** Trusts this certificate, for https. */
  ca?: string
  /** Leaves Content-Type and Accept to `headers`. */
  isBare?: boolean
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON; `{}` when it is none. */
  message: Message
}

export interface ServerEvent {
  id?: string
  event?: string
  retry?: string
  data?: string
}

const USUAL = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function start(url: string, call: HttpCall): Promise<IncomingMessage> {
  const { method = 'POST', headers = {}, body, agent, ca, isBare } = call
  const text = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const all = isBare ? headers : { ...USUAL, ...headers }
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    // A connection of its own unless asked, so that none is kept alive past the test.
    const outgoing = send(url, { method, headers: all, agent: agent ?? false, ...(ca === undefined ? {} : { ca }) }, resolve)
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

/** One request and its whole answer. */
export async function http(url: string, call: HttpCall = {}): Promise<HttpAnswer> {
  const response = await start(url, call)
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, headers: response.headers, text, message: parsed(text) }
}

/** One request whose answer is read as it comes. */
export async function httpStream(url: string, call: HttpCall = {}): Promise<EventReader> {
  return new EventReader(await start(url, call))
}

function parsed(text: string): Message {
  try {
    return JSON.parse(text) as Message
  } catch {
    return {}
  }
}

export class EventReader {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every event so far, taken or not. */
  readonly events: ServerEvent[] = []
  comments = 0
  /** How it ended: `end` as HTTP ends an answer, `cut` in the middle. */
  readonly ended: Promise<'end' | 'cut'>
  /** Everything that came, as it came. */
  text = ''
  readonly #response: IncomingMessage
  #rest = ''
  #taken = 0
  #isOver = false
  #wake: (() => void)[] = []

  constructor(response: IncomingMessage) {
    this.#response = response
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#read(chunk))
    this.ended = new Promise((resolve) => {
      const over = (how: 'end' | 'cut'): void => {
        this.#isOver = true
        resolve(how)
        this.#wakeAll()
      }
      response.on('error', () => over('cut'))
      response.on('close', () => over(response.complete ? 'end' : 'cut'))
    })
  }

  /** The next event; undefined when the stream ended. */
  async next(): Promise<ServerEvent | undefined> {
    while (this.#taken >= this.events.length && !this.#isOver) await this.#change()
    return this.events[this.#taken++]
  }

  /** The message in the next event that has one. */
  async message(): Promise<Message> {
    for (;;) {
      const event = await this.next()
      if (!event) throw new Error(`The stream ended; it said: ${this.text}`)
      if (event.data) return JSON.parse(event.data) as Message
    }
  }

  /** Waits for the end; the messages of all events since the last one taken. */
  async messages(): Promise<Message[]> {
    await this.ended
    const events = this.events.slice(this.#taken)
    this.#taken = this.events.length
    return events.flatMap(({ data }) => (data ? [JSON.parse(data) as Message] : []))
  }

  async untilComments(count: number): Promise<void> {
    while (this.comments < count && !this.#isOver) await this.#change()
  }

  /** The whole answer, for one that turned out to be no stream. */
  async whole(): Promise<Message> {
    await this.ended
    return parsed(this.text)
  }

  pause(): void {
    this.#response.pause()
  }

  resume(): void {
    this.#response.resume()
  }

  /** Breaks the connection off. */
  destroy(): void {
    this.#response.destroy()
  }

  /** Breaks it off the rude way. */
  reset(): void {
    this.#response.socket.resetAndDestroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  #read(chunk: string): void {
    this.text += chunk
    const blocks = (this.#rest + chunk).split('\n\n')
    this.#rest = blocks.pop() as string
    for (const block of blocks) this.#readBlock(block)
    this.#wakeAll()
  }

  #readBlock(block: string): void {
    const event: ServerEvent = {}
    for (const line of block.split('\n')) {
      const at = line.indexOf(':')
      if (at === 0) this.comments++
      else if (at > 0) event[line.slice(0, at) as keyof ServerEvent] = line.slice(at + 1).replace(/^ /, '')
    }
    if (Object.keys(event).length > 0) this.events.push(event)
  }
}

/** A socket that says exactly `text`, and what came back until the other side closed it. */
export function rawHttp(port: number, text: string | Uint8Array): RawSocket {
  return new RawSocket(connect(port, '127.0.0.1'), text)
}

export class RawSocket {
  readonly socket: Socket
  received = ''
  readonly closed: Promise<string>
  #wake: (() => void)[] = []

  constructor(socket: Socket, text: string | Uint8Array) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1')
      for (const wake of this.#wake.splice(0)) wake()
    })
    this.closed = new Promise((resolve) => {
      socket.on('error', () => {})
      socket.on('close', () => {
        resolve(this.received)
        for (const wake of this.#wake.splice(0)) wake()
      })
    })
    if (text.length > 0) socket.write(text)
  }

  /** The status of the first answer; whatever else comes is not waited for. */
  async status(): Promise<number> {
    await this.until(/^HTTP\/1\.1 (\d{3})/)
    this.destroy()
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1] ?? 0)
  }

  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received) && !this.socket.closed) await new Promise<void>((resolve) => this.#wake.push(resolve))
    return this.received
  }

  destroy(): void {
    this.socket.destroy()
  }
}

export const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port
