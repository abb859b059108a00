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

  /** A batch was added to a stream. */
  added(session: SessionState, log: EventLog, { events }: Batch, maxSessionBytes: number): void {
    const over = session.bytesAt(this.#now()) - maxSessionBytes
    if (over > 0) session.free(over, log)
    for (const { json } of events) this.#uncounted += json.length
    if (this.#uncounted <= this.#max * UNCOUNTED) return
    this.#uncounted = 0
    this.#makeRoom(log)
  }

  /** The sessions with the most events lose half of them at a time, until there is room for what comes before the next look. */
  #makeRoom(growing: EventLog): void {
    const now = this.#now()
    const sizes = this.#sessions.values().map((session) => ({ session, bytes: session.bytesAt(now) }))
    let over = sizes.reduce((sum, { bytes }) => sum + bytes, 0) - this.#max * (1 - UNCOUNTED)
    if (over <= 0) return
    while (over > 0) {
      sizes.sort((a, b) => b.bytes - a.bytes)
      const [largest] = sizes
      if (!largest) return
      const freed = largest.session.free(Math.min(over, Math.ceil(largest.bytes / 2)), growing)
      // Only the newest event is left.
      if (freed === 0) sizes.shift()
      largest.bytes -= freed
      over -= freed
    }
  }
}
