/** Which tool a plain request means. */

import MiniSearch from 'minisearch'
import type { ModelRequest } from '../model.ts'
import { fillArguments } from './arguments.ts'
import { words } from './words.ts'

export type OfferedTool = NonNullable<ModelRequest['tools']>[number]

export type Plan =
  | { kind: 'call'; tool: OfferedTool; args: Record<string, unknown> }
  | { kind: 'ask'; tool: OfferedTool; missing: readonly string[] }
  | { kind: 'none' }

/** `isRequired`: some tool must be used, the likeliest if none fits. */
export function planCall(text: string, tools: readonly OfferedTool[], { isRequired = false } = {}): Plan {
  const tool = likeliest(text, tools) ?? (isRequired ? tools[0] : undefined)
  if (!tool) return { kind: 'none' }
  const toolWords = new Set([...words(tool.name), ...words(tool.description ?? '').slice(0, MAX_DESCRIPTION_WORDS)])
  const { args, missing } = fillArguments(text, tool.inputSchema, toolWords)
  return missing.length > 0 && !isRequired ? { kind: 'ask', tool, missing } : { kind: 'call', tool, args }
}

/** `do this, then do that`: one after the other. */
export const steps = (text: string): string[] =>
  text
    .split(/(?:[,;.]|\band\b)?\s+then\s+|;\s+/i)
    .map((step) => step.trim())
    .filter((step) => step !== '')
    .slice(0, MAX_STEPS)

/** `this and also that`: at the same time. */
export const sides = (step: string): string[] =>
  step
    .split(/,?\s+and also\s+/i)
    .map((side) => side.trim())
    .filter((side) => side !== '')
    .slice(0, MAX_SIDES)

const MAX_STEPS = 10
const MAX_SIDES = 8
const MAX_QUERY_CHARS = 2000
const MAX_DESCRIPTION_WORDS = 200

function likeliest(text: string, tools: readonly OfferedTool[]): OfferedTool | undefined {
  const exact = tools.find(({ name }) => text.trim() === name || text.startsWith(`${name} `))
  if (exact) return exact
  const asked = words(commandOf(text))
  const index = new MiniSearch<{ id: number; name: string; description: string; fields: string }>({
    fields: ['name', 'description', 'fields'],
    tokenize: words,
    processTerm: (term) => term,
  })
  index.addAll(
    tools.map(({ name, description, inputSchema }, id) => ({
      id,
      name,
      description: words(description ?? '')
        .slice(0, MAX_DESCRIPTION_WORDS)
        .join(' '),
      fields: Object.keys((inputSchema.properties ?? {}) as object).join(' '),
    })),
  )
  const found = index.search(asked.join(' '), { boost: { name: 3, fields: 0.3 } })
  // A word of the name must have been said, or two of its description: one alone is chance.
  const hit = found.find(({ id, queryTerms }) => isMeant(new Set(queryTerms), tools[Number(id)]))
  return hit && tools[Number(hit.id)]
}

function isMeant(said: ReadonlySet<string>, tool: OfferedTool | undefined): boolean {
  if (!tool) return false
  const inDescription = new Set(words(tool.description ?? '').filter((word) => said.has(word)))
  return words(tool.name).some((word) => said.has(word)) || inDescription.size >= 2
}

/** Without what is quoted or stands after a colon: that is what to do it with. */
const commandOf = (text: string): string =>
  text
    .slice(0, MAX_QUERY_CHARS)
    .replace(/"[^"]*"|“[^”]*”/g, ' ')
    .replace(/:\s[\s\S]*$/, '')
