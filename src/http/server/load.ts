/** How much is going on at once, and whether there is room for more. */

import type { HttpLimits } from './options.ts'
import { busy, type Refusal } from './refusal.ts'

export class Load {
  readonly #limits: HttpLimits
  readonly #perPrincipal = new Map<string, number>()
  readonly #listens = new Map<string, number>()
  readonly #onIdle: (() => void)[] = []
  #inFlight = 0

  constructor(limits: HttpLimits) {
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Counts one more request in hand; a refusal when there is no room, and then nothing is counted. */
  enter(principal: string | undefined): Refusal | undefined {
    const { maxInFlight, maxInFlightPerPrincipal } = this.#limits
    if (this.#inFlight >= maxInFlight) return busy(503, 'maxInFlight', maxInFlight, 'requests at once')
    if (principal !== undefined && !add(this.#perPrincipal, principal, maxInFlightPerPrincipal))
      return busy(429, 'maxInFlightPerPrincipal', maxInFlightPerPrincipal, 'requests at once')
    this.#inFlight++
    return undefined
  }

  leave(principal: string | undefined): void {
    this.#inFlight--
    if (principal !== undefined) subtract(this.#perPrincipal, principal)
    if (this.#inFlight === 0 && this.#onIdle.length > 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  enterListen(principal: string | undefined): Refusal | undefined {
    const { maxListensPerPrincipal: max } = this.#limits
    if (principal === undefined || add(this.#listens, principal, max)) return undefined
    return busy(429, 'maxListensPerPrincipal', max, 'open subscriptions')
  }

  leaveListen(principal: string | undefined): void {
    if (principal !== undefined) subtract(this.#listens, principal)
  }

  whenIdle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }
}

/** False when there is no room for one more. */
function add(counts: Map<string, number>, key: string, max: number): boolean {
  const count = counts.get(key) ?? 0
  if (count >= max) return false
  counts.set(key, count + 1)
  return true
}

function subtract(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 0) - 1
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
