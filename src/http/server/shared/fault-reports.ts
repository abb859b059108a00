/** What the log says of faults of the store and of shared sessions: each text at most once a minute, and few lines in all. */

import { asText } from '../../../base/as-text.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { notices } from '../../../base/notices.ts'
import { Bucket } from '../../../base/rate.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import { isAway } from './ask-each.ts'

/** Lines with different texts. A text may name what only one request has. */
const LINES = { burst: 10, perSecond: 1 }
const SAME_TEXT_MS = 60_000
const MAX_TEXTS = 20

const ofStores = new WeakMap<SharedStore, FaultReports>()

/** The reports of all that uses a store in this process, so that one outage is reported once. */
export function faultsOf(store: SharedStore, clock: Clock): FaultReports {
  const kept = ofStores.get(store) ?? new FaultReports(clock)
  ofStores.set(store, kept)
  return kept
}

export class FaultReports {
  readonly #clock: Clock
  /** When each text was last reported. */
  readonly #texts = new BoundedMap<string, { at: number; isAway: boolean }>(MAX_TEXTS)
  readonly #lines: Bucket

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lines = new Bucket(LINES, clock.now())
  }

  report(error: unknown): void {
    const now = this.#clock.now()
    const text = error instanceof Error ? error.message : asText(error)
    const before = this.#texts.get(text)
    if (before && now - before.at < SAME_TEXT_MS) return
    if (this.#lines.take(now) > 0) return
    this.#texts.set(text, { at: now, isAway: isAway(error) })
    // A text says why values in the store cannot be opened.
    const isOfStore = !(error instanceof Error) || (error instanceof McpError && error.code.startsWith('ERR_STORE'))
    const from = isOfStore ? 'store' : 'sessions of several replicas'
    notices.write('error', `portico: ${from}: ${text}`)
  }

  /** The store answers. The next outage is reported as the first one. What is damaged is not repaired by that. */
  reset(): void {
    for (const [text, { isAway }] of this.#texts) if (isAway) this.#texts.delete(text)
  }
}
