/**
 * A hash table of open requests, by id. Not a Map: a Map that is filled and emptied all the time leaves outgrown tables
 * behind, and those keep removed entries alive until the next full garbage collection. Here the entries link to each
 * other, and a removed entry links to nothing.
 */

import type { Id } from './message.ts'

/** An entry is in at most one table at a time. */
export interface IdEntry<T> {
  readonly id: Id
  /** The next entry of the same bucket. */
  sibling: T | undefined
}

export class IdTable<T extends IdEntry<T>> {
  /** Empty until the first entry is added, because most HTTP sessions are idle. */
  #buckets: (T | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: Id): T | undefined {
    if (this.#size === 0) return undefined
    let entry = this.#buckets[bucketOf(id, this.#buckets.length)]
    while (entry && entry.id !== id) entry = entry.sibling
    return entry
  }

  /** Adds an entry. Its id must not be in the table. */
  add(entry: T): void {
    if (++this.#size > this.#buckets.length) this.#grow()
    link(this.#buckets, entry)
  }

  /** Removes an entry. False when it is not in the table. */
  remove(entry: T): boolean {
    if (this.#size === 0) return false
    const bucket = bucketOf(entry.id, this.#buckets.length)
    let before: T | undefined
    for (let each = this.#buckets[bucket]; each; each = each.sibling) {
      if (each === entry) {
        if (before) before.sibling = entry.sibling
        else this.#buckets[bucket] = entry.sibling
        entry.sibling = undefined
        this.#size--
        return true
      }
      before = each
    }
    return false
  }

  /** A copy of all entries, in no particular order. The table may change while it is used. */
  all(): T[] {
    const all: T[] = []
    for (const first of this.#buckets) for (let each = first; each; each = each.sibling) all.push(each)
    return all
  }

  #grow(): void {
    const entries = this.all()
    this.#buckets = emptyBuckets(Math.max(FIRST_BUCKETS, 2 * this.#buckets.length))
    for (const entry of entries) link(this.#buckets, entry)
  }
}

const FIRST_BUCKETS = 8
/** The last characters of a string id suffice to distribute counters and random ids. */
const HASHED_CHARACTERS = 8

const emptyBuckets = <T>(count: number): (T | undefined)[] => new Array<T | undefined>(count).fill(undefined)

function link<T extends IdEntry<T>>(buckets: (T | undefined)[], entry: T): void {
  const bucket = bucketOf(entry.id, buckets.length)
  entry.sibling = buckets[bucket]
  buckets[bucket] = entry
}

/** @param count a power of two */
function bucketOf(id: Id, count: number): number {
  if (typeof id === 'number') return id & (count - 1)
  let hash = 0
  for (let at = Math.max(0, id.length - HASHED_CHARACTERS); at < id.length; at++) hash = (hash * 31 + id.charCodeAt(at)) | 0
  return hash & (count - 1)
}
