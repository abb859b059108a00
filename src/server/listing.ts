/** One list of a server, cut into pages and kept until it changes. */

import type { Params } from '../jsonrpc/message.ts'
import type { KeyRing } from '../protocol/ports.ts'
import { readCursor, writeCursor } from './cursor.ts'

export interface ListingOptions<Item> {
  /** The member of the result that holds the items. */
  member: string
  /** What tells an item from the others, and where the list goes on after it. */
  keyOf(item: Item): string
  items(): readonly Item[]
  pageSize: number
  keys: KeyRing
  cache: { ttlMs: number; cacheScope: 'public' | 'private' }
}

/** The pages are the same objects until the list changes, so that their text can be kept with them. */
export class Listing<Item> {
  readonly #options: ListingOptions<Item>
  #pages = new Map<string | undefined, Params | Promise<Params>>()

  constructor(options: ListingOptions<Item>) {
    this.#options = options
  }

  invalidate(): void {
    this.#pages = new Map()
  }

  page(cursor: unknown): Params | Promise<Params> {
    if (cursor === undefined) return this.#known(undefined)
    return readCursor(this.#options.member, cursor, this.#options.keys).then((after) => this.#known(after))
  }

  #known(after: string | undefined): Params | Promise<Params> {
    const known = this.#pages.get(after)
    if (known) return known
    const pages = this.#pages
    const page = this.#build(after)
    // A cursor names an item that was there once; what was never asked for again need not be kept.
    if (pages.size < MAX_KEPT_PAGES) pages.set(after, page)
    return page
  }

  #build(after: string | undefined): Params | Promise<Params> {
    const { member, keyOf, pageSize, keys, cache } = this.#options
    const items = this.#options.items()
    const start = after === undefined ? 0 : startAfter(items, keyOf, after)
    const page = items.slice(start, start + pageSize)
    const last = page.at(-1)
    if (last === undefined || start + pageSize >= items.length) return { [member]: page, ...cache }
    return writeCursor(member, keyOf(last), keys).then((nextCursor) => ({ [member]: page, nextCursor, ...cache }))
  }
}

const MAX_KEPT_PAGES = 1000

/** Where the item stood that the cursor names; if it is gone, the list starts anew rather than skip anything. */
const startAfter = <Item>(items: readonly Item[], keyOf: (item: Item) => string, after: string): number =>
  items.findIndex((item) => keyOf(item) === after) + 1
