/** Searches tools with BM25 over their names, titles, descriptions and parameters. */

import MiniSearch from 'minisearch'
import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { Catalog } from './catalog.ts'
import type { ToolEntry } from './entry.ts'

export interface SearchLimits {
  /** Maximum length of a query. The rest is ignored. */
  maxQueryLength: number
  /** Maximum number of results. */
  maxResults: number
  /** Maximum number of characters to index per field of a tool. */
  maxFieldLength: number
}

export const DEFAULT_SEARCH_LIMITS: SearchLimits = { maxQueryLength: 1_000, maxResults: 50, maxFieldLength: 8_000 }

export interface FoundTool {
  entry: ToolEntry
  score: number
}

interface Document {
  id: string
  name: string
  title: string
  description: string
  parameters: string
}

const DEFAULT_RESULTS = 10
const MAX_SCHEMA_DEPTH = 8

export class ToolSearch {
  readonly #catalog: Catalog
  readonly #limits: SearchLimits
  readonly #index = newIndex()
  /** The indexed definitions, for finding out which ones changed. */
  readonly #indexed = new Map<string, ToolEntry['definition']>()
  #synced: readonly ToolEntry[] | undefined

  constructor(catalog: Catalog, limits: Partial<SearchLimits> = {}) {
    this.#catalog = catalog
    this.#limits = withDefaults(DEFAULT_SEARCH_LIMITS, limits)
  }

  /** Best matches first. Tools with equal scores are in the order of their exposed names. */
  search(query: string, options: { limit?: number } = {}): FoundTool[] {
    const { maxQueryLength, maxResults } = this.#limits
    const limit = Math.min(Math.max(1, Math.trunc(options.limit ?? DEFAULT_RESULTS)), maxResults)
    this.#sync()
    const found: FoundTool[] = []
    for (const { id, score } of this.#index.search(query.slice(0, maxQueryLength))) {
      const entry = this.#catalog.find('tool', asText(id))
      if (entry) found.push({ entry, score })
    }
    found.sort((a, b) => b.score - a.score || (a.entry.exposed < b.entry.exposed ? -1 : 1))
    return found.slice(0, limit)
  }

  /** Updates the index from the catalog. Only changed tools are indexed again. */
  #sync(): void {
    const tools = this.#catalog.tools()
    if (tools === this.#synced) return
    this.#synced = tools
    const gone = new Set(this.#indexed.keys())
    for (const entry of tools) {
      gone.delete(entry.exposed)
      const known = this.#indexed.get(entry.exposed)
      if (known === entry.definition) continue
      if (known) this.#index.discard(entry.exposed)
      this.#index.add(this.#documentOf(entry))
      this.#indexed.set(entry.exposed, entry.definition)
    }
    for (const exposed of gone) {
      this.#index.discard(exposed)
      this.#indexed.delete(exposed)
    }
  }

  #documentOf({ exposed, definition }: ToolEntry): Document {
    const cut = (text: unknown): string => (typeof text === 'string' ? text.slice(0, this.#limits.maxFieldLength) : '')
    const { name, title, annotations, description, inputSchema } = definition
    return {
      id: exposed,
      name: cut(`${exposed} ${name}`),
      title: cut(title ?? annotations?.title),
      description: cut(description),
      parameters: cut(parameterWords(inputSchema, this.#limits.maxFieldLength).join(' ')),
    }
  }
}

function newIndex(): MiniSearch<Document> {
  return new MiniSearch<Document>({
    fields: ['name', 'title', 'description', 'parameters'],
    tokenize: wordsIn,
    processTerm: (term) => term.toLowerCase(),
    searchOptions: {
      boost: { name: 3, title: 2, parameters: 0.5 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'OR',
    },
  })
}

/** `createIssue`, `create_issue` and `create issue` are the same two words. */
const wordsIn = (text: string): string[] => text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? []

/** The names and descriptions of properties, including nested ones, up to `maxLength`. */
function parameterWords(schema: unknown, maxLength: number): string[] {
  const words: string[] = []
  let length = 0
  const visit = (node: unknown, depth: number): void => {
    if (!isObject(node) || depth > MAX_SCHEMA_DEPTH || length > maxLength) return
    if (isObject(node.properties)) {
      for (const [name, property] of Object.entries(node.properties)) {
        if (length > maxLength) return
        const description = isObject(property) && typeof property.description === 'string' ? property.description : ''
        words.push(name, description)
        length += name.length + description.length
        visit(property, depth + 1)
      }
    }
    visit(node.items, depth + 1)
  }
  visit(schema, 0)
  return words
}
