/** Tells pages about new messages, a few times a second and not one by one. */

import type { Clock, Timer } from '../../base/clock.ts'
import type { MessageView } from '../api.ts'
import type { EventLog } from '../event-log.ts'

const EVERY_MS = 50
/** Rows in one event. With more, pages fetch the rest. */
const MAX_ROWS = 200

export class MessageAnnouncer {
  readonly #events: EventLog
  readonly #clock: Clock
  #waiting: MessageView[] = []
  #dropped = 0
  #timer: Timer | undefined

  constructor(events: EventLog, clock: Clock) {
    this.#events = events
    this.#clock = clock
  }

  add(row: MessageView): void {
    this.#waiting.push(row)
    if (this.#waiting.length > MAX_ROWS) {
      this.#waiting.shift()
      this.#dropped++
    }
    this.#timer ??= this.#clock.after(EVERY_MS, () => this.#tell())
  }

  close(): void {
    this.#timer?.cancel()
  }

  #tell(): void {
    this.#timer = undefined
    const messages = this.#waiting
    const forgotten = this.#dropped
    this.#waiting = []
    this.#dropped = 0
    this.#events.publish('messages', { messages, ...(forgotten > 0 && { forgotten }) }, { forgotten: forgotten + messages.length })
  }
}
