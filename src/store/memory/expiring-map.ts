/** A map whose entries expire, with a maximum size. */

import { McpError } from '../../protocol/errors.ts'

interface Entry<Value> {
  value: Value
  expiresAt: number
}

/** Removes expired entries when they are met, and all of them when the map has doubled since the last time. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #now: () => number
  readonly #max: number
  readonly #what: string
  #sweepAt = 64

  /** @param what names the entries in the error for one too many */
  constructor(now: () => number, max: number, what: string) {
    this.#now = now
    this.#max = max
    this.#what = what
  }

  get size(): number {
    this.#sweep()
    return this.#entries.size
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.expiresAt > this.#now()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Throws ERR_LIMIT when the map is full. */
  set(key: string, value: Value, ttlMs: number): void {
    if (!this.#entries.has(key)) this.#makeRoom()
    this.#entries.set(key, { value, expiresAt: this.#now() + ttlMs })
  }

  /** Moves the expiry of an entry. */
  renew(key: string, ttlMs: number): void {
    const entry = this.#entries.get(key)
    if (entry) entry.expiresAt = this.#now() + ttlMs
  }

  delete(key: string): boolean {
    const has = this.get(key) !== undefined
    this.#entries.delete(key)
    return has
  }

  keys(): string[] {
    this.#sweep()
    return [...this.#entries.keys()]
  }

  values(): Value[] {
    this.#sweep()
    return [...this.#entries.values()].map(({ value }) => value)
  }

  #makeRoom(): void {
    if (this.#entries.size >= Math.min(this.#sweepAt, this.#max)) {
      this.#sweep()
      this.#sweepAt = Math.max(64, this.#entries.size * 2)
    }
    if (this.#entries.size >= this.#max) throw new McpError('ERR_LIMIT', `The store in memory is full: ${this.#max} ${this.#what}`)
  }

  #sweep(): void {
    const now = this.#now()
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key)
  }
}
