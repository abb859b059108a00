/** What the body of one request takes in memory: while it arrives, and until the request has its answer. */

import type { Refusal } from '../refusal.ts'
import type { CallerUsage } from './caller-usage.ts'
import type { InFlight } from './in-flight.ts'

/** What one value costs beside its text: about that of a number in an array, or half of an empty object. */
const VALUE_COST = 32

/** About how much memory a message takes once it is parsed. */
export const estimateMemory = (text: string, values: number): number => text.length + values * VALUE_COST

export class BodyMemory {
  readonly #inFlight: InFlight
  readonly #usage: CallerUsage
  #bytes = 0
  /** The request is worked on: whoever ends that gives the bytes back. */
  isInFlight = false
  /** Why there was no room. */
  refusal: Refusal | undefined

  constructor(inFlight: InFlight, usage: CallerUsage) {
    this.#inFlight = inFlight
    this.#usage = usage
  }

  /** False when there is no room for so many more. */
  readonly grow = (bytes: number): boolean => {
    this.refusal = this.#inFlight.takeBytes(this.#usage, bytes)
    if (this.refusal) return false
    this.#bytes += bytes
    return true
  }

  /** Counts what the parsed message takes instead of what came. */
  settle(bytes: number): boolean {
    return this.grow(bytes - this.#bytes)
  }

  release(): void {
    this.#inFlight.giveBytes(this.#usage, this.#bytes)
    this.#bytes = 0
  }
}
