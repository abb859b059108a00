/** Counts the memory of one request's body, from its arrival until the request is answered. */

import type { Arrival } from '../../../jsonrpc/outlet.ts'
import type { Refusal } from '../refusal.ts'
import type { CallerUsage } from './caller-usage.ts'
import type { InFlight } from './in-flight.ts'

/** The memory of one value in addition to its text: about a number in an array, or half of an empty object. */
const VALUE_COST = 32

/** Estimates the memory of a parsed message. */
export const estimateMemory = (text: string, values: number): number => text.length + values * VALUE_COST

export class BodyMemory {
  readonly #inFlight: InFlight
  /** Where the body is counted. It is not removed while the body is. */
  readonly usage: CallerUsage
  #bytes = 0
  /** True once the request was admitted. From then on the end of the request releases the bytes. */
  isInFlight = false
  /** The reason why there was no room. */
  refusal: Refusal | undefined
  /** How many requests it has, if it is a batch. */
  requests = 1
  /** Set if requests are recorded. */
  arrival: Arrival | undefined

  constructor(inFlight: InFlight, usage: CallerUsage) {
    this.#inFlight = inFlight
    this.usage = usage
  }

  /** What it counts now. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts more bytes; false when there is no room for them. */
  grow(bytes: number): boolean {
    this.refusal = this.#inFlight.takeBytes(this.usage, bytes)
    if (this.refusal) return false
    this.#bytes += bytes
    return true
  }

  /** Replaces the received bytes by the memory of the parsed message. */
  settle(bytes: number): boolean {
    return this.grow(bytes - this.#bytes)
  }

  release(): void {
    this.#inFlight.giveBytes(this.usage, this.#bytes)
    this.#bytes = 0
  }
}
