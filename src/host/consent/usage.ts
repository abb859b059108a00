/** Counts recent actions in bounded memory, for limits and the loop guard. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ActionKind, Usage } from '../model/action.ts'
import { digestOf } from '../model/digest.ts'

export interface UsageLimits {
  /** Counters, one per principal, server and name. Further ones share one counter. */
  maxCounters: number
  /** Conversations whose last call is remembered. The least recently used is forgotten first. */
  maxRuns: number
}

export const DEFAULT_USAGE_LIMITS: UsageLimits = { maxCounters: 10_000, maxRuns: 1_000 }

export interface CountedCall {
  kind: ActionKind
  principal: string
  run: string
  /** The number of the person's messages in the conversation. */
  turn: number
  server: string
  /** The server's own name of the tool, prompt or resource; empty for actions on the server as a whole. */
  name: string
  args: Readonly<Record<string, unknown>>
}

export interface UsageOptions {
  /** Milliseconds of the wall clock. */
  now?: () => number
  limits?: Partial<UsageLimits>
}

interface Counter {
  minute: Window
  hour: Window
  day: Window
  open: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND

export class UsageCounter {
  readonly #now: () => number
  readonly #limits: UsageLimits
  readonly #counters = new Map<string, Counter>()
  /** Shared by all calls without a counter of their own. It counts too much rather than too little. */
  readonly #overflow = newCounter()
  readonly #tokens = new Map<string, Window>()
  readonly #tokensOverflow = newDay()
  #sweptAt = Number.NEGATIVE_INFINITY
  readonly #rows: BoundedMap<string, { call: string; count: number }>

  constructor({ now = Date.now, limits }: UsageOptions = {}) {
    this.#now = now
    this.#limits = withDefaults(DEFAULT_USAGE_LIMITS, limits)
    this.#rows = new BoundedMap(this.#limits.maxRuns)
  }

  /**
   * Call once per attempt that the person did not start, before deciding. Denied attempts count too, so that a loop of denials is
   * detected. A new message of the person ends a row: what they ask for again is not a loop.
   */
  attempt(call: CountedCall): Usage {
    const text = callText(call)
    const row = this.#rows.get(call.run)
    const count = row?.call === text ? row.count + 1 : 1
    this.#rows.set(call.run, { call: text, count })
    return this.usageOf(call)
  }

  /** The usage as of now. */
  usageOf(call: CountedCall): Usage {
    const now = this.#now()
    const counter = this.#counters.get(keyOf(call)) ?? (this.#isFull(now) ? this.#overflow : undefined)
    const row = this.#rows.get(call.run)
    return {
      identicalInARow: row?.call === callText(call) ? row.count : 1,
      concurrent: counter?.open ?? 0,
      lastMinute: counter?.minute.sum(now) ?? 0,
      lastHour: counter?.hour.sum(now) ?? 0,
      lastDay: counter?.day.sum(now) ?? 0,
      tokensToday: this.#tokensOf(call.server)?.sum(now) ?? 0,
    }
  }

  /** Counts an action as running until the returned function is called. */
  begin(call: CountedCall): () => void {
    const now = this.#now()
    const counter = this.#counterFor(keyOf(call), now)
    for (const window of [counter.minute, counter.hour, counter.day]) window.add(now, 1)
    counter.open++
    let isOpen = true
    return () => {
      if (isOpen) counter.open--
      isOpen = false
    }
  }

  spend(server: string, tokens: number): void {
    const known = this.#tokensOf(server)
    const window = known ?? newDay()
    if (!known) this.#tokens.set(server, window)
    window.add(this.#now(), tokens)
  }

  /** Forgets a conversation that has ended. */
  forget(run: string): void {
    this.#rows.delete(run)
  }

  /** Undefined when a new counter may be added. */
  #tokensOf(server: string): Window | undefined {
    return this.#tokens.get(server) ?? (this.#tokens.size < this.#limits.maxCounters ? undefined : this.#tokensOverflow)
  }

  #counterFor(key: string, now: number): Counter {
    const known = this.#counters.get(key)
    if (known) return known
    if (this.#isFull(now)) return this.#overflow
    const counter = newCounter()
    this.#counters.set(key, counter)
    return counter
  }

  #isFull(now: number): boolean {
    if (this.#counters.size < this.#limits.maxCounters) return false
    // The sweep visits every counter, so it runs at most once a minute.
    if (Math.abs(now - this.#sweptAt) < MINUTE) return true
    this.#sweptAt = now
    for (const [key, counter] of this.#counters) if (counter.open === 0 && counter.day.sum(now) === 0) this.#counters.delete(key)
    return this.#counters.size >= this.#limits.maxCounters
  }
}

/**
 * A sum over a sliding window, in slots. The slot that is expiring still counts, so the sum is never too small. A clock that is set
 * back resets nothing.
 */
class Window {
  readonly #slotMs: number
  readonly #slots: number[]
  #newest = 0

  constructor(spanMs: number, slots: number) {
    this.#slotMs = spanMs / slots
    this.#slots = new Array<number>(slots + 1).fill(0)
  }

  add(now: number, amount: number): void {
    this.#advance(now)
    this.#slots[this.#newest % this.#slots.length] = this.#current() + amount
  }

  sum(now: number): number {
    this.#advance(now)
    return this.#slots.reduce((total, each) => total + each, 0)
  }

  #current(): number {
    return this.#slots[this.#newest % this.#slots.length] ?? 0
  }

  #advance(now: number): void {
    const slot = Math.floor(now / this.#slotMs)
    const from = Math.max(this.#newest + 1, slot - this.#slots.length + 1)
    for (let each = from; each <= slot; each++) this.#slots[each % this.#slots.length] = 0
    this.#newest = Math.max(this.#newest, slot)
  }
}

const newDay = (): Window => new Window(DAY, 24)

const newCounter = (): Counter => ({ minute: new Window(MINUTE, 12), hour: new Window(3_600 * SECOND, 12), day: newDay(), open: 0 })

const keyOf = ({ principal, server, name }: CountedCall): string => JSON.stringify([principal, server, name])

const callText = ({ kind, turn, server, name, args }: CountedCall): string => JSON.stringify([kind, turn, server, name, digestOf(args)])
