/** Who holds how much of what is shared: counted for each principal, and for each address where nobody authenticates. */

import type { OpenStreams } from '../streams/open-streams.ts'
import { addressKey } from './address.ts'

/** Something kept for a client that comes back, which can be given up. */
export interface EventStore {
  /** Gives up the oldest part of what it keeps; false when nothing is left. */
  evictOldest(): boolean
}

/** A session as far as its usage must know it. */
export interface HeldSession {
  readonly id: string
  /** Since when nobody has used it; undefined while it is in use. */
  readonly idleSince: number | undefined
}

/** One caller, as far as callers can be told apart. */
export class CallerUsage {
  /** An `unknown` caller is one whose address the runtime does not tell: only the bounds of the process hold for it. */
  readonly kind: 'principal' | 'address' | 'unknown'
  /** The principal, or what counts as one address. */
  readonly key: string
  /** Requests that are worked on. */
  inFlight = 0
  /** Those of them that nobody waits for any more. */
  abandoned = 0
  /** Open `subscriptions/listen` requests. */
  listens = 0
  /** Open streams of every kind. */
  streams = 0
  /** Sessions of the oldest transport. */
  legacySessions = 0
  readonly sessions = new Set<HeldSession>()
  /** What the bodies of its requests take: those that arrive, and those in hand. */
  bodyBytes = 0
  /** Bodies that arrive. */
  arriving = 0
  /** Bytes kept for clients that come back. */
  keptBytes = 0
  /** What keeps them, oldest first: streams that ended, and streams that did not. */
  readonly ended = new Set<EventStore>()
  readonly live = new Set<EventStore>()

  constructor(kind: CallerUsage['kind'], key = '') {
    this.kind = kind
    this.key = key
  }

  get isIdle(): boolean {
    return (
      this.inFlight === 0 &&
      this.abandoned === 0 &&
      this.listens === 0 &&
      this.streams === 0 &&
      this.legacySessions === 0 &&
      this.sessions.size === 0 &&
      this.bodyBytes === 0 &&
      this.arriving === 0 &&
      this.keptBytes === 0
    )
  }
}

export class UsageByCaller {
  readonly #open: OpenStreams
  readonly #principals = new Map<string, CallerUsage>()
  readonly #addresses = new Map<string, CallerUsage>()
  readonly #unknown = new CallerUsage('unknown')
  /** Nearly every request comes from where the last one came from. */
  #lastAddress: string | undefined
  #lastHolder: CallerUsage | undefined
  #stopSweeping: (() => void) | undefined

  constructor(open: OpenStreams) {
    this.#open = open
  }

  /** How many callers are counted now. */
  get size(): number {
    return this.#principals.size + this.#addresses.size + (this.#unknown.isIdle ? 0 : 1)
  }

  /** Use it in the same turn: a usage that holds nothing is forgotten at the next tick. */
  of(principal: string | undefined, address: string | undefined): CallerUsage {
    if (principal !== undefined) return this.#at(this.#principals, principal, 'principal')
    if (address === undefined) return this.#unknown
    if (address === this.#lastAddress && this.#lastHolder) return this.#lastHolder
    this.#lastAddress = address
    this.#lastHolder = this.#at(this.#addresses, addressKey(address), 'address')
    return this.#lastHolder
  }

  /** The one that holds most. */
  largest(size: (usage: CallerUsage) => number): CallerUsage {
    let largest = this.#unknown
    for (const usages of [this.#principals, this.#addresses]) {
      for (const usage of usages.values()) if (size(usage) > size(largest)) largest = usage
    }
    return largest
  }

  #at(usages: Map<string, CallerUsage>, key: string, kind: CallerUsage['kind']): CallerUsage {
    let usage = usages.get(key)
    if (!usage) {
      usage = new CallerUsage(kind, key)
      usages.set(key, usage)
      this.#stopSweeping ??= this.#open.everyTick(() => this.#sweep())
    }
    return usage
  }

  /** Once a tick, not after every request: whoever sent one is likely to send another. */
  #sweep(): void {
    this.#lastHolder = undefined
    for (const usages of [this.#principals, this.#addresses]) {
      for (const [key, usage] of usages) if (usage.isIdle) usages.delete(key)
    }
    if (this.#principals.size + this.#addresses.size > 0) return
    this.#stopSweeping?.()
    this.#stopSweeping = undefined
  }
}
