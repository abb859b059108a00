/** The memory of the events that sessions keep: a limit for each session, and one for all. */

import type { Batch } from '../stream-logs.ts'
import type { EventLog } from './event-log.ts'
import type { ExpiringMap } from './expiring-map.ts'
import type { SessionState } from './session-state.ts'

/** After this part of the limit was added, the sizes of all sessions are summed again. */
const UNCOUNTED = 1 / 16

export class KeptEvents {
  readonly #sessions: ExpiringMap<SessionState>
  readonly #max: number
  readonly #now: () => number
  #uncounted = 0

  constructor(sessions: ExpiringMap<SessionState>, max: number, now: () => number) {
    this.#sessions = sessions
    this.#max = max
    this.#now = now
  }

  /** The bytes of all events of all sessions. */
  bytes(): number {
    const now = this.#now()
    return this.#sessions.values().reduce((sum, session) => sum + session.bytesAt(now), 0)
  }

  /** A batch was added to a stream. */
  added(session: SessionState, log: EventLog, { events }: Batch, maxSessionBytes: number): void {
    const now = this.#now()
    const over = session.bytesAt(now) - maxSessionBytes
    if (over > 0) session.free(over, now, log)
    for (const { json } of events) this.#uncounted += json.length
    if (this.#uncounted <= this.#max * UNCOUNTED) return
    this.#uncounted = 0
    this.#makeRoom(session, log, now)
  }

  /**
   * The sessions with the most events lose half of them at a time, until there is room for what comes before the next look. A session keeps
   * unread changes until it has nothing else.
   */
  #makeRoom(grown: SessionState, growing: EventLog, now: number): void {
    const sizes = this.#sessions.values().map((session) => ({ session, bytes: session.bytesAt(now) }))
    let over = sizes.reduce((sum, { bytes }) => sum + bytes, 0) - this.#max * (1 - UNCOUNTED)
    if (over <= 0) return
    while (over > 0) {
      sizes.sort((a, b) => b.bytes - a.bytes)
      const [largest] = sizes
      if (!largest) return
      const { session, bytes } = largest
      const most = Math.min(over, Math.ceil(bytes / 2))
      const log = session === grown ? growing : undefined
      const freed = session.free(most, now, log) || session.freeUnread(most, log)
      // Only the newest event is left.
      if (freed === 0) sizes.shift()
      largest.bytes -= freed
      over -= freed
    }
  }
}
