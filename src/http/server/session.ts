/** One session over HTTP: many requests, their streams, and the one stream that belongs to none of them. */

import type { Outlet } from '../../jsonrpc/outlet.ts'
import { randomId } from '../../protocol/bytes.ts'
import type { Channel, Service } from '../../protocol/service.ts'
import { revisionOf } from '../../revisions/index.ts'
import type { Reply } from './ask.ts'
import { EVENT_STREAM_HEADERS, EventStream, placeIn } from './event-stream.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpLimits } from './options.ts'
import { busy, type Refusal, refuse } from './refusal.ts'
import type { AnswerStream } from './reply-outlet.ts'

export interface SessionOptions {
  service: Service
  principal: string | undefined
  limits: HttpLimits
  open: OpenStreams
  now(): number
}

/** What is said before the client has opened its stream is kept for it, but not much. */
const EARLY_EVENTS = 64
const EARLY_EVENT_BYTES = 64 * 1024

export class HttpSession {
  readonly id = randomId()
  readonly principal: string | undefined
  readonly channel: Channel
  readonly createdAt: number
  readonly #options: SessionOptions
  /** Begins every event id of the session, so that ids of others mean nothing in it. */
  readonly #prefix = randomId().slice(0, 12)
  readonly #streams = new Map<number, EventStream>()
  /** Streams that are over but kept for a client that missed the end, oldest first. */
  #ended: EventStream[] = []
  #streamCount = 0
  /** For messages that belong to no request. */
  #standing: EventStream | undefined
  #seenAt: number
  /** Something came since the session was last looked at: cheaper to note than the time. */
  #isUsed = false
  #inFlight = 0
  #pingedAt = 0
  #missedPings = 0
  #isOver = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.principal = options.principal
    this.createdAt = options.now()
    this.#seenAt = this.createdAt
    const push = (json: string): undefined | Promise<void> => this.#standingStream().push(json)
    const outlet: Outlet = { push, answer: (json) => void push(json), drop: () => {} }
    this.channel = options.service.open({ outlet, principal: options.principal })
  }

  /** Counts a request in hand; a refusal when there are too many. */
  enter(): Refusal | undefined {
    const max = this.#options.limits.maxInFlightPerSession
    if (this.#inFlight >= max) return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session')
    this.#inFlight++
    return undefined
  }

  leave(): void {
    this.#inFlight--
    this.touch()
  }

  touch(): void {
    this.#isUsed = true
  }

  /** The stream of the answer to one request. */
  beginAnswer(reply: Reply): AnswerStream {
    const stream = this.#newStream(this.#options.limits)
    stream.connect(reply.open(EVENT_STREAM_HEADERS), 0)
    return stream
  }

  /** Opens the stream that belongs to no request. */
  listen(reply: Reply): Refusal | undefined {
    const standing = this.#standingStream()
    if (standing.isConnected) return refuse(409, 'The session has its stream already; it can have one')
    return this.#connect(standing, reply, 0)
  }

  /** Goes on with a stream that broke, after the event the client saw last. */
  resume(reply: Reply, lastEventId: string): Refusal | undefined {
    const place = placeIn(lastEventId, this.#prefix)
    if (!place) return refuse(400, 'The last event id is not one of this session')
    const stream = this.#streams.get(place.stream)
    if (!stream) return refuse(400, 'The stream of that event id is no longer kept')
    const fault = stream.faultOf(place.sequence)
    if (fault !== undefined) return refuse(400, fault)
    return this.#connect(stream, reply, place.sequence)
  }

  /** Forgets what need not be kept; asks for a sign of life. True when the session itself has expired. */
  tend(now: number): boolean {
    const { sessionIdleMs, sessionMaxAgeMs, eventTtlMs } = this.#options.limits
    for (const [number, stream] of this.#streams) {
      if (stream.unattendedSince !== undefined && now - stream.unattendedSince >= eventTtlMs) this.#forget(number, stream)
    }
    if (now - this.createdAt >= sessionMaxAgeMs) return true
    if (this.#isUsed || this.#inFlight > 0 || this.#isAttended) this.#seenAt = now
    this.#isUsed = false
    if (this.#standing?.isConnected) this.#askForLife(now)
    return now - this.#seenAt >= sessionIdleMs
  }

  close(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.channel.close(reason)
    for (const stream of this.#streams.values()) stream.finish(undefined)
    this.#streams.clear()
  }

  /** Ends the standing stream in a way that lets the client come back elsewhere. */
  release(): void {
    this.#standing?.breakOff()
  }

  get #isAttended(): boolean {
    for (const stream of this.#streams.values()) if (stream.isConnected) return true
    return false
  }

  #connect(stream: EventStream, reply: Reply, after: number): Refusal | undefined {
    const { maxStreamsPerSession: max, maxStreams } = this.#options.limits
    let connected = 0
    for (const each of this.#streams.values()) if (each.isConnected && each !== stream) connected++
    if (connected >= max) return busy(429, 'maxStreamsPerSession', max, 'open streams of this session')
    if (this.#options.open.size >= maxStreams) return busy(503, 'maxStreams', maxStreams, 'open streams')
    stream.connect(reply.open(EVENT_STREAM_HEADERS), after, stream === this.#standing ? () => this.release() : undefined)
    stream.greet()
    this.#missedPings = 0
    this.#pingedAt = this.#options.now()
    this.touch()
    return undefined
  }

  #standingStream(): EventStream {
    if (this.#standing) return this.#standing
    const { limits } = this.#options
    const early = { maxEvents: Math.min(EARLY_EVENTS, limits.maxEvents), maxEventBytes: Math.min(EARLY_EVENT_BYTES, limits.maxEventBytes) }
    this.#standing = this.#newStream({ ...limits, ...early })
    this.#unattended(this.#standing)
    return this.#standing
  }

  #newStream(limits: HttpLimits): EventStream {
    const stream = new EventStream({
      number: ++this.#streamCount,
      prefix: this.#prefix,
      limits,
      open: this.#options.open,
      isPolled: revisionOf(this.channel.version)?.hasPolledStreams ?? false,
      onUnattended: this.#unattended,
    })
    this.#streams.set(stream.number, stream)
    return stream
  }

  readonly #unattended = (stream: EventStream): void => {
    if (this.#isOver) return
    stream.unattendedSince = this.#options.now()
    if (!stream.isOver) return
    this.#ended.push(stream)
    const oldest = this.#ended.length > this.#options.limits.maxEndedStreams ? this.#ended.shift() : undefined
    if (oldest && !oldest.isConnected) this.#forget(oldest.number, oldest)
  }

  #forget(number: number, stream: EventStream): void {
    this.#streams.delete(number)
    if (stream === this.#standing) this.#standing = undefined
  }

  #askForLife(now: number): void {
    const { pingMs, maxMissedPings } = this.#options.limits
    if (now - this.#pingedAt < pingMs) return
    this.#pingedAt = now
    this.channel.ping(pingMs).then(
      () => {
        this.#missedPings = 0
      },
      () => {
        if (++this.#missedPings >= maxMissedPings) this.release()
      },
    )
  }
}
