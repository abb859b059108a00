/** How much is going on at once, and whether there is room for more. */

import type { BodyMemory } from './body-memory.ts'
import type { CallerUsage } from './caller-usage.ts'
import type { HttpLimits } from '../options.ts'
import { busy, type Refusal } from '../refusal.ts'

export class InFlight {
  readonly #limits: HttpLimits
  readonly #onIdle: (() => void)[] = []
  #inFlight = 0
  #abandoned = 0
  #bodyBytes = 0

  constructor(limits: HttpLimits) {
    this.#limits = limits
  }

  get requests(): number {
    return this.#inFlight
  }

  /** Requests in hand that nobody waits for. */
  get abandoned(): number {
    return this.#abandoned
  }

  /** What the bodies take that arrive or are in hand. */
  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** Counts one more request in hand; a refusal when there is no room, and then nothing is counted. */
  enter(holder: CallerUsage, body: BodyMemory): Refusal | undefined {
    const { maxInFlight, maxAbandoned } = this.#limits
    if (this.#inFlight >= maxInFlight) return busy(503, 'maxInFlight', maxInFlight, 'requests at once')
    if (holder.kind !== 'unknown') {
      const limit = holder.kind === 'principal' ? 'maxInFlightPerPrincipal' : 'maxInFlightPerAddress'
      const max = this.#limits[limit]
      if (max !== false && holder.inFlight >= max) return busy(429, limit, max, OF[holder.kind].requests)
      if (holder.abandoned >= maxAbandoned) return busy(429, 'maxAbandoned', maxAbandoned, 'requests in hand that nobody waits for')
    }
    this.#inFlight++
    holder.inFlight++
    body.isInFlight = true
    return undefined
  }

  /** Counts bytes of a body; a refusal when there is no room, and then nothing is counted. */
  takeBytes(holder: CallerUsage, bytes: number): Refusal | undefined {
    const { maxBodyBytesInHand: max, maxBodyBytesInHandPerAddress: maxEach } = this.#limits
    if (bytes > 0) {
      if (this.#bodyBytes + bytes > max) return busy(503, 'maxBodyBytesInHand', max, 'bytes of messages in hand')
      if (holder.kind !== 'unknown' && maxEach !== false && holder.bodyBytes + bytes > maxEach)
        return busy(429, 'maxBodyBytesInHandPerAddress', maxEach, 'bytes of messages in hand from one caller')
    }
    this.#bodyBytes += bytes
    holder.bodyBytes += bytes
    return undefined
  }

  giveBytes(holder: CallerUsage, bytes: number): void {
    this.#bodyBytes -= bytes
    holder.bodyBytes -= bytes
  }

  /** @param body none when it is still in use */
  leave(holder: CallerUsage, body: BodyMemory | undefined): void {
    body?.release()
    this.#inFlight--
    holder.inFlight--
    if (this.#inFlight === 0 && this.#onIdle.length > 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** A request in hand lost whoever waited for it. */
  abandon(holder: CallerUsage): void {
    this.#abandoned++
    holder.abandoned++
  }

  /** Somebody waits for it again, or it is over. */
  unabandon(holder: CallerUsage): void {
    this.#abandoned--
    holder.abandoned--
  }

  enterListen(holder: CallerUsage): Refusal | undefined {
    const { maxListensPerPrincipal: max } = this.#limits
    if (holder.kind === 'principal' && holder.listens >= max) return busy(429, 'maxListensPerPrincipal', max, 'open subscriptions')
    holder.listens++
    return undefined
  }

  leaveListen(holder: CallerUsage): void {
    holder.listens--
  }

  /** Whether there is room for one more stream that may stay open for long. */
  checkStreams(holder: CallerUsage, open: number): Refusal | undefined {
    const { maxStreams, maxStreamsPerAddress: max } = this.#limits
    if (open >= maxStreams) return busy(503, 'maxStreams', maxStreams, 'open streams')
    if (holder.kind === 'address' && max !== false && holder.streams >= max)
      return busy(429, 'maxStreamsPerAddress', max, 'open streams of one address')
    return undefined
  }

  whenIdle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }
}

const OF = { principal: { requests: 'requests at once' }, address: { requests: 'requests at once from one address' } } as const
