/** One list of a server in pages, kept until the list changes. Callers see only the items that they may use. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { Params } from '../jsonrpc/message.ts'
import { type Access, permits } from '../protocol/interfaces/access.ts'
import type { KeyRing } from '../protocol/interfaces/replaceable-services.ts'
import { markOf, type Place, readCursor, writeCursor } from './cursor.ts'

interface ListEntry<Item> {
  item: Item
  /** The scopes that a caller needs to see it. */
  scopes: readonly string[] | undefined
}

export interface ListingOptions<Item> {
  /** The member of the result that holds the items. */
  member: string
  /** The unique name of an item. Cursors refer to it. */
  keyOf(item: Item): string
  entries(): readonly ListEntry<Item>[]
  pageSize: number
  keys: KeyRing
  cache: { ttlMs: number; cacheScope: 'public' | 'private' }
}

/** Sets of scopes whose view of the list is kept. A caller with another set gets a list that is built for it. */
const MAX_VIEWS = 64

/** The list as callers with the same scopes see it. */
interface ListView<Item> {
  items: readonly Item[]
  /** The pages, by the item before their first item. */
  pages: Map<string, Params | Promise<Params>>
}

/** Pages are the same objects until the list changes, so that their JSON text can be kept too. */
export class Listing<Item> {
  readonly #options: ListingOptions<Item>
  /** The views, by those scopes of the caller that matter here. If the list needs no scopes, there is one view, under ''. */
  readonly #views = new BoundedMap<string, ListView<Item>>(MAX_VIEWS)
  #relevant: readonly string[] | undefined

  constructor(options: ListingOptions<Item>) {
    this.#options = options
  }

  invalidate(): void {
    this.#views.clear()
    this.#relevant = undefined
  }

  page(cursor: unknown, access: Access): Params | Promise<Params> {
    if (cursor === undefined) return this.#known(undefined, access)
    return readCursor(this.#options.member, cursor, this.#options.keys).then((after) => this.#known(after, access))
  }

  #known(after: Place | undefined, access: Access): Params | Promise<Params> {
    const view = this.#viewOf(access)
    const place = after ? `${after.index} ${after.mark}` : ''
    const known = view.pages.get(place)
    if (known) return known
    const page = this.#build(after, view.items)
    // Old cursors lead to pages that are not needed again, so the number of kept pages is limited.
    if (view.pages.size < MAX_KEPT_PAGES) view.pages.set(place, page)
    return page
  }

  #viewOf(access: Access): ListView<Item> {
    const { entries } = this.#options
    this.#relevant ??= [...new Set(entries().flatMap(({ scopes }) => scopes ?? []))].sort()
    const key = this.#relevant.filter((scope) => permits(access, [scope])).join(' ')
    let view = this.#views.get(key)
    if (!view) {
      const visible = entries().filter(({ scopes }) => permits(access, scopes))
      view = { items: visible.map(({ item }) => item), pages: new Map() }
      this.#views.set(key, view)
    }
    return view
  }

  #build(after: Place | undefined, items: readonly Item[]): Params | Promise<Params> {
    const { member, keyOf, pageSize, keys } = this.#options
    const cache = this.#relevant?.length ? { ...this.#options.cache, cacheScope: 'private' as const } : this.#options.cache
    const start = after === undefined ? 0 : startAfter(items, keyOf, after)
    const page = items.slice(start, start + pageSize)
    const last = page.at(-1)
    if (last === undefined || start + pageSize >= items.length) return { [member]: page, ...cache }
    const place = { index: start + pageSize - 1, mark: markOf(keyOf(last)) }
    return writeCursor(member, place, keys).then((nextCursor) => ({ [member]: page, nextCursor, ...cache }))
  }
}

/** Pages kept per view. Further pages are built for each request. */
const MAX_KEPT_PAGES = 1000

/** The index after the cursor's item, wherever the item is now. If it is gone, the list restarts, so that nothing is skipped. */
function startAfter<Item>(items: readonly Item[], keyOf: (item: Item) => string, { index, mark }: Place): number {
  const then = items[index]
  if (then !== undefined && markOf(keyOf(then)) === mark) return index + 1
  return items.findIndex((item) => markOf(keyOf(item)) === mark) + 1
}
