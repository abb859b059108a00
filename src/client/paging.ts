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
  itemsOf(page: Params): readonly Item[]
  limits: Pick<ClientLimits, 'maxPages' | 'maxItems'>
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

async function* items<Item>({ method, fetch, itemsOf, limits }: ListSource<Item>): AsyncGenerator<Item> {
  const seen = new Set<string>()
  let cursor: string | undefined
  let count = 0
  for (let pages = 1; ; pages++) {
    const page = await fetch(cursor)
    for (const item of itemsOf(page)) {
      if (++count > limits.maxItems) throw new McpError('ERR_LIMIT', `${method} has more than ${limits.maxItems} items (limits.maxItems)`)
      yield item
    }
    const next = page.nextCursor
    if (typeof next !== 'string') return
    if (seen.has(next)) throw new McpError('ERR_LIMIT', `${method} gave the same cursor twice`)
    if (pages >= limits.maxPages) throw new McpError('ERR_LIMIT', `${method} has more than ${limits.maxPages} pages (limits.maxPages)`)
    seen.add(next)
    cursor = next
  }
}
