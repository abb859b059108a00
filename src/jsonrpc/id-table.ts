/**
 * What is in progress, by id. A Map would do but for one thing: filled and emptied without pause, it goes through one
 * table after another, each outgrown table holds on to the next, and whatever was in any of them is then kept until the
 * next full collection. Here the entries are their own links, and an entry that was taken out holds on to nothing.
 */

import type { Id } from './message.ts'

/** One entry, which stands in one table at a time. */
export interface IdEntry<T> {
  readonly id: Id
  /** The next entry of the same bucket. */
  sibling: T | undefined
}

export class IdTable<T extends IdEntry<T>> {
  /** None before there is an entry: most conversations of a server over HTTP are idle. */
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

  /** Adds an entry whose id is not in the table. */
  add(entry: T): void {
    if (++this.#size > this.#buckets.length) this.#grow()
    link(this.#buckets, entry)
  }

  /** Takes an entry out; false when it is not in the table. */
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

  /** All entries, in no order that means anything; a copy, so that the table may change meanwhile. */
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
/** Enough of the end of a string id to tell counters and random ids apart. */
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
