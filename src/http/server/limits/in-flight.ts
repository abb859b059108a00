/** How much is going on at once, and whether there is room for more. */

import type { HttpLimits } from '../options.ts'
import { busy, type Refusal } from '../refusal.ts'
import type { BodyMemory } from './body-memory.ts'
import type { CallerUsage } from './caller-usage.ts'

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
  enter(usage: CallerUsage, body: BodyMemory): Refusal | undefined {
    const { maxInFlight, maxAbandoned } = this.#limits
    if (this.#inFlight >= maxInFlight) return busy(503, 'maxInFlight', maxInFlight, 'requests at once')
    if (usage.kind !== 'unknown') {
      const limit = usage.kind === 'principal' ? 'maxInFlightPerPrincipal' : 'maxInFlightPerAddress'
      const max = this.#limits[limit]
      if (max !== false && usage.inFlight >= max) return busy(429, limit, max, OF[usage.kind].requests)
      if (usage.abandoned >= maxAbandoned) return busy(429, 'maxAbandoned', maxAbandoned, 'requests in hand that nobody waits for')
    }
    this.#inFlight++
    usage.inFlight++
    body.isInFlight = true
    return undefined
  }

  /** Counts bytes of a body; a refusal when there is no room, and then nothing is counted. */
  takeBytes(usage: CallerUsage, bytes: number): Refusal | undefined {
    const { maxBodyBytesInHand: max, maxBodyBytesInHandPerAddress: maxEach } = this.#limits
    if (bytes > 0) {
      if (this.#bodyBytes + bytes > max) return busy(503, 'maxBodyBytesInHand', max, 'bytes of messages in hand')
      if (usage.kind !== 'unknown' && maxEach !== false && usage.bodyBytes + bytes > maxEach)
        return busy(429, 'maxBodyBytesInHandPerAddress', maxEach, 'bytes of messages in hand from one caller')
    }
    this.#bodyBytes += bytes
    usage.bodyBytes += bytes
    return undefined
  }

  giveBytes(usage: CallerUsage, bytes: number): void {
    this.#bodyBytes -= bytes
    usage.bodyBytes -= bytes
  }

  /** @param body none when it is still in use */
  leave(usage: CallerUsage, body: BodyMemory | undefined): void {
    body?.release()
    this.#inFlight--
    usage.inFlight--
    if (this.#inFlight === 0 && this.#onIdle.length > 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** A request in hand lost whoever waited for it. */
  abandon(usage: CallerUsage): void {
    this.#abandoned++
    usage.abandoned++
  }

  /** Somebody waits for it again, or it is over. */
  unabandon(usage: CallerUsage): void {
    this.#abandoned--
    usage.abandoned--
  }

  enterListen(usage: CallerUsage): Refusal | undefined {
    const { maxListensPerPrincipal: max } = this.#limits
    if (usage.kind === 'principal' && usage.listens >= max) return busy(429, 'maxListensPerPrincipal', max, 'open subscriptions')
    usage.listens++
    return undefined
  }

  leaveListen(usage: CallerUsage): void {
    usage.listens--
  }

  /** Whether there is room for one more stream that may stay open for long. */
  checkStreams(usage: CallerUsage, open: number): Refusal | undefined {
    const { maxStreams, maxStreamsPerAddress: max } = this.#limits
    if (open >= maxStreams) return busy(503, 'maxStreams', maxStreams, 'open streams')
    if (usage.kind === 'address' && max !== false && usage.streams >= max)
      return busy(429, 'maxStreamsPerAddress', max, 'open streams of one address')
    return undefined
  }

  whenIdle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }
}

const OF = { principal: { requests: 'requests at once' }, address: { requests: 'requests at once from one address' } } as const
