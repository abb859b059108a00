/** The streams of one session: one for each answer that became a stream, and the standing stream that a GET opens. */

import { randomId } from '../../../base/bytes.ts'
import type { Channel, Service } from '../../../protocol/interfaces/service.ts'
import { revisionOf } from '../../../revisions/index.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { type CallerUsage, listIn } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { KeptBytes } from '../limits/kept-bytes.ts'
import { busyFixed, DRAINING, type Refusal, refuse } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, EventStream, type EventStreamOwner, readEventId } from '../streams/event-stream.ts'
import { KeptAnswer, type KeptAnswerOwner, wholeStream } from '../streams/kept-answer.ts'
import { MAX_MISSED_PINGS, type OpenStreams } from '../streams/open-streams.ts'
import type { AnswerStream } from '../streams/reply-outlet.ts'

/** The services that all sessions share. */
export interface SessionServices {
  service: Service
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  kept: KeptBytes
  now(): number
}

/** The messages kept for the standing stream before the client opens it. */
const EARLY_EVENTS = 64
const EARLY_EVENT_BYTES = 64 * 1024
/** The ended streams of one session whose events are kept. `maxKeptBytesPerSession` limits their memory; this limits their number. */
const MAX_ENDED_STREAMS = 16

export class SessionStreams implements EventStreamOwner, KeptAnswerOwner {
  /** The prefix of every event id of the session. Ids of other sessions do not match it. */
  readonly prefix = randomId().slice(0, 12)
  readonly isPolled: boolean
  readonly usage: CallerUsage
  readonly #channel: Channel
  readonly #services: SessionServices
  /** An array, because there are few: a Map that constantly grows and shrinks causes garbage. */
  readonly #streams: EventStream[] = []
  /** Ended streams that are kept for a client that missed the end, oldest first. Answers that were sent at once are only here. */
  readonly #ended: (EventStream | KeptAnswer)[] = []
  #count = 0
  #keptBytes = 0
  /** The standing stream, for messages that belong to no request. */
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

  get limits(): AllHttpLimits {
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

  /** Sends a complete stream at once. It is kept like any other, for a client that loses the connection while it reads. */
  answerAsEvent(reply: HttpReply, json: string): void {
    const number = ++this.#count
    const text = wholeStream(json, `${this.prefix}.${number}`, this.isPolled)
    if (!this.#isOver) {
      const answer = new KeptAnswer(number, text, this.open.now, this)
      this.#listEnded(answer)
      this.#countKept(answer.bytes)
    }
    reply.send(200, EVENT_STREAM_HEADERS, text)
  }

  /** Sends a message that belongs to no request. */
  push(json: string): undefined | Promise<void> {
    return this.#standingStream().push(json)
  }

  /** Opens the standing stream. Events that an earlier reader was sent are not repeated. */
  listen(reply: HttpReply): Refusal | undefined {
    const standing = this.#standingStream()
    if (standing.isConnected) return refuse(409, 'The session already has its stream; only one is allowed')
    return this.#connect(standing, reply, standing.written)
  }

  /** Resumes a broken stream after the last event that the client saw. */
  resume(reply: HttpReply, lastEventId: string): Refusal | undefined {
    const position = readEventId(lastEventId, this.prefix)
    if (!position) return refuse(400, 'The last event id does not belong to this session')
    const stream = this.#streams.find(({ number }) => number === position.stream) ?? this.#restore(position.stream)
    if (!stream) return refuse(400, 'The stream of that event id is no longer kept')
    if (stream === this.#standing && this.open.isEnding) return DRAINING
    const fault = stream.checkResume(position.sequence)
    if (fault !== undefined) return refuse(400, fault)
    if (!stream.isDroppedAfter(position.sequence)) return this.#connect(stream, reply, position.sequence)
    // 204 tells a client not to reconnect. Without it the SDKs would reconnect for ever for a call that they cancelled.
    reply.send(204, {})
    return undefined
  }

  /** Called on every tick: drops expired events and pings the client. */
  tend(now: number): void {
    for (const each of [...this.#streams, ...this.#ended]) {
      if (each.unattendedSince !== undefined && now - each.unattendedSince >= this.limits.eventTtlMs) this.#forget(each)
    }
    if (this.#standing?.isConnected) this.#ping(now)
  }

  /** Ends the standing stream, so that the client reconnects elsewhere. */
  readonly breakOff = (): void => this.#standing?.breakOff()

  close(): void {
    this.#isOver = true
    for (const stream of [...this.#streams]) {
      stream.finish(undefined)
      this.#forget(stream)
      this.#unabandon(stream)
    }
    for (const answer of [...this.#ended]) this.#forget(answer)
  }

  onAttended(stream: EventStream): void {
    this.#unabandon(stream)
  }

  onUnattended(stream: EventStream): void {
    if (stream.isOver) this.#unabandon(stream)
    if (this.#isOver) return
    stream.unattendedSince = this.open.now
    if (!stream.isOver) return this.#abandon(stream)
    // A stream that was already dropped cannot be resumed.
    if (!this.#streams.includes(stream)) return
    // The stream is already listed if a client resumed it.
    removeFrom(this.#ended, stream)
    this.#listEnded(stream)
  }

  onKept(stream: EventStream, bytes: number): void {
    if (bytes > 0 && !stream.isOver) listIn(this.usage.live, stream)
    this.#countKept(bytes)
  }

  onTooMuch(ended: EventStream | KeptAnswer): void {
    this.#forget(ended)
  }

  #listEnded(ended: EventStream | KeptAnswer): void {
    listIn(this.usage.ended, ended)
    this.#ended.push(ended)
    const oldest = this.#ended.length > MAX_ENDED_STREAMS ? this.#ended.shift() : undefined
    if (oldest && !(oldest instanceof EventStream && oldest.isConnected)) this.#forget(oldest)
  }

  #countKept(bytes: number): void {
    const { kept } = this.#services
    this.#keptBytes += bytes
    kept.count(this.usage, bytes)
    if (bytes <= 0) return
    while (this.#keptBytes > this.limits.maxKeptBytesPerSession) if (!this.#evictOldest()) break
    kept.makeRoom()
  }

  /** Ended streams go first, then the oldest events of the others. */
  #evictOldest(): boolean {
    const [oldest] = this.#ended
    if (oldest) {
      this.#forget(oldest)
      return true
    }
    return this.#streams.some((stream) => stream.evictOldest())
  }

  /** The client left the stream of a request that is still in progress. */
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
    if (connected >= max) return busyFixed(429, 'maxStreamsPerSession', max, 'open streams of this session')
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

  #add(number = ++this.#count): EventStream {
    const stream = new EventStream(number, this)
    this.#streams.push(stream)
    return stream
  }

  /** Makes a stream of a kept answer, because a client asks for it again. */
  #restore(stream: number): EventStream | undefined {
    const answer = this.#ended.find(({ number }) => number === stream)
    if (!(answer instanceof KeptAnswer)) return undefined
    this.#forget(answer)
    const restored = this.#add(stream)
    restored.restore(answer.event)
    restored.unattendedSince = answer.unattendedSince
    return restored
  }

  #forget(stream: EventStream | KeptAnswer): void {
    removeFrom(this.#ended, stream)
    listIn(undefined, stream)
    if (stream instanceof KeptAnswer) return this.#countKept(-stream.bytes)
    removeFrom(this.#streams, stream)
    stream.forget()
    if (stream === this.#standing) this.#standing = undefined
  }

  #ping(now: number): void {
    const { pingMs } = this.limits
    if (now - this.#pingedAt < pingMs) return
    this.#pingedAt = now
    // Long enough for an answer, and short enough that a miss is noticed before the next ping.
    this.#channel.ping(pingMs / 3).then(
      () => {
        this.#missedPings = 0
      },
      () => {
        if (++this.#missedPings >= MAX_MISSED_PINGS) this.breakOff()
      },
    )
  }
}

function removeFrom<T>(list: T[], item: T): void {
  const at = list.indexOf(item)
  // Nearly always the first, for which this is cheaper.
  if (at === 0) list.shift()
  else if (at > 0) list.splice(at, 1)
}
