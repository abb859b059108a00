/** One request of ours: a POST, answered as JSON or as a stream of events, whose stream may break and be taken up again. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock, type Timer } from '../../base/clock.ts'
import type { Id, Incoming } from '../../jsonrpc/message.ts'
import { answerBounds, read } from '../../jsonrpc/read.ts'
import { McpError } from '../../protocol/errors.ts'
import type { About } from '../../protocol/seams/link.ts'
import { BodyText } from './body.ts'
import { EventReader } from './events.ts'
import { answerFault } from './faults.ts'
import type { HttpClientLimits } from './options.ts'
import { mediaTypeOf, nameOfMessage, seenBy } from './reading.ts'
import { isOpening, judgeRefusal, type Refusal, statusName } from './refusal.ts'
import type { HttpReply, HttpRequest, Sending } from './sender.ts'

export interface CallHost {
  /** Names the server in errors. */
  readonly server: string
  readonly limits: HttpClientLimits
  send(request: HttpRequest, reply: HttpReply): Sending
  /** The one answer came. */
  onAnswer(call: Call, message: Incoming): void
  /** Something else came on the stream of the call. */
  onMessage(message: Incoming, text: string): void
  onRefused(call: Call, refusal: Refusal): void
  onLost(call: Call, error: McpError): void
  onHeld(call: Call): void
  onPermitted(): void
  /** Takes up the stream of the call after this event; undefined when streams cannot be taken up. */
  resume(call: Call, lastEventId: string, retryMs: number | undefined): Sending | undefined
}

export type CallAbout = About & { id: Id }

const EXPECTED = 'application/json or text/event-stream'
/** How long a stream may stay open after its answer before it is broken off, with its connection. */
const LINGER_MS = 1000

export class Call implements HttpReply {
  readonly about: CallAbout
  readonly json: string
  readonly #host: CallHost
  readonly #request: HttpRequest
  readonly #hadSession: boolean
  #sending: Sending | undefined
  #linger: Timer | undefined
  #isSettled = false
  #isResumed = false
  #status = 0
  #events: EventReader | undefined
  #body: BodyText | undefined
  /** Of the response, for what a session is opened with. */
  headers: IncomingHttpHeaders = {}

  constructor(host: CallHost, about: CallAbout, json: string, request: HttpRequest, hadSession: boolean) {
    this.#host = host
    this.about = about
    this.json = json
    this.#request = request
    this.#hadSession = hadSession
  }

  start(): void {
    this.#sending = this.#host.send(this.#request, this)
  }

  /** Lets another way of sending take the place of the POST, or none that could be broken off. */
  divert(sending: Sending | undefined): void {
    this.#sending = sending
  }

  /** Nothing more is expected of the call; what is still open of it is closed. */
  settle(): void {
    this.#isSettled = true
    this.#events?.stop()
    // A server that ends its stream leaves the connection to others.
    if (this.#events && !this.#isResumed) this.#linger = systemClock.after(LINGER_MS, () => this.#sending?.abort())
    else this.#sending?.abort()
  }

  abort(): void {
    this.#isSettled = true
    this.#sending?.abort()
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.headers = headers
    const { server, limits } = this.#host
    const type = mediaTypeOf(headers['content-type'])
    if (isSuccess(status) && type === 'text/event-stream') {
      this.#events = new EventReader({ server, limits, onEvent: (name, data) => this.#onEvent(name, data) })
      return
    }
    if (isSuccess(status) && type !== 'application/json') {
      return this.#lose(answerFault(server, this.about.method, EXPECTED, `HTTP ${statusName(status)} and ${nameOfType(type)}`))
    }
    this.#body = new BodyText(server, limits)
    this.#guard(() => this.#body?.expect(headers['content-length']))
  }

  onData(chunk: Buffer): void {
    if (this.#isSettled) return
    this.#guard(() => (this.#events ?? this.#body)?.push(chunk))
  }

  onEnd(): void {
    this.#linger?.cancel()
    if (this.#isSettled) return
    if (this.#events) return this.#onBroken(undefined)
    const text = this.#body?.text()
    if (isSuccess(this.#status)) this.#onAnswer(text)
    else this.#onRefusal(text ?? '')
  }

  onPermitted(): void {
    this.#host.onPermitted()
  }

  onHeld(): void {
    this.#host.onHeld(this)
  }

  /** A server that is busy when it is asked what it speaks is not silent. Any other call has the time its caller gave it. */
  onBusy(): void {
    if (isOpening(this.about.method)) this.#host.onHeld(this)
  }

  onFail(error: McpError): void {
    this.#linger?.cancel()
    if (this.#isSettled) return
    if (this.#events && error.code === 'ERR_NETWORK') this.#onBroken(error)
    else this.#lose(error)
  }

  #onAnswer(text: string | undefined): void {
    const { method, id } = this.about
    const fault = (came: string): void => this.#lose(answerFault(this.#host.server, method, 'a JSON-RPC answer', came))
    if (text === undefined) return fault('bytes that are not UTF-8')
    if (text === '') return fault('an empty body')
    const message = read(text, answerBounds(this.#host.limits.maxValues))
    const seen = seenBy(id, message)
    if (seen.kind === 'answer') return this.#host.onAnswer(this, seen.message)
    fault(seen.kind === 'bad' ? seen.came : nameOfMessage(message, text))
  }

  #onEvent(name: string, data: string): void {
    if (name !== 'message') return
    const message = read(data, answerBounds(this.#host.limits.maxValues))
    const seen = seenBy(this.about.id, message)
    if (seen.kind === 'answer') this.#host.onAnswer(this, seen.message)
    else if (seen.kind === 'bad') this.#lose(answerFault(this.#host.server, this.about.method, 'a JSON-RPC answer', seen.came))
    else this.#host.onMessage(message, data)
  }

  #onRefusal(body: string): void {
    const { method, id } = this.about
    const { server } = this.#host
    const refusal = judgeRefusal({ server, status: this.#status, headers: this.headers, body, method, id, hadSession: this.#hadSession })
    this.#host.onRefused(this, refusal)
  }

  /** The stream ended before the answer. */
  #onBroken(cause: McpError | undefined): void {
    const { lastEventId, retryMs } = this.#events as EventReader
    const resumed = lastEventId === undefined ? undefined : this.#host.resume(this, lastEventId, retryMs)
    this.#sending = resumed
    this.#isResumed = true
    if (!resumed) this.#lose(brokenFault(this.#host.server, this.about.method, cause))
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#lose(error as McpError)
    }
  }

  #lose(error: McpError): void {
    if (this.#isSettled) return
    this.abort()
    this.#host.onLost(this, error)
  }
}

/** @param why what kept the stream from being taken up again */
export const brokenFault = (server: string, method: string, why: McpError | undefined): McpError =>
  new McpError('ERR_CLOSED', `${server} ended the stream of ${method} before its answer${why ? `: ${why.message}` : ''}`, { cause: why })

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const nameOfType = (type: string): string => (type === '' ? 'no body that says what it is' : type)
