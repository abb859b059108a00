/** The endpoint on Node's own requests and responses, with nothing in between. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Ask, BodyBounds, BodyFault, Headers, Reply, Sink } from './ask.ts'

/** A request whose body a framework has read already. */
export type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: string }

type OnBody = (text: string | undefined, fault: BodyFault | undefined) => void

export class NodeAsk implements Ask {
  readonly #request: MaybeParsed
  readonly #parsed: unknown

  /** @param parsed the body, where a framework has read it */
  constructor(request: MaybeParsed, parsed: unknown) {
    this.#request = request
    this.#parsed = parsed ?? (request.readableEnded ? request.body : undefined)
  }

  get method(): string {
    return this.#request.method as string
  }

  get url(): string {
    return this.#request.originalUrl ?? (this.#request.url as string)
  }

  header(name: string): string | undefined {
    return this.#request.headers[name] as string | undefined
  }

  count(name: string): number {
    const { rawHeaders } = this.#request
    let count = 0
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const each = rawHeaders[i] as string
      if (each.length === name.length && each.toLowerCase() === name) count++
    }
    return count
  }

  get headerCount(): number {
    return this.#request.rawHeaders.length / 2
  }

  get isLocal(): boolean {
    return isLoopback((this.#request.socket as Socket).localAddress)
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  body(bounds: BodyBounds, done: OnBody): void {
    if (this.#parsed !== undefined) return done(typeof this.#parsed === 'string' ? this.#parsed : JSON.stringify(this.#parsed), undefined)
    readBody(this.#request, bounds, done)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function readBody(request: IncomingMessage, bounds: BodyBounds, done: OnBody): void {
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let size = 0
  const startedAt = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const settle = (text: string | undefined, fault: BodyFault | undefined): void => {
    clearTimeout(timer)
    request.off('data', onData)
    request.off('end', onEnd)
    request.off('close', onClose)
    done(text, fault)
  }
  const judgePace = (): void => {
    const seconds = (performance.now() - startedAt) / 1000
    if (size < seconds * bounds.minBodyRate) settle(undefined, 'too-slow')
    else timer = setTimeout(judgePace, 1000)
  }
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > bounds.maxBodyBytes) return settle(undefined, 'too-large')
    if (!first) first = chunk
    else if (more) more.push(chunk)
    else more = [first, chunk]
    // A body in one piece, which nearly all are, needs no timer.
    if (timer === undefined && !request.complete) timer = setTimeout(judgePace, bounds.bodyGraceMs)
  }
  const onEnd = (): void => {
    const bytes = more ? Buffer.concat(more, size) : (first ?? Buffer.alloc(0))
    const text = textOf(bytes)
    settle(text, text === undefined ? 'not-utf8' : undefined)
  }
  const onClose = (): void => settle(undefined, 'gone')
  request.on('data', onData)
  request.on('end', onEnd)
  request.on('close', onClose)
}

/** Undefined for bytes that are no UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  // Native and without a copy for what nearly every message is; the decoder tells bad bytes from replaced ones.
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd')) return text
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export class NodeReply implements Reply {
  extraHeaders: Headers | undefined
  onGone: (() => void) | undefined
  isGone = false
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      if (response.writableFinished) return
      this.isGone = true
      this.onGone?.()
    })
  }

  send(status: number, headers: Headers, body?: string): void {
    const response = this.#response
    const all: Record<string, string | number> = { ...headers, ...this.extraHeaders }
    if (body !== undefined) all['content-length'] = Buffer.byteLength(body)
    response.writeHead(status, all)
    response.end(body)
    // The rest of a body that nobody wants is not waited for.
    if (status >= 400 && !response.req.complete) response.once('finish', () => response.req.socket.destroySoon())
  }

  open(headers: Headers): Sink {
    this.#response.writeHead(200, { ...headers, ...this.extraHeaders })
    const sink = new NodeSink(this.#response)
    this.onGone = () => sink.onGone?.()
    return sink
  }
}

class NodeSink implements Sink {
  onGone: (() => void) | undefined
  readonly #response: ServerResponse
  #isCorked = false
  #isEnded = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get pending(): number {
    return this.#response.writableLength
  }

  get taken(): number {
    return this.#response.socket?.bytesWritten ?? 0
  }

  write(text: string): void {
    if (this.#isEnded || this.#response.destroyed) return
    // What is written in one turn leaves in one packet.
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#response.cork()
      process.nextTick(this.#uncork)
    }
    this.#response.write(text)
  }

  whenDrained(listener: () => void): void {
    const response = this.#response
    const over = (): void => {
      response.off('drain', over)
      response.off('close', over)
      listener()
    }
    response.on('drain', over)
    response.on('close', over)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#response.end()
  }

  destroy(): void {
    this.#isEnded = true
    this.#response.destroy()
  }

  readonly #uncork = (): void => {
    this.#isCorked = false
    this.#response.uncork()
  }
}

/** Whether an address is this machine's own. */
export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.'))
