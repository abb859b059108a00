/** Streams the events to pages: with a heartbeat, and without waiting for slow readers. */

import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '../../base/clock.ts'
import type { Session } from '../access/sessions.ts'
import { tooMany } from '../errors.ts'
import type { EventLog } from '../event-log.ts'
import type { ConsoleLimits } from '../limits.ts'
import { DATA_HEADERS } from './headers.ts'

type StreamLimits = Pick<ConsoleLimits, 'maxStreams' | 'maxStreamsPerSession' | 'heartbeatMs' | 'maxUnreadBytes'>

export interface EventStreamsOptions {
  limits: StreamLimits
  events: EventLog
  clock: Clock
}

export class EventStreams {
  readonly #options: EventStreamsOptions
  #open = 0

  constructor(options: EventStreamsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open
  }

  /** @throws ApiError 429 */
  open(response: ServerResponse, session: Session, lastId: string | undefined): void {
    const { limits, events, clock } = this.#options
    const { maxStreams, maxStreamsPerSession, heartbeatMs, maxUnreadBytes } = limits
    if (this.#open >= maxStreams) throw tooMany(`${maxStreams} event streams are open already (maxStreams)`)
    if (session.streams.size >= maxStreamsPerSession)
      throw tooMany(`${maxStreamsPerSession} event streams of this window are open already (maxStreamsPerSession)`)
    let heartbeat: Timer | undefined
    let unread = 0
    const write = (text: string): void => {
      response.write(text)
      // The reader comes back with the last id that it got.
      if (response.writableLength > maxUnreadBytes) response.destroy()
    }
    const beat = (): void => {
      // Nothing was read since the last beat.
      if (unread > 0 && response.writableLength >= unread) return void response.destroy()
      write(': still here\n\n')
      unread = response.writableLength
      heartbeat = clock.after(heartbeatMs, beat)
    }
    const unlisten = events.listen(write)
    const leave = (): void => {
      heartbeat?.cancel()
      unlisten()
    }
    const stream = {
      end: (): void => {
        leave()
        response.end()
      },
    }
    session.streams.add(stream)
    this.#open++
    response.once('close', () => {
      this.#open--
      session.streams.delete(stream)
      session.usedAt = clock.now()
      leave()
    })
    response.writeHead(200, { ...DATA_HEADERS, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
    // All missed events at once may be more than may wait otherwise.
    response.write(events.begin(lastId))
    heartbeat = clock.after(heartbeatMs, beat)
  }
}
