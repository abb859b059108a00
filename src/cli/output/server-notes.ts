/** What a server that was connected to by hand says beside its answers: as much as a person can read, and no more. */

import type { Clock } from '../../base/clock.ts'
import { Bucket, type Rate } from '../../base/rate.ts'
import type { Io } from '../io.ts'
import { type SafeText, safe } from './safe-text.ts'
import type { Screen } from './screen.ts'

/** As many as a host lets through. */
const RATE: Rate = { perSecond: 50, burst: 500 }
/** Of one text; the rest is left out, and that is said. */
const MAX_TEXT = 16 * 1024
/** What may wait to be written. A reader of standard error that is slower gets less. */
const MAX_PENDING_BYTES = 1024 * 1024

export interface ServerNotesOptions {
  io: Pick<Io, 'stderr'>
  screen: Screen
  clock: Clock
}

export class ServerNotes {
  readonly #options: ServerNotesOptions
  readonly #bucket: Bucket
  #leftOut = 0

  constructor(options: ServerNotesOptions) {
    this.#options = options
    this.#bucket = new Bucket(RATE, options.clock.now())
  }

  /** @param line makes the line of a text that is short enough; not called for what is left out */
  note(text: string, line: (text: string) => SafeText): void {
    const { io, screen, clock } = this.#options
    if (io.stderr.stream.writableLength > MAX_PENDING_BYTES || this.#bucket.take(clock.now()) > 0) {
      this.#leftOut++
      return
    }
    this.tellLeftOut()
    const cut = text.length - MAX_TEXT
    screen.note(line(cut > 0 ? `${text.slice(0, MAX_TEXT)} (and ${cut} characters more)` : text))
  }

  /** Says how many were left out since it was said last. */
  tellLeftOut(): void {
    const { screen } = this.#options
    if (this.#leftOut > 0)
      screen.note(safe`${screen.noteStyle.yellow('!')} ${this.#leftOut} lines of the server were left out: more than can be read`)
    this.#leftOut = 0
  }
}
