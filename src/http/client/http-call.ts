/** One request of the client: a POST that is answered with JSON or with a stream of events, which is reopened when it breaks. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock, type Timer } from '../../base/clock.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { answerBounds, read } from '../../jsonrpc/read.ts'
import { McpError } from '../../protocol/errors.ts'
import type { About } from '../../protocol/interfaces/link.ts'
import { BodyText } from './body-text.ts'
import { classifyRefusal, isOpening, statusName } from './classify-refusal.ts'
import { answerFault, reasonOf } from './errors.ts'
import { EventReader } from './event-reader.ts'
import { getHeaders, mediaTypeOf } from './headers.ts'
import type { ResponseHandler, Sending } from './http-request.ts'
import type { HttpLink } from './link.ts'
import { describeMessage, matchAnswer } from './match-answer.ts'
import { ReopenedStream } from './reopened-stream.ts'

export type CallAbout = About & { id: Id }

const EXPECTED = 'application/json or text/event-stream'
/** How long a stream may stay open after the answer before its connection is closed. */
const LINGER_MS = 1000
/** Attempts in a row to reopen a broken stream. With the growing pauses they take about 10 s, then the server counts as lost. */
const MAX_RECONNECTS = 5

export class HttpCall implements ResponseHandler {
  readonly about: CallAbout
  readonly json: string
  readonly #link: HttpLink
  #hasSession = false
  #sending: Sending | undefined
  #linger: Timer | undefined
  #isSettled = false
  #isResumed = false
  #status = 0
  #events: EventReader | undefined
  #body: BodyText | undefined
  /** The headers of the response. The response to `initialize` contains the session id. */
  headers: IncomingHttpHeaders = {}

  constructor(link: HttpLink, about: CallAbout, json: string) {
    this.#link = link
    this.about = about
    this.json = json
  }

  start(): void {
    this.#hasSession = this.#link.sessionHeaders(this.about).id !== undefined
    this.#sending = this.#link.connection.send(this.#link.post(this.json, this.about), this)
  }

  /** Replaces the POST by another way of sending. */
  divert(sending: Sending): void {
    this.#sending = sending
  }

  /** The call has its answer. Closes its open streams and requests. */
  settle(): void {
    this.#isSettled = true
    this.#events?.stop()
    // A server that ends its stream soon lets the connection be used again.
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
    const { server, limits } = this.#link.connection
    const type = mediaTypeOf(headers['content-type'])
    if (isSuccess(status) && type === 'text/event-stream') {
      this.#events = new EventReader({ server, limits, onEvent: (name, data) => this.#onEvent(name, data) })
      return
    }
    if (isSuccess(status) && type !== 'application/json') {
      const came = `HTTP ${statusName(status)} and ${type === '' ? 'no content type' : type}`
      return this.#lose(answerFault(server, this.about.method, EXPECTED, came))
    }
    this.#body = new BodyText(server, limits)
    this.#guard(() => this.#body?.expect(headers['content-length']))
  }

  onData(chunk: Uint8Array): void {
    if (this.#isSettled) return
    this.#guard(() => (this.#events ?? this.#body)?.push(chunk))
  }

  onEnd(): void {
    this.#linger?.cancel()
    if (this.#isSettled) return
    if (this.#events) return this.#onBroken(this.#events, undefined)
    const text = this.#body?.text()
    if (isSuccess(this.#status)) this.#onAnswer(text)
    else this.#onRefusal(text ?? '')
  }

  onPermitted(): void {
    this.#link.receiver?.onPermitted?.()
  }

  onHeld(): void {
    this.#link.receiver?.onHeld?.(this.about.id)
  }

  /** A busy server extends the time of the opening requests only. Other calls keep the time limit that their caller set. */
  onBusy(): void {
    if (isOpening(this.about.method)) this.onHeld()
  }

  onFail(error: McpError): void {
    this.#linger?.cancel()
    if (this.#isSettled) return
    if (this.#events && error.code === 'ERR_NETWORK') this.#onBroken(this.#events, error)
    else this.#lose(error)
  }

  #onAnswer(text: string | undefined): void {
    if (text === undefined) return this.#loseInvalid('bytes that are not UTF-8')
    if (text === '') return this.#loseInvalid('an empty body')
    const message = read(text, answerBounds(this.#link.connection.limits.maxValues))
    const match = matchAnswer(this.about.id, message)
    if (match.kind === 'answer') return this.#link.answer(this, match.message)
    this.#loseInvalid(match.kind === 'bad' ? match.came : describeMessage(message, text))
  }

  #onEvent(name: string, data: string): void {
    if (name !== 'message') return
    const message = read(data, answerBounds(this.#link.connection.limits.maxValues))
    const match = matchAnswer(this.about.id, message)
    if (match.kind === 'answer') this.#link.answer(this, match.message)
    else if (match.kind === 'bad') this.#loseInvalid(match.came)
    else this.#link.receive(message, data)
  }

  #onRefusal(body: string): void {
    const { method, id } = this.about
    const { connection, session } = this.#link
    const { server } = connection
    const refusal = classifyRefusal({ server, status: this.#status, headers: this.headers, body, method, id, hasSession: this.#hasSession })
    switch (refusal.kind) {
      case 'error':
        return this.#link.answer(this, refusal.message)
      case 'session-gone':
        session.forget()
        return this.#lose(new McpError('ERR_SESSION_GONE', `${server} no longer knows the session`))
      case 'refused':
        return this.#lose(refusal.fault)
      case 'not-understood':
        return method === 'initialize' ? this.#link.tryLegacySse(this, refusal) : this.#lose(refusal.fault)
    }
  }

  /** The stream ended before the answer. */
  #onBroken({ lastEventId, retryMs }: EventReader, cause: McpError | undefined): void {
    this.#isResumed = true
    this.#sending = undefined
    if (lastEventId === undefined || this.#link.isStateless) return this.#lose(this.#brokenFault(cause))
    const { connection, session } = this.#link
    const stream = new ReopenedStream(
      connection,
      {
        headers: (id) => getHeaders(session.headers, id),
        maxFruitless: MAX_RECONNECTS,
        onEvent: (name, data) => {
          if (name === 'message') this.#link.receiveText(data)
        },
        onOver: (error, status) => {
          this.#lose(this.#brokenFault(error))
          if (status === 404 && session.hasId) session.forget()
        },
      },
      lastEventId,
      retryMs,
    )
    this.#sending = stream
    stream.openLater()
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#lose(error as McpError)
    }
  }

  #loseInvalid(came: string): void {
    this.#lose(answerFault(this.#link.connection.server, this.about.method, 'a JSON-RPC answer', came))
  }

  #lose(error: McpError): void {
    if (!this.#isSettled) this.#link.lose(this, error)
  }

  /** @param cause why the stream could not be reopened */
  #brokenFault(cause: McpError | undefined): McpError {
    const message = `${this.#link.connection.server} ended the stream of ${this.about.method} before its answer`
    return new McpError('ERR_CLOSED', cause ? `${message}: ${reasonOf(this.#link.connection.server, cause)}` : message, { cause })
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300
