/** Searches everything that servers offer: tools, prompts, resources and templates. */

import type { Catalog } from './catalog.ts'
import type { CatalogEntry, ToolEntry } from './entry.ts'
import { DEFAULT_SEARCH_LIMITS, newIndex, type SearchDocument, type ToolSearch } from './search.ts'

/** An entry of the catalog that a search found. */
export interface FoundEntry {
  entry: CatalogEntry
  score: number
}

type OtherEntry = Exclude<CatalogEntry, ToolEntry>

const DEFAULT_RESULTS = 20

export class EntrySearch {
  readonly #catalog: Catalog
  readonly #tools: ToolSearch
  #lists: readonly unknown[] = []
  #index = newIndex()
  #entries: readonly OtherEntry[] = []

  constructor(catalog: Catalog, tools: ToolSearch) {
    this.#catalog = catalog
    this.#tools = tools
  }

  /** Best matches first. */
  search(query: string, options: { limit?: number } = {}): FoundEntry[] {
    const { maxQueryLength, maxResults } = DEFAULT_SEARCH_LIMITS
    const limit = Math.min(Math.max(1, Math.trunc(options.limit ?? DEFAULT_RESULTS)), maxResults)
    this.#sync()
    const tools: FoundEntry[] = this.#tools.search(query, { limit })
    const others = this.#index
      .search(query.slice(0, maxQueryLength))
      .slice(0, limit)
      .map(({ id, score }) => ({ entry: this.#entries[Number(id)] as OtherEntry, score }))
    return [...tools, ...others].sort((a, b) => b.score - a.score || (a.entry.exposed < b.entry.exposed ? -1 : 1)).slice(0, limit)
  }

  /** The lists of the catalog are new objects after each change. */
  #sync(): void {
    const [prompts, resources, templates] = [this.#catalog.prompts(), this.#catalog.resources(), this.#catalog.templates()]
    const lists = [prompts, resources, templates]
    if (lists.every((list, at) => list === this.#lists[at])) return
    this.#lists = lists
    this.#entries = lists.flat()
    this.#index = newIndex()
    this.#index.addAll(this.#entries.map(documentOf))
  }
}

function documentOf({ exposed, definition }: OtherEntry, at: number): SearchDocument {
  const { maxFieldLength } = DEFAULT_SEARCH_LIMITS
  const cut = (text: unknown): string => (typeof text === 'string' ? text.slice(0, maxFieldLength) : '')
  const { name, title, description } = definition
  const words = 'arguments' in definition ? (definition.arguments ?? []).map((each) => `${each.name} ${each.description ?? ''}`) : []
  return {
    id: String(at),
    name: cut(`${exposed} ${name}`),
    title: cut(title),
    description: cut(description),
    parameters: cut(words.join(' ')),
  }
}
