/** What the log says of faults of the store and of shared sessions: the first one at once, and each text at most once a minute. */

import { asText } from '../../../base/as-text.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { notices } from '../../../base/notices.ts'
import { McpError } from '../../../protocol/errors.ts'

/** At most one report in this time: a store that is down fails every request. */
const PAUSE_MS = 1000
const SAME_TEXT_MS = 60_000
const MAX_TEXTS = 20

export class FaultReports {
  readonly #clock: Clock
  /** When each text was last reported. */
  readonly #texts = new BoundedMap<string, number>(MAX_TEXTS)
  #lastReport = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  report(error: unknown): void {
    const now = this.#clock.now()
    const text = error instanceof Error ? error.message : asText(error)
    const before = this.#texts.get(text)
    if (now - this.#lastReport < PAUSE_MS || (before !== undefined && now - before < SAME_TEXT_MS)) return
    this.#texts.set(text, now)
    this.#lastReport = now
    // A text says why values in the store cannot be opened.
    const isOfStore = !(error instanceof Error) || (error instanceof McpError && error.code.startsWith('ERR_STORE'))
    const from = isOfStore ? 'store' : 'sessions of several replicas'
    notices.write('error', `portico: ${from}: ${text}`)
  }

  /** The store works. The next fault is reported as the first one. */
  reset(): void {
    this.#texts.clear()
  }
}
