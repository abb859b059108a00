/** Counts the resources that each caller uses: by principal, or by address without authentication. */

import { LinkedList, type ListNode } from '../../../base/linked-list.ts'
import { addressKey } from './client-address.ts'

/** Events kept for a client that may resume a stream. */
export interface EventStore extends ListNode<EventStore> {
  /** The list of its owner that contains it. */
  listedIn: LinkedList<EventStore> | undefined
  /** Drops the oldest events; false when there are none. */
  evictOldest(): boolean
}

/** Moves a store to the end of a list, unless it is there already; undefined removes it from its list. */
export function listIn(list: LinkedList<EventStore> | undefined, store: EventStore): void {
  if (store.listedIn === list) return
  store.listedIn?.remove(store)
  list?.add(store)
  store.listedIn = list
}

/** A session, as far as the usage counts need it. */
export interface HeldSession {
  readonly id: string
  /** Since when it is idle; undefined while it is in use. */
  readonly idleSince: number | undefined
}

/** The resources that one caller uses now. */
export class CallerUsage {
  /** `unknown` where the runtime does not tell the address. Only the limits of the process apply then. */
  readonly kind: 'principal' | 'address' | 'unknown'
  /** The principal, or the key of the address. */
  readonly key: string
  /** Requests in progress. */
  inFlight = 0
  /** Requests in progress whose client has disconnected. */
  abandoned = 0
  /** Open `subscriptions/listen` requests. */
  listens = 0
  /** Open streams of every kind. */
  streams = 0
  /** Sessions of the legacy transport. */
  legacySessions = 0
  readonly sessions = new Set<HeldSession>()
  /** Memory of the bodies that arrive or are in progress. */
  bodyBytes = 0
  /** Bodies that are arriving. */
  arriving = 0
  /** Memory of the events kept for clients that resume. */
  keptBytes = 0
  /** The streams that keep these events, oldest first: ended streams here, open streams in `live`. */
  readonly ended = new LinkedList<EventStore>()
  readonly live = new LinkedList<EventStore>()

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

/** Calls a function on every tick until the returned function is called. */
export interface Ticks {
  everyTick(chore: () => void): () => void
}

/** The usage of all callers. */
export class UsageByCaller {
  readonly #ticks: Ticks
  readonly #principals = new Map<string, CallerUsage>()
  readonly #addresses = new Map<string, CallerUsage>()
  readonly #unknown = new CallerUsage('unknown')
  /** Cached, because nearly every request comes from the same address as the last one. */
  #lastAddress: string | undefined
  #lastUsage: CallerUsage | undefined
  #stopSweeping: (() => void) | undefined

  constructor(ticks: Ticks) {
    this.#ticks = ticks
  }

  /** How many callers are counted now. */
  get size(): number {
    return this.#principals.size + this.#addresses.size + (this.#unknown.isIdle ? 0 : 1)
  }

  /** The usage of one caller. Use it in the same turn: an empty one is removed on the next tick. */
  of(principal: string | undefined, address: string | undefined): CallerUsage {
    if (principal !== undefined) return this.#at(this.#principals, principal, 'principal')
    if (address === undefined) return this.#unknown
    if (address === this.#lastAddress && this.#lastUsage) return this.#lastUsage
    this.#lastAddress = address
    this.#lastUsage = this.#at(this.#addresses, addressKey(address), 'address')
    return this.#lastUsage
  }

  /** The caller that uses most. */
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
      this.#stopSweeping ??= this.#ticks.everyTick(() => this.#sweep())
    }
    return usage
  }

  /** Removes empty entries on every tick, not after every request, because most callers send several. */
  #sweep(): void {
    this.#lastUsage = undefined
    for (const usages of [this.#principals, this.#addresses]) {
      for (const [key, usage] of usages) if (usage.isIdle) usages.delete(key)
    }
    if (this.#principals.size + this.#addresses.size > 0) return
    this.#stopSweeping?.()
    this.#stopSweeping = undefined
  }
}
