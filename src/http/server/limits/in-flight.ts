/** Counts requests and bytes in progress, and refuses more than the limits allow. */

import type { AllHttpLimits } from '../fixed-limits.ts'
import { busy, busyFixed, type Refusal } from '../refusal.ts'
import type { BodyMemory } from './body-memory.ts'
import { LISTEN_LIMITS, REQUEST_LIMITS, refuseMore } from './caller-limits.ts'
import type { CallerUsage } from './caller-usage.ts'

export class InFlight {
  readonly #limits: AllHttpLimits
  readonly #onIdle: (() => void)[] = []
  #inFlight = 0
  #abandoned = 0
  #bodyBytes = 0

  constructor(limits: AllHttpLimits) {
    this.#limits = limits
  }

  get requests(): number {
    return this.#inFlight
  }

  /** Requests in progress whose client has disconnected. */
  get abandoned(): number {
    return this.#abandoned
  }

  /** Memory of the bodies that arrive or are in progress. */
  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** Counts the requests of one more message. Refused ones are not counted. */
  enter(usage: CallerUsage, body: BodyMemory): Refusal | undefined {
    const { maxInFlight, maxAbandoned } = this.#limits
    const { requests } = body
    if (this.#inFlight + requests > maxInFlight) return busy(503, 'maxInFlight', maxInFlight, 'requests at once', requests)
    const crowded = refuseMore(this.#limits, REQUEST_LIMITS, usage, usage.inFlight, requests)
    if (crowded) return crowded
    if (usage.kind !== 'unknown' && usage.abandoned >= maxAbandoned)
      return busyFixed(429, 'maxAbandoned', maxAbandoned, 'abandoned requests in progress')
    this.#inFlight += requests
    usage.inFlight += requests
    body.isInFlight = true
    return undefined
  }

  /** Counts bytes of a body. Refused bytes are not counted. */
  takeBytes(usage: CallerUsage, bytes: number): Refusal | undefined {
    const { maxBodyBytesInHand: max, maxBodyBytesInHandPerAddress: maxEach } = this.#limits
    if (bytes > 0) {
      if (this.#bodyBytes + bytes > max) return busy(503, 'maxBodyBytesInHand', max, 'bytes of messages in progress')
      if (usage.kind !== 'unknown' && maxEach !== false && usage.bodyBytes + bytes > maxEach)
        return busy(429, 'maxBodyBytesInHandPerAddress', maxEach, 'bytes of messages in progress from one caller')
    }
    this.#bodyBytes += bytes
    usage.bodyBytes += bytes
    return undefined
  }

  giveBytes(usage: CallerUsage, bytes: number): void {
    this.#bodyBytes -= bytes
    usage.bodyBytes -= bytes
  }

  /** @param body undefined while a handler still uses it */
  leave(usage: CallerUsage, body: BodyMemory | undefined, requests = body?.requests ?? 1): void {
    body?.release()
    this.#inFlight -= requests
    usage.inFlight -= requests
    if (this.#inFlight === 0 && this.#onIdle.length > 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** The client of a request in progress disconnected. */
  abandon(usage: CallerUsage): void {
    this.#abandoned++
    usage.abandoned++
  }

  /** An abandoned request has a client again, or has ended. */
  unabandon(usage: CallerUsage): void {
    this.#abandoned--
    usage.abandoned--
  }

  enterListen(usage: CallerUsage): Refusal | undefined {
    const crowded = refuseMore(this.#limits, LISTEN_LIMITS, usage, usage.listens)
    if (!crowded) usage.listens++
    return crowded
  }

  leaveListen(usage: CallerUsage): void {
    usage.listens--
  }

  /** Refuses one more long-lived stream when there are too many. */
  checkStreams(usage: CallerUsage, open: number): Refusal | undefined {
    const { maxStreams } = this.#limits
    if (open >= maxStreams) return busy(503, 'maxStreams', maxStreams, 'open streams')
    return usage.kind === 'address' ? refuseMore(this.#limits, LISTEN_LIMITS, usage, usage.streams) : undefined
  }

  whenIdle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }
}
