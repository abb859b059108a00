/** HTTP requests and responses of Node's own server. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopbackAddress } from '../../../base/address/loopback.ts'
import { LinkedList, type ListNode } from '../../../base/linked-list.ts'
import { forwardedAddress } from '../limits/client-address.ts'
import { NodeBody } from './node-body.ts'
import { end, NodeEventSink, withLength } from './node-event-sink.ts'
import type { BodyBounds, BodyRoom, EventSink, Headers, HttpReply, HttpRequestView, OnBody } from './request-reply.ts'

/** A request whose body a framework may already have read. */
export type MaybeParsed = IncomingMessage & { body?: unknown; originalUrl?: string }

/** How long the rest of a request is awaited after an early answer. */
const LINGER_MS = 500

/**
 * The requests of one connection that have no complete answer yet. A client may send several before the first is answered,
 * and Node emits 'close' only on the response that is being written. This class notifies the other responses.
 */
class Connection {
  readonly #exchanges = new LinkedList<NodeRequestReply>()
  #isLocal: boolean | undefined

  constructor(socket: Socket) {
    socket.once('close', () => {
      for (let post = this.#exchanges.first; post; post = this.#exchanges.first) post.onConnectionClosed()
    })
    socket.once('end', () => this.#probe(PROBES_MS))
  }

  /**
   * Finds out whether a client that closed its side is still there. A write fails only after the reset of the client has arrived, so
   * this writes several times.
   */
  #probe([delay, ...more]: readonly number[]): void {
    let isOpen = false
    // One probe is enough for the whole connection.
    for (let post = this.#exchanges.first; post && !isOpen; post = post.next) isOpen = post.probe()
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

  add(post: NodeRequestReply): void {
    this.#exchanges.add(post)
  }

  delete(post: NodeRequestReply): void {
    this.#exchanges.remove(post)
  }

  /** Whether the connection ends at a loopback address. That never changes. */
  isLocal(socket: Socket): boolean {
    this.#isLocal ??= isLoopbackAddress(socket.localAddress)
    return this.#isLocal
  }
}

const CONNECTION = Symbol('connection')
/** The pauses between probes, for a client nearby, on the same continent, and anywhere. */
const PROBES_MS = [25, 250, 1000]

/** One request and its response. A single object, because there is one for every request. */
export class NodeRequestReply implements HttpRequestView, HttpReply, ListNode<NodeRequestReply> {
  readonly method: string
  readonly url: string
  extraHeaders: Headers | undefined
  endsAt: number | undefined
  request: HttpRequestView | undefined
  principal: string | undefined
  onGone: (() => void) | undefined
  isGone = false
  proxies = 0
  previous: NodeRequestReply | undefined
  next: NodeRequestReply | undefined
  readonly #connection: Connection
  readonly #request: MaybeParsed
  readonly #response: ServerResponse
  readonly #parsed: unknown
  readonly #stallMs: number
  #body: NodeBody | undefined
  #sink: NodeEventSink | undefined

  /**
   * @param parsed the body, where a framework has read it
   * @param stallMs how long the client may read nothing of a response
   */
  constructor(request: MaybeParsed, response: ServerResponse, parsed: unknown, stallMs: number) {
    this.#stallMs = stallMs
    this.#request = request
    this.#response = response
    // Some frameworks pass (request, response, next), without a body.
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
    return this.#connection.isLocal(this.#request.socket)
  }

  get isSecure(): boolean {
    return 'encrypted' in this.#request.socket
  }

  get localAddress(): string | undefined {
    return this.#request.socket.localAddress
  }

  get remoteAddress(): string | undefined {
    const { remoteAddress } = this.#request.socket
    return this.proxies === 0 ? remoteAddress : forwardedAddress(this.header('x-forwarded-for'), this.proxies, remoteAddress)
  }

  body(bounds: BodyBounds, room: BodyRoom, done: OnBody): void {
    if (this.#parsed !== undefined) return done(typeof this.#parsed === 'string' ? this.#parsed : JSON.stringify(this.#parsed), undefined)
    this.#body = new NodeBody(this.#request, bounds, room, done)
  }

  send(status: number, headers: Headers, body?: string): void {
    const response = this.#response
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    const hasLength = body !== undefined || status !== 204
    response.writeHead(status, hasLength ? withLength(length, headers, this.extraHeaders) : { ...headers, ...this.extraHeaders })
    if (!this.#request.complete && (status >= 400 ? body !== undefined : hasBody(this.#request))) this.#sendEarly(body)
    else end(response, body, length, this.#stallMs)
  }

  sendParts(status: number, headers: Headers, head: string, body: Uint8Array, tail: string): void {
    const response = this.#response
    const length = Buffer.byteLength(head) + body.length + Buffer.byteLength(tail)
    response.writeHead(status, withLength(length, headers, this.extraHeaders))
    response.cork()
    response.write(head)
    response.write(body)
    end(response, tail, tail.length, this.#stallMs)
  }

  /**
   * Answers a request that is still being received. The answer is written now, but the response ends when the rest of the
   * request has come or some time has passed: closing a connection with unread input would discard the answer.
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

  open(headers: Headers): EventSink {
    const sink = new NodeEventSink(this, this.#response, this.extraHeaders ? { ...headers, ...this.extraHeaders } : headers, this.#stallMs)
    this.#sink = sink
    this.onGone = () => sink.abandon()
    if (this.#body) this.#body.forget()
    // The body of a GET means nothing. Unread, it would stay in memory as long as the stream.
    else this.#request.resume()
    return sink
  }

  /** The connection closed, while this response was written or still waited for its turn. */
  onConnectionClosed(): void {
    this.#onClose()
  }

  /**
   * The client closed its side of the connection. It may wait for its answer, or be gone. Both look the same until something
   * is written, so this writes something. The machine of a client that is gone replies with a reset.
   * @returns false for a response that cannot be written to yet
   */
  probe(): boolean {
    const response = this.#response
    const { socket } = response
    if (!socket?.writable || response.writableEnded) return false
    if (this.#sink) this.#sink.write(':\n\n')
    // HTTP/1.0 has no harmless bytes to send, so such a client counts as gone.
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

/** Whether the headers announce a body. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
