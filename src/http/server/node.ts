/** The endpoint on Node's own requests and responses, with nothing in between. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopbackAddress } from '../../base/address/loopback.ts'
import { forwardedAddress } from './address.ts'
import type { Ask, BodyBounds, BodyFault, Headers, Reply, Sink } from './ask.ts'

/** A request whose body a framework may have read already. */
export type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: string }

type OnBody = (text: string | undefined, fault: BodyFault | undefined) => void

const LINGER_MS = 500

/**
 * The requests of one connection that have no whole answer yet. A client may send several before the first is answered,
 * and Node tells only the response that is being written that the connection has closed: the others hear it from here.
 */
class Connection {
  readonly #visits = new Set<NodeVisit>()

  constructor(socket: Socket) {
    socket.once('close', () => {
      for (const visit of [...this.#visits]) visit.onConnectionClosed()
    })
    socket.once('end', () => this.#probe(PROBES_MS))
  }

  /** Finds out whether a client that sends nothing more is still there. Only a write after the reset fails, hence several. */
  #probe([delay, ...more]: readonly number[]): void {
    let isOpen = false
    // One is enough: what comes back says the same about all of them.
    for (const visit of this.#visits) {
      isOpen = visit.probe()
      if (isOpen) break
    }
    if (isOpen && delay !== undefined) setTimeout(() => this.#probe(more), delay).unref()
  }

  static of(socket: Socket & { [CONNECTION]?: Connection }): Connection {
    let connection = socket[CONNECTION]
    if (!connection) {
      connection = new Connection(socket)
      socket[CONNECTION] = connection
    }
    return connection
  }

  add(visit: NodeVisit): void {
    this.#visits.add(visit)
  }

  delete(visit: NodeVisit): void {
    this.#visits.delete(visit)
  }
}

const CONNECTION = Symbol('connection')
/** Pauses between the attempts: for a client next door, on this continent, and anywhere. */
const PROBES_MS = [25, 250, 1000]

/** One request and its answer; one object, because there is one for every request. */
export class NodeVisit implements Ask, Reply {
  readonly method: string
  readonly url: string
  extraHeaders: Headers | undefined
  endsAt: number | undefined
  onGone: (() => void) | undefined
  isGone = false
  proxies = 0
  readonly #connection: Connection
  readonly #request: MaybeParsed
  readonly #response: ServerResponse
  readonly #parsed: unknown
  readonly #stallMs: number
  #body: NodeBody | undefined
  #sink: NodeSink | undefined

  /**
   * @param parsed the body, where a framework has read it
   * @param stallMs how long the client may take nothing of an answer
   */
  constructor(request: MaybeParsed, response: ServerResponse, parsed: unknown, stallMs: number) {
    this.#stallMs = stallMs
    this.#request = request
    this.#response = response
    // A framework that calls with (request, response, next) has no body to give.
    const given = typeof parsed === 'function' ? undefined : parsed
    this.#parsed = given ?? (request.readableEnded ? (request.body ?? '') : undefined)
    this.method = request.method as string
    this.url = request.originalUrl ?? (request.url as string)
    this.#connection = Connection.of(request.socket)
    if (response.destroyed || request.socket.destroyed) {
      this.isGone = true
      return
    }
    this.#connection.add(this)
    response.on('close', this.#onClose)
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
    return isLoopbackAddress(this.#request.socket.localAddress)
  }

  get remoteAddress(): string | undefined {
    const { remoteAddress } = this.#request.socket
    return this.proxies === 0 ? remoteAddress : forwardedAddress(this.header('x-forwarded-for'), this.proxies, remoteAddress)
  }

  body(bounds: BodyBounds, grow: (bytes: number) => boolean, done: OnBody): void {
    if (this.#parsed !== undefined) return done(typeof this.#parsed === 'string' ? this.#parsed : JSON.stringify(this.#parsed), undefined)
    this.#body = new NodeBody(this.#request, bounds, grow, done)
  }

  send(status: number, headers: Headers, body?: string): void {
    const response = this.#response
    const all: Record<string, string | number> = { ...headers }
    if (this.extraHeaders) Object.assign(all, this.extraHeaders)
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    if (body !== undefined || status !== 204) all['content-length'] = length
    response.writeHead(status, all)
    if (!this.#request.complete && (status >= 400 ? body !== undefined : hasBody(this.#request))) this.#sendEarly(body)
    else end(response, body, length, this.#stallMs)
  }

  sendParts(status: number, headers: Headers, head: string, body: Uint8Array, tail: string): void {
    const response = this.#response
    const length = Buffer.byteLength(head) + body.length + Buffer.byteLength(tail)
    response.writeHead(status, { ...headers, ...this.extraHeaders, 'content-length': length })
    response.cork()
    response.write(head)
    response.write(body)
    end(response, tail, tail.length, this.#stallMs)
  }

  /**
   * An answer to a request that is still being sent. All of it is written now; but the response ends only when the rest
   * of the request has come or some time has passed: a connection that is closed under what is still on its way in takes
   * the answer with it.
   */
  #sendEarly(body: string | undefined): void {
    const response = this.#response
    const request = this.#request
    const finish = (): void => {
      clearTimeout(timer)
      if (!response.writableEnded) response.end()
      if (!request.complete) request.socket.destroySoon()
    }
    const timer = setTimeout(finish, LINGER_MS)
    timer.unref()
    request.once('end', finish)
    request.once('close', finish)
    if (body === undefined) response.flushHeaders()
    else response.write(body)
    request.resume()
  }

  open(headers: Headers): Sink {
    const sink = new NodeSink(this.#response, this.extraHeaders ? { ...headers, ...this.extraHeaders } : headers, this.#stallMs)
    this.#sink = sink
    this.onGone = () => sink.abandon()
    this.#body?.forget()
    return sink
  }

  /** The connection closed, whether this response was being written or still waited for its turn. */
  onConnectionClosed(): void {
    this.#onClose()
  }

  /**
   * The client sends nothing more. It may wait for its answer, or be gone: a closed and a half-closed connection look
   * the same from here until something is written, so something is. The machine of a client that is gone then resets it.
   * @returns false for a response that cannot be written to yet
   */
  probe(): boolean {
    const response = this.#response
    const { socket } = response
    if (!socket?.writable || response.writableEnded) return false
    if (this.#sink) this.#sink.write(':\n\n')
    // There is nothing harmless to say to a client of HTTP/1.0, so it counts as gone.
    else if (this.#request.httpVersionMinor === 0) socket.destroySoon()
    else if (!response.headersSent) response.writeContinue()
    return true
  }

  readonly #onClose = (): void => {
    this.#connection.delete(this)
    if (this.isGone || this.#response.writableFinished) return
    this.isGone = true
    this.#body?.onGone()
    this.onGone?.()
  }
}

/** Whether a request says that it has a body. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

// A byte order mark is no JSON, and stays to be found out.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A body on its way in: bounded in size, and in how slowly it may come. */
class NodeBody {
  readonly #request: IncomingMessage
  readonly #bounds: BodyBounds
  readonly #grow: (bytes: number) => boolean
  readonly #done: OnBody
  #first: Buffer | undefined
  #more: Buffer[] | undefined
  #size = 0
  #judgedAt = 0
  #judgedSize = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(request: IncomingMessage, bounds: BodyBounds, grow: (bytes: number) => boolean, done: OnBody) {
    this.#request = request
    this.#bounds = bounds
    this.#grow = grow
    this.#done = done
    request.on('data', this.#onData)
    request.on('end', this.#onEnd)
    process.nextTick(this.#onBegun)
  }

  onGone(): void {
    this.#settle(undefined, 'gone')
  }

  /** A stream may stay open for long; what its request was read from need not. */
  forget(): void {
    this.#first = undefined
    this.#more = undefined
    this.#request.off('data', this.#onData)
    this.#request.off('end', this.#onEnd)
  }

  /** What came together with the head has been read by now. */
  readonly #onBegun = (): void => {
    if (!this.#first && !this.#isOver) this.#watchPace()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#size > this.#bounds.maxBodyBytes) return this.#settle(undefined, 'too-large')
    const isWhole = !this.#first && this.#size >= Number(this.#request.headers['content-length'])
    // A body in one piece is counted when it is read, in the same turn.
    if (!isWhole && !this.#grow(chunk.length)) return this.#settle(undefined, 'no-room')
    if (!this.#first) this.#first = chunk
    else if (this.#more) this.#more.push(chunk)
    else this.#more = [this.#first, chunk]
    // Nearly every body comes in one piece, and then its pace needs no judge.
    if (this.#timer === undefined && !(this.#size >= Number(this.#request.headers['content-length']))) this.#watchPace()
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return
    const bytes = this.#more ? Buffer.concat(this.#more, this.#size) : this.#first
    const text = bytes ? textOf(bytes) : ''
    this.#settle(text, text === undefined ? 'not-utf8' : undefined)
  }

  #watchPace(): void {
    this.#judgedAt = performance.now()
    this.#timer = setTimeout(this.#judgePace, this.#bounds.bodyGraceMs)
  }

  /** Judges what came since the last time: who sends much at once may not be slow for long because of that. */
  readonly #judgePace = (): void => {
    const now = performance.now()
    const seconds = (now - this.#judgedAt) / 1000
    if (this.#size - this.#judgedSize < seconds * this.#bounds.minBodyRate) return this.#settle(undefined, 'too-slow')
    this.#judgedAt = now
    this.#judgedSize = this.#size
    this.#timer = setTimeout(this.#judgePace, this.#bounds.bodyGraceMs)
  }

  #settle(text: string | undefined, fault: BodyFault | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#done(text, fault)
  }
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

/** What is written in one turn leaves as one piece; a stream that begins and ends in one turn leaves as one answer. */
class NodeSink implements Sink {
  onGone: (() => void) | undefined
  readonly #response: ServerResponse
  readonly #headers: Headers
  readonly #stallMs: number
  #unsent = ''
  #isEnded = false
  #waiting: (() => void)[] | undefined

  constructor(response: ServerResponse, headers: Headers, stallMs: number) {
    this.#response = response
    this.#headers = headers
    this.#stallMs = stallMs
  }

  get pending(): number {
    return this.#response.writableLength + this.#unsent.length
  }

  get taken(): number {
    const { socket } = this.#response
    // What Node calls written it may still hold.
    return socket ? socket.bytesWritten - socket.writableLength : 0
  }

  write(text: string): void {
    if (this.#isEnded || this.#response.destroyed) return
    if (this.#unsent === '') process.nextTick(this.#flush)
    this.#unsent += text
  }

  whenDrained(listener: () => void): void {
    const response = this.#response
    if (response.destroyed) return listener()
    if (this.#waiting) return void this.#waiting.push(listener)
    this.#waiting = [listener]
    response.on('drain', this.#relieve)
    response.on('close', this.#relieve)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const response = this.#response
    const length = Buffer.byteLength(this.#unsent)
    if (!response.headersSent) response.writeHead(200, { ...this.#headers, 'content-length': length })
    end(response, this.#unsent, length, this.#stallMs)
    this.#unsent = ''
  }

  destroy(): void {
    this.#isEnded = true
    const response = this.#response
    response.destroy()
    // A response that waits for its turn on the connection is closed when that comes; nobody else waits so long.
    if (!response.socket) this.abandon()
  }

  /** The client is gone. */
  abandon(): void {
    this.#isEnded = true
    if (this.#waiting) this.#relieve()
    this.onGone?.()
  }

  readonly #flush = (): void => {
    const response = this.#response
    if (this.#isEnded || response.destroyed) return
    if (!response.headersSent) response.writeHead(200, this.#headers)
    response.write(this.#unsent)
    this.#unsent = ''
    // Of what stays under Node's own mark there is no word when it is taken.
    if (this.#waiting && !response.writableNeedDrain) this.#relieve()
  }

  readonly #relieve = (): void => {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.#response.off('drain', this.#relieve)
    this.#response.off('close', this.#relieve)
    for (const listener of waiting) listener()
  }
}

/** The last of an answer. Node waits for ever for a client that does not take it, unless told how long. */
const LONG_TEXT = 64 * 1024

function end(response: ServerResponse, text: string | undefined, length: number, stallMs: number): void {
  // As many bytes as characters: nothing to encode, only to copy.
  const encoding = length === text?.length ? 'latin1' : 'utf8'
  // A long text is made bytes once, here; as a string it would go through the stream's own way to do that, which is slower.
  response.end(length > LONG_TEXT ? Buffer.from(text as string, encoding) : text, encoding)
  // When all is taken, Node puts the time that an idle connection may have in its place.
  if (response.writableLength === 0) return
  if (response.socket) response.socket.setTimeout(stallMs)
  // Its turn on the connection has not come yet.
  else response.once('socket', (socket: Socket) => socket.setTimeout(stallMs))
}
