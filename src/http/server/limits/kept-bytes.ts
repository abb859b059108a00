/** One budget for everything that is kept for clients that come back: whoever keeps most gives way first. */

import type { CallerUsage, UsageByCaller } from './caller-usage.ts'

/** What an event costs beside its text. */
const EVENT_COST = 64

/** How much memory a text takes: a byte a character, or two when one of them needs it. */
export const sizeOf = (text: string): number => EVENT_COST + (WIDE.test(text) ? text.length * 2 : text.length)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of characters that take one byte in memory
const WIDE = /[^\u0000-\u00ff]/

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

  /** Counts bytes that are kept, or with a negative number those that no longer are. */
  count(usage: CallerUsage, bytes: number): void {
    usage.keptBytes += bytes
    this.#total += bytes
  }

  /** Makes room if there is too much, and some more, so that this is not done for every event. */
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

/** Streams that ended go first: most of their readers have read them. */
function forgetOldest({ ended, live }: CallerUsage): boolean {
  for (const keepers of [ended, live]) {
    for (const keeper of keepers) {
      if (keeper.evictOldest()) return true
      keepers.delete(keeper)
    }
  }
  return false
}
