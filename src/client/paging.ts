/** Lists that come in pages: read one after another, as far as the caps allow. */

import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { ClientLimits } from './limits.ts'

/** A list to loop over, or to have whole. Pages are fetched as they are needed. */
export interface List<Item> extends AsyncIterable<Item> {
  all(): Promise<Item[]>
}

export interface ListSource<Item> {
  /** For errors. */
  method: string
  fetch(cursor: string | undefined): Promise<Params>
  /** @param isLast no page follows */
  itemsOf(page: Params, isLast: boolean): readonly Item[]
  limits: Pick<ClientLimits, 'maxPages' | 'maxItems'>
  onWarning(message: string): void
}

export function listOf<Item>(source: ListSource<Item>): List<Item> {
  return {
    [Symbol.asyncIterator]: () => items(source),
    all: async () => {
      const all: Item[] = []
      for await (const item of { [Symbol.asyncIterator]: () => items(source) }) all.push(item)
      return all
    },
  }
}

async function* items<Item>({ method, fetch, itemsOf, limits, onWarning }: ListSource<Item>): AsyncGenerator<Item> {
  const seen = new Set<string>()
  let cursor: string | undefined
  let before: readonly Item[] = []
  let count = 0
  for (let pages = 1; ; pages++) {
    const page = await fetch(cursor)
    const next = page.nextCursor
    // The cursor that was just used leads nowhere: some servers write one that means nothing, such as an empty text.
    const isStuck = next !== undefined && next === cursor
    const found = itemsOf(page, typeof next !== 'string' || isStuck)
    if (isStuck) onWarning(`${method} gave the cursor ${JSON.stringify(cursor)} again in answer to it; the list ends there`)
    // A server that takes no notice of cursors sends its one page again.
    if (!isStuck || JSON.stringify(found) !== JSON.stringify(before)) {
      for (const item of found) {
        if (++count > limits.maxItems) throw new McpError('ERR_LIMIT', `${method} has more than ${limits.maxItems} items (limits.maxItems)`)
        yield item
      }
    }
    if (typeof next !== 'string' || isStuck) return
    if (seen.has(next)) throw new McpError('ERR_LIMIT', `${method} gave the same cursor twice`)
    if (pages >= limits.maxPages) throw new McpError('ERR_LIMIT', `${method} has more than ${limits.maxPages} pages (limits.maxPages)`)
    seen.add(next)
    cursor = next
    before = found
  }
}
