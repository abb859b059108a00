/** Shows logs and warnings of a directly connected server, at a rate that a person can read. */

import type { Clock } from '../../base/clock.ts'
import { Bucket, type Rate } from '../../base/rate.ts'
import type { Io } from '../io.ts'
import { counted } from './counted.ts'
import { type SafeText, safe } from './safe-text.ts'
import type { Screen } from './screen.ts'

/** The same rate as in the host. */
const RATE: Rate = { perSecond: 50, burst: 500 }
/** Maximum length of one text. The rest is cut, with a note. */
const MAX_TEXT = 16 * 1024
/** Output that may be buffered for a slow reader of standard error. More is dropped. */
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

  /** @param line makes the line to print; not called for dropped texts */
  note(text: string, line: (text: string) => SafeText): void {
    const { io, screen, clock } = this.#options
    if (io.stderr.stream.writableLength > MAX_PENDING_BYTES || this.#bucket.take(clock.now()) > 0) {
      this.#leftOut++
      return
    }
    this.tellLeftOut()
    const cut = text.length - MAX_TEXT
    screen.note(line(cut > 0 ? `${text.slice(0, MAX_TEXT)} (and ${cut} more characters)` : text))
  }

  /** Prints how many lines were dropped since the last note. */
  tellLeftOut(): void {
    const { screen } = this.#options
    if (this.#leftOut > 0)
      screen.note(
        safe`${screen.noteStyle.yellow('!')} ${counted(this.#leftOut, 'line of the server was', 'lines of the server were')} dropped: too many at once`,
      )
    this.#leftOut = 0
  }
}
