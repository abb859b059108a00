/** The client's connection to a server over HTTP: each message is one POST request, and each answer is matched to its request. */

import { type Id, type Incoming, numbered } from '../../jsonrpc/message.ts'
import { answerBounds, read } from '../../jsonrpc/read.ts'
import { isUnusable } from '../../jsonrpc/unusable.ts'
import { McpError } from '../../protocol/errors.ts'
import type { About, Link, LinkReceiver } from '../../protocol/interfaces/link.ts'
import { revisionOf } from '../../revisions/index.ts'
import type { ClassifiedRefusal } from './classify-refusal.ts'
import { postHeaders, type SessionHeaders } from './headers.ts'
import { type CallAbout, HttpCall } from './http-call.ts'
import type { HttpConnection, HttpRequest } from './http-request.ts'
import { Lane, LanePlace } from './lane.ts'
import { LegacySseStream } from './legacy-sse.ts'
import { describeMessage } from './match-answer.ts'
import { OneWayPost } from './one-way-post.ts'
import type { HttpTransportName } from './options.ts'
import { RemoteSession } from './session.ts'

const MAX_UNUSABLE_WARNINGS = 10

export interface HttpLinkOptions {
  connection: HttpConnection & { close(): Promise<void> }
  /** Undefined: the link finds out. */
  transport?: HttpTransportName | undefined
  onWarning(message: string): void
}

/** The connection to one server over HTTP. The members after `close` are only for the calls of this link. */
export class HttpLink implements Link {
  readonly connection: HttpLinkOptions['connection']
  readonly session: RemoteSession
  readonly #transport: HttpTransportName | undefined
  readonly #onWarning: (message: string) => void
  receiver: LinkReceiver | undefined
  readonly #calls = new Map<Id, HttpCall>()
  /** Bounds the calls over the legacy transport. The lane of calls cannot, because a POST there ends before its answer comes. */
  readonly #legacyCalls: Lane
  /** Set once the server turned out to speak the legacy transport: messages are posted to `endpoint`. */
  #legacy: { stream: LegacySseStream; endpoint: URL } | undefined
  #isClosed = false
  #unusable = 0

  constructor({ connection, transport, onWarning }: HttpLinkOptions) {
    this.connection = connection
    this.#transport = transport
    this.#onWarning = onWarning
    this.#legacyCalls = new Lane(connection.limits.maxConnections)
    this.session = new RemoteSession(connection, {
      onMessage: (data) => this.receiveText(data),
      onForgotten: () => this.receiver?.onForgotten(),
      onMissed: () => this.receiver?.onMissed?.(),
      onWarning,
    })
  }

  start(receiver: LinkReceiver): void {
    this.receiver = receiver
  }

  send(json: string, about?: About): void {
    if (this.#isClosed) return
    if (about?.version !== undefined) this.session.version = about.version
    if (about?.id !== undefined) return this.#call(json, about as CallAbout)
    if (about?.method === 'notifications/initialized') return this.#confirm(json, about)
    if (about === undefined && this.isStateless)
      return this.#warnUnusable(`${this.connection.server} sent a request in a stateless revision; it gets no response`)
    this.session.whenReady(() => this.#notify(json, about))
  }

  whenListening(run: () => void): void {
    this.session.whenReady(run)
  }

  cancel(id: Id): boolean {
    this.#calls.get(id)?.abort()
    this.#calls.delete(id)
    return this.isStateless
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const call of this.#calls.values()) call.abort()
    this.#calls.clear()
    this.#legacy?.stream.abort()
    await this.session.end()
    await this.connection.close()
  }

  /** Whether the revision has no sessions, no resumption and no responses of ours. */
  get isStateless(): boolean {
    return revisionOf(this.session.version)?.dialect === 'stateless'
  }

  post(json: string, about: About | undefined): HttpRequest {
    const url = this.#legacy?.endpoint ?? this.connection.url
    const lane = about?.method === 'subscriptions/listen' ? 'stream' : 'call'
    return { method: 'POST', url, headers: postHeaders(about, this.sessionHeaders(about)), body: json, lane }
  }

  sessionHeaders(about: About | undefined): SessionHeaders {
    // The handshake negotiates the version and opens the session, so it names neither.
    if (about?.method === 'initialize') return { id: undefined, version: undefined }
    const { id, version } = this.session.headers
    return { id: this.isStateless ? undefined : id, version: about?.version ?? version }
  }

  /** Ends a call with its answer. */
  answer(call: HttpCall, message: Incoming): void {
    const opensSession = call.about.method === 'initialize' && message.kind === 'result'
    const fault = opensSession ? this.session.take(call.headers) : undefined
    if (fault) return this.lose(call, fault)
    this.#settle(call)
    this.receiver?.onMessage(message)
  }

  /** Ends a call with an error. */
  lose(call: HttpCall, error: McpError): void {
    call.abort()
    if (this.#calls.delete(call.about.id)) this.receiver?.onLost(call.about.id, error)
  }

  /** Takes a message that is not the answer of the call on whose stream it came. */
  receive(message: Incoming, text: string): void {
    if (this.#isClosed) return
    if (isUnusable(message)) return this.#warnUnusable(`Ignored: ${describeMessage(message, text)}`)
    // The answer to a call whose own stream broke may come on any other stream.
    for (const each of message.kind === 'batch' ? message.messages : [message]) {
      const call = 'id' in each && each.kind !== 'request' && each.id !== undefined ? this.#calls.get(numbered(each.id)) : undefined
      if (call) this.#settle(call)
    }
    this.receiver?.onMessage(message)
  }

  /** Takes a message of a stream that belongs to no call. */
  receiveText(data: string): void {
    this.receive(read(data, answerBounds(this.connection.limits.maxValues)), data)
  }

  /** The server did not understand the handshake. A server of the oldest revision has a stream of events at the same URL. */
  tryLegacySse(call: HttpCall, { fault, error: refused }: ClassifiedRefusal & { kind: 'not-understood' }): void {
    const lose = (error: McpError): void => (refused ? this.answer(call, refused) : this.lose(call, error))
    if (this.#transport === 'streamable-http') return lose(fault)
    this.#openLegacySse(call, (error) => {
      const isOther = error.code !== 'ERR_NO_ENDPOINT'
      lose(isOther ? error : new McpError('ERR_NO_ENDPOINT', `${fault.message}; ${error.message}`, { data: fault.data }))
    })
  }

  #openLegacySse(call: HttpCall, onRefused: (error: McpError) => void): void {
    const stream = new LegacySseStream(this.connection, {
      onReady: (endpoint) => {
        this.#legacy = { stream, endpoint }
        this.#postToLegacy(call)
      },
      onRefused,
      onMessage: (data) => this.receiveText(data),
      onEnd: (error) => {
        this.#calls.clear()
        if (!this.#isClosed) this.receiver?.onClose(error)
      },
    })
    call.divert(stream)
  }

  #call(json: string, about: CallAbout): void {
    const call = new HttpCall(this, about, json)
    this.#calls.set(about.id, call)
    this.session.whenReady(() => {
      if (this.#calls.get(about.id) !== call) return
      if (this.#legacy) this.#postToLegacy(call)
      else if (this.#transport === 'sse') this.#callFirst(call)
      else call.start()
    })
  }

  /** The stream of this transport begins with the handshake. There are no revisions without one here. */
  #callFirst(call: HttpCall): void {
    if (call.about.method === 'initialize') return this.#openLegacySse(call, (error) => this.lose(call, error))
    this.lose(call, new McpError('ERR_NO_ENDPOINT', `${this.connection.server}: HTTP with SSE begins with a handshake`))
  }

  #notify(json: string, about: About | undefined, onDone: (isAccepted: boolean) => void = () => {}): void {
    if (this.#isClosed) return
    new OneWayPost(this.connection, this.post(json, about), {
      method: about?.method ?? 'a response',
      hasSession: this.sessionHeaders(about).id !== undefined,
      onAccepted: () => onDone(true),
      onSessionGone: () => {
        onDone(false)
        this.session.forget()
      },
      onFail: (error) => {
        if (!this.#isClosed) this.#onWarning(`A message was not accepted: ${error.message}`)
        onDone(false)
      },
    })
  }

  /** Sends the last message of the handshake. Everything else waits until the server has accepted it. */
  #confirm(json: string, about: About): void {
    this.#notify(json, about, (isAccepted) => {
      if (this.#isClosed) return
      if (isAccepted && !this.#legacy) this.session.begin()
      else this.session.release()
    })
    this.session.hold()
  }

  #settle(call: HttpCall): void {
    this.#calls.delete(call.about.id)
    call.settle()
  }

  /** Over the legacy transport the response to the POST only says whether there will be an answer, which comes on the stream. */
  #postToLegacy(call: HttpCall): void {
    const { about, json } = call
    const place = new LanePlace()
    call.divert({ abort: () => place.leave() })
    // This transport names no session in its headers, so a 404 is a failure like any other.
    place.enter(this.#legacyCalls, () => {
      new OneWayPost(this.connection, this.post(json, about), {
        method: about.method,
        hasSession: false,
        onFail: (error) => this.lose(call, error),
      })
    })
  }

  #warnUnusable(warning: string): void {
    if (++this.#unusable > MAX_UNUSABLE_WARNINGS) return
    this.#onWarning(this.#unusable === MAX_UNUSABLE_WARNINGS ? `${warning} (further warnings of this kind are dropped)` : warning)
  }
}
