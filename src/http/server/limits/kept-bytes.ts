/** The memory limit for all kept events. The caller with the most loses its oldest events first. */

import { type CallerUsage, listIn, type UsageByCaller } from './caller-usage.ts'

/** The memory of an event in addition to its text. */
const EVENT_COST = 64

/** The memory of a text: one byte per character, or two if any character needs two. */
export const sizeOf = (text: string): number => EVENT_COST + (WIDE.test(text) ? text.length * 2 : text.length)

/** The characters that do not take one byte in memory. */
const WIDE = /[\u0100-\uffff]/

export class KeptBytes {
  readonly #max: number
  readonly #usages: UsageByCaller
  #total = 0

  constructor(maxKeptBytes: number, usages: UsageByCaller) {
    this.#max = maxKeptBytes
    this.#usages = usages
  }

  get total(): number {
    return this.#total
  }

  /** Adds to the kept bytes; a negative number subtracts. */
  count(usage: CallerUsage, bytes: number): void {
    usage.keptBytes += bytes
    this.#total += bytes
  }

  /** Drops events beyond the limit, and some more, so that this is not needed for every event. */
  makeRoom(): void {
    if (this.#total <= this.#max) return
    const enough = this.#max - this.#max / 16
    while (this.#total > enough) {
      const usage = this.#usages.largest(({ keptBytes }) => keptBytes)
      const floor = usage.keptBytes / 2
      while (this.#total > enough && usage.keptBytes > floor) if (!forgetOldest(usage)) return
    }
  }
}

/** Ended streams go first, because most of their readers have read them. */
function forgetOldest({ ended, live }: CallerUsage): boolean {
  for (const keepers of [ended, live]) {
    for (let keeper = keepers.first; keeper; keeper = keepers.first) {
      if (keeper.evictOldest()) return true
      listIn(undefined, keeper)
    }
  }
  return false
}
