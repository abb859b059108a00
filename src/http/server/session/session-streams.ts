/** The streams of one session: one for each answer that became one, and the one that belongs to no request. */

import { randomId } from '../../../base/bytes.ts'
import type { Channel } from '../../../protocol/seams/service.ts'
import { revisionOf } from '../../../revisions/index.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { HttpLimits } from '../options.ts'
import { busy, DRAINING, type Refusal, refuse } from '../refusal.ts'
import type { HttpReply } from '../runtime/view.ts'
import { EVENT_STREAM_HEADERS, EventStream, type EventStreamOwner, readEventId } from '../streams/event-stream.ts'
import type { AnswerStream } from '../streams/reply-outlet.ts'
import type { SessionServices } from './session.ts'

/** What is said before the client has opened its stream is kept for it, but not much. */
const EARLY_EVENTS = 64
const EARLY_EVENT_BYTES = 64 * 1024

export class SessionStreams implements EventStreamOwner {
  /** Begins every event id of the session, so that ids of others mean nothing in it. */
  readonly prefix = randomId().slice(0, 12)
  readonly isPolled: boolean
  readonly usage: CallerUsage
  readonly #channel: Channel
  readonly #services: SessionServices
  /** A handful, so a list: a Map that is filled and emptied without pause leaves its outgrown tables to the collector. */
  readonly #streams: EventStream[] = []
  /** Streams that are over but kept for a client that missed the end, oldest first. */
  readonly #ended: EventStream[] = []
  #count = 0
  #keptBytes = 0
  /** For messages that belong to no request. */
  #standing: EventStream | undefined
  #pingedAt = 0
  #missedPings = 0
  #isOver = false

  constructor(channel: Channel, usage: CallerUsage, services: SessionServices) {
    this.#channel = channel
    this.usage = usage
    this.#services = services
    this.isPolled = revisionOf(channel.version)?.hasPolledStreams ?? false
  }

  get limits(): HttpLimits {
    return this.#services.limits
  }

  get open(): SessionServices['open'] {
    return this.#services.open
  }

  get isAttended(): boolean {
    for (const stream of this.#streams) if (stream.isConnected) return true
    return false
  }

  /** The stream of the answer to one request. */
  beginAnswer(reply: HttpReply): AnswerStream {
    const stream = this.#add()
    stream.connect(reply.open(EVENT_STREAM_HEADERS), 0, { endsAt: reply.endsAt })
    return stream
  }

  /** A whole stream at once; kept like any other, for a client that loses the connection while it reads. */
  answerAsEvent(reply: HttpReply, json: string): void {
    reply.send(200, EVENT_STREAM_HEADERS, this.#add().atOnce(json))
  }

  /** Says something that belongs to no request. */
  push(json: string): undefined | Promise<void> {
    return this.#standingStream().push(json)
  }

  /** Opens the stream that belongs to no request; what another reader of it was sent is not sent again. */
  listen(reply: HttpReply): Refusal | undefined {
    const standing = this.#standingStream()
    if (standing.isConnected) return refuse(409, 'The session has its stream already; it can have one')
    return this.#connect(standing, reply, standing.written)
  }

  /** Goes on with a stream that broke, after the event the client saw last. */
  resume(reply: HttpReply, lastEventId: string): Refusal | undefined {
    const place = readEventId(lastEventId, this.prefix)
    if (!place) return refuse(400, 'The last event id is not one of this session')
    const stream = this.#streams.find(({ number }) => number === place.stream)
    if (!stream) return refuse(400, 'The stream of that event id is no longer kept')
    if (stream === this.#standing && this.open.isEnding) return DRAINING
    const fault = stream.checkResume(place.sequence)
    if (fault !== undefined) return refuse(400, fault)
    if (!stream.isDroppedAfter(place.sequence)) return this.#connect(stream, reply, place.sequence)
    // What tells a reader of events not to come back. The SDKs would, for ever, for the answer to a call they gave up.
    reply.send(204, {})
    return undefined
  }

  /** Forgets what need not be kept, and asks for a sign of life. */
  tend(now: number): void {
    for (const stream of [...this.#streams]) {
      if (stream.unattendedSince !== undefined && now - stream.unattendedSince >= this.limits.eventTtlMs) this.#forget(stream)
    }
    if (this.#standing?.isConnected) this.#askForLife(now)
  }

  /** Ends the standing stream in a way that lets the client come back elsewhere. */
  readonly breakOff = (): void => this.#standing?.breakOff()

  close(): void {
    this.#isOver = true
    for (const stream of [...this.#streams]) {
      stream.finish(undefined)
      this.#forget(stream)
      this.#unabandon(stream)
    }
  }

  onAttended(stream: EventStream): void {
    this.#unabandon(stream)
  }

  onUnattended(stream: EventStream): void {
    if (stream.isOver) this.#unabandon(stream)
    if (this.#isOver) return
    stream.unattendedSince = this.open.now
    if (!stream.isOver) return this.#abandon(stream)
    // It was given up already, and nobody can come back to it.
    if (!this.#streams.includes(stream)) return
    this.usage.live.delete(stream)
    this.usage.ended.add(stream)
    // It may have been here before, when a client came back to it.
    takeOut(this.#ended, stream)
    this.#ended.push(stream)
    const oldest = this.#ended.length > this.limits.maxEndedStreams ? this.#ended.shift() : undefined
    if (oldest && !oldest.isConnected) this.#forget(oldest)
  }

  onKept(stream: EventStream, bytes: number): void {
    const { kept } = this.#services
    this.#keptBytes += bytes
    kept.count(this.usage, bytes)
    if (bytes <= 0) return
    if (!stream.isOver) this.usage.live.add(stream)
    while (this.#keptBytes > this.limits.maxKeptBytesPerSession) if (!this.#forgetSome()) break
    kept.makeRoom()
  }

  onTooMuch(stream: EventStream): void {
    this.#forget(stream)
  }

  /** Streams that ended first, then the oldest events of the others. */
  #forgetSome(): boolean {
    const [oldest] = this.#ended
    if (oldest) {
      this.#forget(oldest)
      return true
    }
    return this.#streams.some((stream) => stream.evictOldest())
  }

  /** Nobody reads the stream of a request any more, though the request goes on. */
  #abandon(stream: EventStream): void {
    if (stream === this.#standing || stream.isReleased || stream.isAbandoned) return
    stream.isAbandoned = true
    this.#services.inFlight.abandon(this.usage)
  }

  #unabandon(stream: EventStream): void {
    if (!stream.isAbandoned) return
    stream.isAbandoned = false
    this.#services.inFlight.unabandon(this.usage)
  }

  #connect(stream: EventStream, reply: HttpReply, after: number): Refusal | undefined {
    const { maxStreamsPerSession: max } = this.limits
    let connected = 0
    for (const each of this.#streams) if (each.isConnected && each !== stream) connected++
    if (connected >= max) return busy(429, 'maxStreamsPerSession', max, 'open streams of this session')
    const full = this.#services.inFlight.checkStreams(this.usage, this.open.size)
    if (full) return full
    const onTooOld = stream === this.#standing ? this.breakOff : undefined
    stream.connect(reply.open(EVENT_STREAM_HEADERS), after, { onTooOld, endsAt: reply.endsAt })
    stream.greet()
    this.#missedPings = 0
    this.#pingedAt = this.#services.now()
    return undefined
  }

  #standingStream(): EventStream {
    if (this.#standing) return this.#standing
    this.#standing = this.#add()
    this.#standing.keepAtMost(EARLY_EVENTS, EARLY_EVENT_BYTES)
    this.#standing.unattendedSince = this.open.now
    return this.#standing
  }

  #add(): EventStream {
    const stream = new EventStream(++this.#count, this)
    this.#streams.push(stream)
    return stream
  }

  #forget(stream: EventStream): void {
    takeOut(this.#streams, stream)
    takeOut(this.#ended, stream)
    this.usage.live.delete(stream)
    this.usage.ended.delete(stream)
    stream.forget()
    if (stream === this.#standing) this.#standing = undefined
  }

  #askForLife(now: number): void {
    const { pingMs, maxMissedPings } = this.limits
    if (now - this.#pingedAt < pingMs) return
    this.#pingedAt = now
    // Time enough for an answer, and short enough that the last miss is noticed before the next ping is due.
    this.#channel.ping(pingMs / 3).then(
      () => {
        this.#missedPings = 0
      },
      () => {
        if (++this.#missedPings >= maxMissedPings) this.breakOff()
      },
    )
  }
}

function takeOut<T>(list: T[], item: T): void {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
}
