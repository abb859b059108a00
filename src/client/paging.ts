/** Lists in pages: fetches one page after another, within the limits. */

import { isObject } from '../base/json.ts'
import { onAbort } from '../base/on-abort.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { endable } from './endable.ts'
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from './limits.ts'

/** Each page is one request. A list with more pages takes too long to read, or never ends. */
const MAX_PAGES = 64

/** Grows with `maxItems`, because the server sets the size of a page. */
const maxPagesOf = (maxItems: number): number => Math.max(MAX_PAGES, Math.ceil((MAX_PAGES * maxItems) / DEFAULT_CLIENT_LIMITS.maxItems))

/**
 * A list that is fetched page by page, as needed.
 *
 * @example
 * for await (const tool of client.tools()) console.log(tool.name)
 * const all = await client.tools().all()
 */
export interface List<Item> extends AsyncIterable<Item> {
  /** Fetches all pages. */
  all(): Promise<Item[]>
}

export interface ListSource<Item> {
  /** The method, for error messages. */
  method: string
  fetch(cursor: string | undefined): Promise<Params>
  /** @param isLast whether this is the last page */
  itemsOf(page: Params, isLast: boolean): readonly Item[]
  limits: Pick<ClientLimits, 'maxItems'>
  onWarning(message: string): void
}

export function listOf<Item>(source: ListSource<Item>): List<Item> {
  return {
    [Symbol.asyncIterator]: () => endable((end) => items(source, end)),
    all: async () => {
      const all: Item[] = []
      for await (const item of endable((end) => items(source, end))) all.push(item)
      return all
    },
  }
}

async function* items<Item>(
  { method, fetch, itemsOf, limits, onWarning }: ListSource<Item>,
  end: AbortSignal,
): AsyncGenerator<Item, undefined> {
  const ended = new Promise<undefined>((resolve) => onAbort(end, () => resolve(undefined)))
  const seen = new Set<string>()
  let cursor: string | undefined
  let before: readonly Item[] = []
  let count = 0
  const maxPages = maxPagesOf(limits.maxItems)
  for (let pages = 1; ; pages++) {
    const page = await Promise.race([fetch(cursor), ended])
    if (!page) return undefined
    const next = page.nextCursor
    // Some servers return the same cursor again, or a meaningless one such as an empty string.
    const isStuck = next !== undefined && next === cursor
    const found = itemsOf(page, typeof next !== 'string' || isStuck)
    if (isStuck) onWarning(`${method} returned the cursor ${JSON.stringify(cursor)} that it was called with; the list ends there`)
    // A server that ignores cursors returns the same page again.
    if (!isStuck || JSON.stringify(found) !== JSON.stringify(before)) {
      for (const item of found) {
        if (++count > limits.maxItems) throw new McpError('ERR_LIMIT', `${method} has more than ${limits.maxItems} items (limits.maxItems)`)
        yield item
      }
    }
    if (typeof next !== 'string' || isStuck) return undefined
    if (seen.has(next)) throw new McpError('ERR_LIMIT', `${method} returned the same cursor twice`)
    if (pages >= maxPages) throw new McpError('ERR_LIMIT', `${method} has more than ${maxPages} pages`)
    seen.add(next)
    cursor = next
    before = found
  }
}

/** The items of one page. Anything that is not an object is left out. */
export const itemsIn = <Item>(page: Params, member: string): Item[] => {
  const list = page[member]
  if (!Array.isArray(list)) throw new McpError('ERR_ANSWER_INVALID', `A page of a list has no "${member}"`)
  return list.filter((item) => isObject(item)) as Item[]
}
