/** Web-standard requests and responses, for every runtime that has them. */

import { forwardedAddress } from '../limits/client-address.ts'
import type { BodyBounds, BodyRoom, EventSink, HttpReply, HttpRequestView, OnBody, Headers as PlainHeaders } from './request-reply.ts'
import { WebBody } from './web-body.ts'

const encoder = new TextEncoder()

export class WebRequestView implements HttpRequestView {
  readonly #request: Request
  readonly #url: URL
  readonly #address: string | undefined
  proxies = 0

  constructor(request: Request, remoteAddress: string | undefined) {
    this.#request = request
    this.#url = new URL(request.url)
    this.#address = remoteAddress
  }

  get remoteAddress(): string | undefined {
    return this.proxies === 0 ? this.#address : forwardedAddress(this.header('x-forwarded-for'), this.proxies, this.#address)
  }

  get method(): string {
    return this.#request.method
  }

  get url(): string {
    return this.#url.pathname + this.#url.search
  }

  header(name: string): string | undefined {
    // A runtime that hides the Host header has put it into the URL.
    return this.#request.headers.get(name) ?? (name === 'host' ? this.#url.host : undefined)
  }

  count(name: string): number {
    return this.header(name) === undefined ? 0 : 1
  }

  get headerCount(): number {
    return [...this.#request.headers.keys()].length
  }

  get isSecure(): boolean {
    return this.#url.protocol === 'https:'
  }

  get isLocal(): undefined {
    return undefined
  }

  body(bounds: BodyBounds, room: BodyRoom, done: OnBody): void {
    const { body, bodyUsed } = this.#request
    if (bodyUsed || body?.locked) return done(undefined, 'unreadable')
    if (!body) return done('', undefined)
    new WebBody(body.getReader(), bounds, room, done)
  }
}

export class WebReply implements HttpReply {
  extraHeaders: PlainHeaders | undefined
  endsAt: number | undefined
  request: HttpRequestView | undefined
  principal: string | undefined
  onGone: (() => void) | undefined
  readonly response: Promise<Response>
  // Keeps the request alive: the signal of a garbage-collected request never fires.
  readonly #request: Request
  #resolve: (response: Response) => void = () => {}

  constructor(request: Request) {
    this.#request = request
    this.response = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (request.signal.aborted) this.#gone()
    else request.signal.addEventListener('abort', () => this.#gone(), { once: true })
  }

  get isGone(): boolean {
    return this.#request.signal.aborted
  }

  send(status: number, headers: PlainHeaders, body?: string): void {
    // The runtime does not say whether the response arrives, and some abort the signal after a success. So the signal means nothing from
    // here on.
    this.onGone = undefined
    this.#resolve(new Response(body ?? null, { status, headers: { ...headers, ...this.extraHeaders } }))
  }

  open(headers: PlainHeaders): EventSink {
    const sink = new WebEventSink(this)
    this.#resolve(new Response(sink.stream, { status: 200, headers: { ...headers, ...this.extraHeaders } }))
    this.onGone = () => sink.abandon()
    return sink
  }

  #gone(): void {
    this.onGone?.()
    this.#resolve(new Response(null, { status: 499 }))
  }
}

class WebEventSink implements EventSink {
  onGone: (() => void) | undefined
  readonly stream: ReadableStream<Uint8Array>
  readonly reply: WebReply
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #taken = 0
  #queued = 0
  #sizes: number[] = []
  #isOver = false
  readonly #waiting: (() => void)[] = []

  constructor(reply: WebReply) {
    this.reply = reply
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#onPull(),
        cancel: () => {
          this.#over()
          this.onGone?.()
        },
      },
      { highWaterMark: 0 },
    )
  }

  get pending(): number {
    this.#settleTaken()
    return this.#queued - this.#taken
  }

  get taken(): number {
    this.#settleTaken()
    return this.#taken
  }

  write(text: string): void {
    if (this.#isOver || this.reply.isGone) return
    const bytes = encoder.encode(text)
    this.#queued += bytes.byteLength
    this.#sizes.push(bytes.byteLength)
    this.#controller?.enqueue(bytes)
    this.#settleTaken()
  }

  whenDrained(listener: () => void): void {
    if (this.#isOver || this.pending === 0) listener()
    else this.#waiting.push(listener)
  }

  end(): void {
    if (this.#isOver) return
    this.#over()
    this.#controller?.close()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#over()
    this.#controller?.error(new DOMException('The stream was closed by the server', 'AbortError'))
    this.onGone?.()
  }

  /** The client is gone, which is not an error of the stream. */
  abandon(): void {
    this.end()
    this.onGone?.()
  }

  #onPull(): void {
    this.#settleTaken()
  }

  /** The reader has taken all bytes that are no longer in the queue. */
  #settleTaken(): void {
    const held = -(this.#controller?.desiredSize ?? 0)
    while (this.#sizes.length > held) this.#taken += this.#sizes.shift() as number
    if (this.#queued === this.#taken) for (const listener of this.#waiting.splice(0)) listener()
  }

  #over(): void {
    this.#isOver = true
    for (const listener of this.#waiting.splice(0)) listener()
  }
}
