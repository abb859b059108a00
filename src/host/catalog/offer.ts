/**
 * Chooses the tools that a model is given. If all definitions together are too large, the model gets the favorites and three tools to
 * find, describe and call the others. A call through these is resolved to the real tool here, and decided like any other call.
 */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import { toolViewOf } from '../../protocol/model/apps.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import { tokensIn } from '../language-models/estimate-tokens.ts'
import type { Catalog } from './catalog.ts'
import type { ToolEntry } from './entry.ts'
import type { ToolSearch } from './search.ts'

export interface OfferOptions {
  /** Estimated tokens that all definitions may take before the search tools replace them. */
  maxTokens?: number
  /** Exposed names of tools that are always included. */
  favorites?: readonly string[]
}

export const DEFAULT_MAX_DEFINITION_TOKENS = 20_000

export interface Offer {
  /** The tools given with their definitions. */
  inline: readonly ToolEntry[]
  /** The search tools. Empty: all tools are given. */
  search: readonly Tool[]
}

/** Chooses the tools for a model. */
export function offerToModel(catalog: Catalog, options: OfferOptions = {}): Offer {
  const { maxTokens = DEFAULT_MAX_DEFINITION_TOKENS, favorites = [] } = options
  const tools = catalog.tools().filter(isForModel)
  const estimatedTokens = tools.reduce((sum, entry) => sum + definitionTokens(entry), 0)
  if (estimatedTokens <= maxTokens) return { inline: tools, search: [] }
  const chosen = new Set(favorites)
  return { inline: tools.filter(({ exposed }) => chosen.has(exposed)), search: SEARCH_TOOLS }
}

/** Tools for apps only are no tools for models. */
const isForModel = ({ definition }: ToolEntry): boolean => toolViewOf(definition).visibility.includes('model')

function definitionTokens({ exposed, definition }: ToolEntry): number {
  const { description = '', inputSchema } = definition
  return tokensIn(exposed.length + description.length + JSON.stringify(inputSchema).length)
}

// These cannot collide with exposed names, which all contain a server and two underscores.
const SEARCH = 'search_tools'
const DESCRIBE = 'describe_tool'
const CALL = 'call_tool'

const SEARCH_TOOLS: readonly Tool[] = [
  {
    name: SEARCH,
    description: 'Finds tools by what they do. Returns names and the first line of each description, best match first.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Maximum number of results. Default: 10' },
      },
      required: ['query'],
      additionalProperties: false,
    },
  },
  {
    name: DESCRIBE,
    description: 'Returns the full description and the parameters of a tool.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'The name from the search result' } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  {
    name: CALL,
    description: 'Calls a tool from the search result. The same rules apply as for a direct call.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name from the search result' },
        arguments: { type: 'object', description: 'The arguments, as described by the tool' },
      },
      required: ['name'],
      additionalProperties: false,
    },
  },
]

/** A model's call after resolution: the call of a real tool, or an answer given here. */
export type ModelCall = { kind: 'call'; entry: ToolEntry; args: Record<string, unknown> } | { kind: 'answer'; text: string }

/** Resolves a model's call. ERR_SERVER_UNKNOWN for an unknown tool, ERR_INVALID_PARAMS for wrong arguments of a search tool. */
export function resolveModelCall(catalog: Catalog, search: ToolSearch, name: string, args: Readonly<Record<string, unknown>>): ModelCall {
  switch (name) {
    case SEARCH: {
      const { query, limit } = args
      if (typeof query !== 'string') throw badArguments(SEARCH, '"query", a text', args)
      if (limit !== undefined && !Number.isInteger(limit)) throw badArguments(SEARCH, '"limit", a whole number', args)
      const found = search.search(query, limit === undefined ? {} : { limit: limit as number })
      return {
        kind: 'answer',
        text: JSON.stringify(
          found.filter(({ entry }) => isForModel(entry)).map(({ entry }) => ({ name: entry.exposed, description: firstLine(entry) })),
        ),
      }
    }
    case DESCRIBE: {
      const { exposed, definition } = named(catalog, DESCRIBE, args)
      const { title, description, inputSchema, outputSchema } = definition
      return { kind: 'answer', text: JSON.stringify({ name: exposed, title, description, inputSchema, outputSchema }) }
    }
    case CALL: {
      const entry = named(catalog, CALL, args)
      const { arguments: inner = {} } = args
      if (!isObject(inner)) throw badArguments(CALL, '"arguments", an object', args)
      return { kind: 'call', entry, args: inner }
    }
    default:
      return { kind: 'call', entry: found(catalog, name), args: { ...args } }
  }
}

function named(catalog: Catalog, tool: string, args: Readonly<Record<string, unknown>>): ToolEntry {
  if (typeof args.name !== 'string') throw badArguments(tool, '"name", a text', args)
  return found(catalog, args.name)
}

function found(catalog: Catalog, exposed: string): ToolEntry {
  const entry = catalog.find('tool', exposed)
  if (!entry || !isForModel(entry)) throw new McpError('ERR_SERVER_UNKNOWN', `There is no tool ${JSON.stringify(exposed.slice(0, 200))}`)
  return entry
}

function badArguments(tool: string, expected: string, args: Readonly<Record<string, unknown>>): McpError {
  return new McpError('ERR_INVALID_PARAMS', `${tool}: expected ${expected}, got ${JSON.stringify(args).slice(0, 200)}`)
}

function firstLine({ definition }: ToolEntry): string {
  const [line = ''] = (definition.description ?? definition.title ?? '').trim().split('\n', 1)
  return line.length > 200 ? `${line.slice(0, 197)}...` : line
}
