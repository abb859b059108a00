/** Finds the tool for a request. */

import MiniSearch from 'minisearch'
import type { ModelRequest } from '../../host/language-models/language-model.ts'
import { fillArguments } from './arguments.ts'
import { words } from './words.ts'

export type OfferedTool = NonNullable<ModelRequest['tools']>[number]

export type Plan =
  | { kind: 'call'; tool: OfferedTool; args: Record<string, unknown> }
  | { kind: 'ask'; tool: OfferedTool; missing: readonly string[] }
  | { kind: 'none' }

/** @param options with `isRequired`, the first tool is used if none matches */
export function planCall(text: string, tools: readonly OfferedTool[], { isRequired = false } = {}): Plan {
  const tool = likeliest(text, tools) ?? (isRequired ? tools[0] : undefined)
  if (!tool) return { kind: 'none' }
  const toolWords = new Set([...words(tool.name), ...descriptionWords(tool)])
  const { args, missing } = fillArguments(text, tool.inputSchema, toolWords)
  return missing.length > 0 && !isRequired ? { kind: 'ask', tool, missing } : { kind: 'call', tool, args }
}

/** Splits `do this, then do that` into steps. A piece that is not a request belongs to the step before. */
export function steps(text: string, tools: readonly OfferedTool[]): string[] {
  const pieces = text.split(/((?:[,;.]|\band\b)?\s+then\s+|;\s+)/i)
  const found: string[] = []
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = pieces[at] ?? ''
    const last = found.at(-1)
    const isText = last !== undefined && (isOpen(last) || (/:\s/.test(last) && !likeliest(piece, tools)) || found.length >= MAX_STEPS)
    if (isText) found[found.length - 1] = `${last}${pieces[at - 1] ?? ''}${piece}`
    else if (piece.trim() !== '') found.push(piece.trim())
  }
  return found
}

/** Whether the text ends inside a quotation. */
const isOpen = (text: string): boolean => text.split('"').length % 2 === 0

/** Splits `this and also that` into requests that run in parallel. */
export const sides = (step: string): string[] =>
  step
    .split(/,?\s+and also\s+/i)
    .map((side) => side.trim())
    .filter((side) => side !== '')
    .slice(0, MAX_SIDES)

const MAX_STEPS = 10
const MAX_SIDES = 8
const MAX_QUERY_CHARS = 2000
const MAX_DESCRIPTION_CHARS = 2000
/** A word of at most this many tools identifies a tool. */
const RARE = 2

/** Verbs of many tools, which do not identify one. */
const COMMON = new Set(['list', 'add', 'delete', 'search', 'get', 'read', 'set', 'edit', 'update', 'run'])

interface Known {
  tool: OfferedTool
  name: string[]
  description: string[]
}

function likeliest(text: string, tools: readonly OfferedTool[]): OfferedTool | undefined {
  const exact = tools.find(({ name }) => text.trim() === name || text.startsWith(`${name} `))
  if (exact) return exact
  const asked = words(commandOf(text))
  // `roll back` also matches `rollback`.
  const joined = asked.map((word, at) => word + (asked[at + 1] ?? ''))
  const known = tools.map((tool): Known => ({ tool, name: words(tool.name), description: descriptionWords(tool) }))
  const index = new MiniSearch<{ id: number; name: string; description: string; fields: string }>({
    fields: ['name', 'description', 'fields'],
    tokenize: (field) => field.split(' '),
    processTerm: (term) => term,
  })
  index.addAll(
    known.map(({ tool, name, description }, id) => ({
      id,
      name: name.join(' '),
      description: description.join(' '),
      fields: words(Object.keys((tool.inputSchema.properties ?? {}) as object).join(' ')).join(' '),
    })),
  )
  const found = index.search([...asked, ...joined].join(' '), { boost: { name: 3, fields: 0.3 } })
  const said = new Set([...asked, ...joined])
  return found.map(({ id }) => known[Number(id)]).find((each) => each && isMeant(each, { said, asked, known }))?.tool
}

const descriptionWords = ({ description = '' }: OfferedTool): string[] => words(description.slice(0, MAX_DESCRIPTION_CHARS))

/** Whether the request contains a distinctive word of the tool's name, two words of its description, or a rare one. */
function isMeant(
  { tool, name, description }: Known,
  { said, asked, known }: { said: ReadonlySet<string>; asked: readonly string[]; known: readonly Known[] },
): boolean {
  const named = name.filter((word) => said.has(word))
  if (named.some((word) => !COMMON.has(word))) return true
  // The other words may be its arguments.
  const takesText = Array.isArray(tool.inputSchema.required) && tool.inputSchema.required.length > 0
  if (named.length > 0) return takesText || asked.length === 1
  const described = new Set(description.filter((word) => said.has(word)))
  const isRare = (word: string): boolean => known.filter((each) => each.description.includes(word)).length <= RARE
  return described.size >= 2 || [...described].some((word) => !COMMON.has(word) && isRare(word))
}

/** The request without quotations and without the text after a colon, which are arguments. */
const commandOf = (text: string): string =>
  text
    .slice(0, MAX_QUERY_CHARS)
    .replace(/"[^"]*"|“[^”]*”/g, ' ')
    .replace(/:\s[\s\S]*$/, '')
