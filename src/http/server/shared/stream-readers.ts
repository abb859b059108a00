/** Clients that open or resume a stream with GET. */

import { revisionOf } from '../../../revisions/index.ts'
import { STANDING_STREAM } from '../../../store/stream-logs.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import { busyFixed, DRAINING_REPLICA, type Refusal, refuse } from '../refusal.ts'
import type { HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, eventText, idEventText } from '../streams/event-stream.ts'
import { eventIdOf, readEventId } from './event-ids.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import type { ReadSession } from './session-record.ts'
import { isFault, READ_AT_ONCE } from './tails.ts'

export class StreamReaders {
  readonly #services: ReplicaServices
  readonly #calls: RunningCalls
  readonly #usageOf: (principal: string | undefined, address: string | undefined) => CallerUsage

  constructor(
    services: ReplicaServices,
    calls: RunningCalls,
    usageOf: (principal: string | undefined, address: string | undefined) => CallerUsage,
  ) {
    this.#services = services
    this.#calls = calls
    this.#usageOf = usageOf
  }

  async read({ sid, record }: ReadSession, request: HttpRequestView, reply: HttpReply): Promise<Refusal | undefined> {
    const { eventName, principal, state } = record
    const { inFlight, limits, open, store, tails, messages, report } = this.#services
    const lastEventId = request.header('last-event-id')
    const place = lastEventId === undefined ? { stream: STANDING_STREAM, position: undefined } : readEventId(lastEventId, eventName)
    if (!place) return refuse(400, 'The last event id does not belong to this session')
    const { stream, position } = place
    const isStanding = stream === STANDING_STREAM
    // Asked each time: a usage without anything in it is replaced by another on the next tick.
    const usageNow = (): CallerUsage => this.#usageOf(principal, request.remoteAddress)
    const max = limits.maxStreamsPerSession
    const check = (): Refusal | undefined => {
      // The rest of an answer may be read until the end.
      if (open.isClosed || (isStanding && open.isEnding)) return DRAINING_REPLICA
      if (tails.others(sid, stream) >= max) return busyFixed(429, 'maxStreamsPerSession', max, 'open streams of this session')
      return inFlight.checkStreams(usageNow(), open.size)
    }
    const refused = check()
    if (refused) return refused
    // No event counts as given to a client without an id before its stream is open: the reply of the store may be lost, or the client gone.
    const limit = lastEventId === undefined ? 0 : READ_AT_ONCE
    const attached = await store.streams.attach(sid, stream, position, limit)
    if (isFault(attached)) {
      return refuse(400, attached === 'gone' ? 'The stream of that event id is no longer kept' : 'Events after that id are no longer kept')
    }
    // Others may have come in the meantime, or the server ends.
    const refusedNow = reply.isGone ? undefined : check()
    if (refusedNow || reply.isGone) {
      void store.streams.detach(sid, stream, attached.reader).catch(() => {})
      return refusedNow
    }
    this.#calls.disconnect(sid, stream)
    const { events, isOver, reader, next, owner } = attached
    // 204 tells a client not to reconnect. Without it the SDKs would reconnect for ever for a call that they cancelled.
    if (isOver && events.length === 0) {
      reply.send(204, {})
      return undefined
    }
    /** The replica that runs the request counts those without a client. */
    const tell = (isThere: boolean): void => {
      if (owner !== undefined) void messages.hint(owner, { kind: 'reader', sid, stream, reader, isThere }, report)
    }
    if (!isOver) tell(true)
    const sink = reply.open(EVENT_STREAM_HEADERS)
    const last = next ?? events.at(-1)?.position ?? attached.from
    open.add({
      sink,
      usage: usageNow(),
      onTooOld: isStanding ? () => tails.breakOff(sid, stream) : undefined,
      endsAt: reply.endsAt,
      onEnded: () => tails.breakOff(sid, stream),
    })
    tails.add({ sid, stream, eventName, reader, position: last, sink, onGone: () => tell(false) })
    // With this id the client can come back if this replica ends before the first event.
    const beginsWithId = lastEventId === undefined && revisionOf(state.version)?.hasPolledStreams === true
    sink.write(beginsWithId ? idEventText(eventIdOf(eventName, stream, attached.from)) : ':\n\n')
    for (const each of events) {
      // A process that was stopped for a while must not write what others may have read.
      if (!store.replica.isHeld) {
        tails.destroy(sid, stream)
        return undefined
      }
      sink.write(eventText(each.json, eventIdOf(eventName, stream, each.position)))
    }
    if (isOver) tails.end(sid, stream)
    else tails.wake(sid, stream)
    return undefined
  }
}
