/**
 * What of the catalogue a model is given. When the definitions of all tools would fill its attention, it gets those that
 * the person chose and three tools to find and call the others. A call that comes through them is the call of the real
 * tool: it is resolved here, and then decided on like any other.
 */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import { tokensIn } from '../models/estimate.ts'
import type { Catalog } from './catalog.ts'
import type { ToolEntry } from './entry.ts'
import type { ToolSearch } from './search.ts'

export interface OfferOptions {
  /** How many tokens the definitions may take, by estimate, before they are searched instead. */
  maxTokens?: number
  /** Exposed names of tools that are given in any case. */
  favourites?: readonly string[]
}

export const DEFAULT_MAX_DEFINITION_TOKENS = 20_000

export interface Offer {
  /** Given with their definitions. */
  inline: readonly ToolEntry[]
  /** The tools to find the others with; empty when all are given. */
  search: readonly Tool[]
}

export function offerToModel(catalog: Catalog, options: OfferOptions = {}): Offer {
  const { maxTokens = DEFAULT_MAX_DEFINITION_TOKENS, favourites = [] } = options
  const tools = catalog.tools()
  const estimatedTokens = tools.reduce((sum, entry) => sum + definitionTokens(entry), 0)
  if (estimatedTokens <= maxTokens) return { inline: tools, search: [] }
  const chosen = new Set(favourites)
  return { inline: tools.filter(({ exposed }) => chosen.has(exposed)), search: SEARCH_TOOLS }
}

export function definitionTokens({ exposed, definition }: ToolEntry): number {
  const { description = '', inputSchema } = definition
  return tokensIn(exposed.length + description.length + JSON.stringify(inputSchema).length)
}

// No exposed name is like these: each of those begins with its server and two underscores.
const SEARCH = 'search_tools'
const DESCRIBE = 'describe_tool'
const CALL = 'call_tool'

const SEARCH_TOOLS: readonly Tool[] = [
  {
    name: SEARCH,
    description: 'Finds tools by what they do. Gives names and the first line of descriptions, the best match first.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'How many to give; 10 unless given' },
      },
      required: ['query'],
      additionalProperties: false,
    },
  },
  {
    name: DESCRIBE,
    description: 'Gives the whole description and the parameters of a tool that was found.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'The name as it was found' } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  {
    name: CALL,
    description: 'Calls a tool that was found, under the same rules as if it were called directly.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name as it was found' },
        arguments: { type: 'object', description: 'The arguments, as the description of the tool says' },
      },
      required: ['name'],
      additionalProperties: false,
    },
  },
]

/** What a model's call comes down to: the call of a real tool, or text that answers it here. */
export type ModelCall = { kind: 'call'; entry: ToolEntry; args: Record<string, unknown> } | { kind: 'answer'; text: string }

/** ERR_SERVER_UNKNOWN when no tool has that name, ERR_INVALID_PARAMS when one of the three is called wrongly. */
export function resolveModelCall(catalog: Catalog, search: ToolSearch, name: string, args: Readonly<Record<string, unknown>>): ModelCall {
  switch (name) {
    case SEARCH: {
      const { query, limit } = args
      if (typeof query !== 'string') throw badArguments(SEARCH, '"query", a text', args)
      if (limit !== undefined && !Number.isInteger(limit)) throw badArguments(SEARCH, '"limit", a whole number', args)
      const found = search.search(query, limit === undefined ? {} : { limit: limit as number })
      return { kind: 'answer', text: JSON.stringify(found.map(({ entry }) => ({ name: entry.exposed, description: firstLine(entry) }))) }
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
  if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No tool is called ${JSON.stringify(exposed.slice(0, 200))}`)
  return entry
}

function badArguments(tool: string, expected: string, args: Readonly<Record<string, unknown>>): McpError {
  return new McpError('ERR_INVALID_PARAMS', `${tool} needs ${expected}; it was given ${JSON.stringify(args).slice(0, 200)}`)
}

function firstLine({ definition }: ToolEntry): string {
  const [line = ''] = (definition.description ?? definition.title ?? '').trim().split('\n', 1)
  return line.length > 200 ? `${line.slice(0, 197)}...` : line
}
