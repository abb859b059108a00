/** A server behind a URL, as a client sees it: each message is a POST of its own, and answers find their requests. */

import { type Id, type Incoming, numbered } from '../../jsonrpc/message.ts'
import { answerBounds, read } from '../../jsonrpc/read.ts'
import { McpError } from '../../protocol/errors.ts'
import type { About, Link, LinkReceiver } from '../../protocol/seams/link.ts'
import { revisionOf } from '../../revisions/index.ts'
import { brokenFault, Call, type CallAbout, type CallHost } from './call.ts'
import { getHeaders, postHeaders, type SessionHeaders } from './headers.ts'
import { Lane, Place } from './lane.ts'
import { Notice } from './notice.ts'
import type { HttpClientLimits } from './options.ts'
import { isNoise, nameOfMessage } from './reading.ts'
import type { Refusal } from './refusal.ts'
import type { HttpReply, HttpRequest, HttpSender, Sending } from './sender.ts'
import { HttpSession } from './session.ts'
import { ReopenedStream } from './stream.ts'
import { TwoEndpoints } from './two-endpoints.ts'

export interface HttpLinkOptions {
  url: URL
  /** Names the server in errors. */
  server: string
  sender: HttpSender
  limits: HttpClientLimits
  onWarning(message: string): void
}

const MAX_ODD_WARNINGS = 10

export class HttpLink implements Link {
  readonly #options: HttpLinkOptions
  readonly #session: HttpSession
  readonly #host: CallHost
  readonly #calls = new Map<Id, Call>()
  /** Calls of the oldest transport: its POSTs are over before their answers come, and say nothing of how many are in hand. */
  readonly #oldCalls: Lane
  /** Set when the server turned out to be of the oldest kind: messages are posted there. */
  #old: { stream: TwoEndpoints; endpoint: URL } | undefined
  #receiver: LinkReceiver | undefined
  #isClosed = false
  #oddities = 0

  constructor(options: HttpLinkOptions) {
    this.#options = options
    const { server, url, limits, onWarning } = options
    this.#oldCalls = new Lane(limits.maxConnections)
    this.#session = new HttpSession({
      server,
      url,
      limits,
      send: this.#send,
      onMessage: (data) => this.#onData(data),
      onForgotten: () => this.#receiver?.onForgotten(),
      onWarning,
    })
    this.#host = {
      server,
      limits,
      send: this.#send,
      onAnswer: (call, message) => this.#onAnswer(call, message),
      onMessage: (message, text) => this.#onMessage(message, text),
      onRefused: (call, refusal) => this.#onRefused(call, refusal),
      onLost: (call, error) => this.#onLost(call, error),
      onHeld: (call) => this.#receiver?.onHeld?.(call.about.id),
      onPermitted: () => this.#receiver?.onPermitted?.(),
      resume: (call, lastEventId, retryMs) => this.#resume(call, lastEventId, retryMs),
    }
  }

  start(receiver: LinkReceiver): void {
    this.#receiver = receiver
  }

  send(json: string, about?: About): void {
    if (this.#isClosed) return
    if (about?.version !== undefined) this.#session.version = about.version
    if (about?.id !== undefined) return this.#request(json, about as CallAbout)
    if (about?.method === 'notifications/initialized') return this.#confirm(json, about)
    if (about === undefined && this.#isStateless)
      return this.#onOdd(`${this.#options.server} asked something in a revision without questions; it gets no answer`)
    this.#session.whenReady(() => this.#notify(json, about))
  }

  cancel(id: Id): boolean {
    this.#calls.get(id)?.abort()
    this.#calls.delete(id)
    return this.#isStateless
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const call of this.#calls.values()) call.abort()
    this.#calls.clear()
    this.#old?.stream.abort()
    await this.#session.end()
    await this.#options.sender.close()
  }

  readonly #send = (request: HttpRequest, reply: HttpReply): Sending => this.#options.sender.send(request, reply)

  /** Whether the revision spoken knows nothing of sessions, resumption and answers of ours. */
  get #isStateless(): boolean {
    return revisionOf(this.#session.version)?.dialect === 'stateless'
  }

  #request(json: string, about: CallAbout): void {
    const call = new Call(this.#host, about, json, this.#post(json, about), this.#headersOf(about).id !== undefined)
    this.#calls.set(about.id, call)
    this.#session.whenReady(() => {
      if (this.#calls.get(about.id) !== call) return
      if (this.#old) this.#postToOld(this.#old.endpoint, call)
      else call.start()
    })
  }

  #post(json: string, about: About | undefined): HttpRequest {
    const url = this.#old?.endpoint ?? this.#options.url
    const lane = about?.method === 'subscriptions/listen' ? 'stream' : 'call'
    return { method: 'POST', url, headers: postHeaders(about, this.#headersOf(about)), body: json, lane }
  }

  #headersOf(about: About | undefined): SessionHeaders {
    // The handshake agrees on a version and opens a session: it can name neither.
    if (about?.method === 'initialize') return { id: undefined, version: undefined }
    const { id, version } = this.#session.headers
    return { id: this.#isStateless ? undefined : id, version: about?.version ?? version }
  }

  #notify(json: string, about: About | undefined, onDone: (isAccepted: boolean) => void = () => {}): void {
    if (this.#isClosed) return
    const { server, limits, onWarning } = this.#options
    const method = about?.method ?? 'an answer'
    const refuse = (words: string): void => {
      if (!this.#isClosed) onWarning(`A message was not accepted: ${words}`)
      onDone(false)
    }
    new Notice(
      {
        server,
        limits,
        method,
        hadSession: this.#headersOf(about).id !== undefined,
        onAccepted: () => onDone(true),
        onRefused: (fault) => refuse(fault.message),
        onForgotten: () => {
          onDone(false)
          this.#session.forget()
        },
        onFail: (error) => refuse(error.message),
      },
      this.#send,
      this.#post(json, about),
    )
  }

  /** Sends the last word of the handshake; all else waits until it has been heard. */
  #confirm(json: string, about: About): void {
    this.#notify(json, about, (isAccepted) => {
      if (this.#isClosed) return
      if (isAccepted && !this.#old) this.#session.begin()
      else this.#session.release()
    })
    this.#session.hold()
  }

  #onAnswer(call: Call, message: Incoming): void {
    const isOpened = call.about.method === 'initialize' && message.kind === 'result'
    const fault = isOpened ? this.#session.take(call.headers) : undefined
    if (fault) return this.#onLost(call, fault)
    this.#settle(call)
    this.#receiver?.onMessage(message)
  }

  /** A message of a stream that is not of one call. */
  #onData(data: string): void {
    this.#onMessage(read(data, answerBounds(this.#options.limits.maxValues)), data)
  }

  #onMessage(message: Incoming, text: string): void {
    if (this.#isClosed) return
    if (isNoise(message)) return this.#onOdd(`Ignored: ${nameOfMessage(message, text)}`)
    // The answer to a call whose own stream broke may come on any other.
    for (const each of message.kind === 'batch' ? message.messages : [message]) {
      const call = 'id' in each && each.kind !== 'request' && each.id !== undefined ? this.#calls.get(numbered(each.id)) : undefined
      if (call) this.#settle(call)
    }
    this.#receiver?.onMessage(message)
  }

  #onOdd(warning: string): void {
    if (++this.#oddities > MAX_ODD_WARNINGS) return
    this.#options.onWarning(this.#oddities === MAX_ODD_WARNINGS ? `${warning} (no more of these are told)` : warning)
  }

  #settle(call: Call): void {
    this.#calls.delete(call.about.id)
    call.settle()
  }

  #onLost(call: Call, error: McpError): void {
    call.abort()
    if (this.#calls.delete(call.about.id)) this.#receiver?.onLost(call.about.id, error)
  }

  #onRefused(call: Call, refusal: Refusal): void {
    switch (refusal.kind) {
      case 'said':
        return this.#onAnswer(call, refusal.message)
      case 'refused':
        return this.#onLost(call, refusal.fault)
      case 'forgotten':
        this.#session.forget()
        return this.#onLost(call, new McpError('ERR_SESSION_GONE', `${this.#options.server} no longer knows the session`))
      case 'unknown':
        if (call.about.method !== 'initialize') return this.#onLost(call, refusal.fault)
        return this.#tryOldest(call, refusal)
    }
  }

  #resume(call: Call, lastEventId: string, retryMs: number | undefined): Sending | undefined {
    if (this.#isStateless || this.#isClosed) return undefined
    const { server, url, limits } = this.#options
    const { method } = call.about
    const stream = new ReopenedStream(
      {
        server,
        url,
        limits,
        send: this.#send,
        headers: (id) => getHeaders(this.#session.headers, id),
        maxFruitless: limits.maxReconnects,
        onEvent: (name, data) => {
          if (name === 'message') this.#onData(data)
        },
        onOver: (error, status) => {
          this.#onLost(call, brokenFault(server, method, error))
          if (status === 404 && this.#session.hasId) this.#session.forget()
        },
      },
      lastEventId,
      retryMs,
    )
    stream.openLater()
    return stream
  }

  /** The handshake was not understood: a server of the oldest kind has a stream to read at the same URL. */
  #tryOldest(call: Call, { fault, said }: Refusal & { kind: 'unknown' }): void {
    const { server, url, limits } = this.#options
    const stream = new TwoEndpoints({
      server,
      url,
      limits,
      send: this.#send,
      onReady: (endpoint) => {
        this.#old = { stream, endpoint }
        this.#postToOld(endpoint, call)
      },
      onRefused: (error) => {
        if (said) return this.#onAnswer(call, said)
        const isOther = error.code !== 'ERR_NO_ENDPOINT'
        this.#onLost(call, isOther ? error : new McpError('ERR_NO_ENDPOINT', `${fault.message}; ${error.message}`, { data: fault.data }))
      },
      onMessage: (data) => this.#onData(data),
      onEnd: (error) => {
        this.#calls.clear()
        if (!this.#isClosed) this.#receiver?.onClose(error)
      },
    })
    call.divert(stream)
  }

  /** The answer comes on the stream; the response to the POST only says whether there will be one. */
  #postToOld(endpoint: URL, call: Call): void {
    const { server, limits } = this.#options
    const { about, json } = call
    const place = new Place()
    call.divert({ abort: () => place.leave() })
    place.enter(this.#oldCalls, () => {
      const lose = (error: McpError): void => this.#onLost(call, error)
      const headers = postHeaders(about, this.#headersOf(about))
      new Notice(
        {
          server,
          limits,
          method: about.method,
          hadSession: false,
          onAccepted: () => {},
          onRefused: lose,
          // This transport names no session in its headers, so none is forgotten.
          onForgotten: () => {},
          onFail: lose,
        },
        this.#send,
        { method: 'POST', url: endpoint, headers, body: json },
      )
    })
  }
}
