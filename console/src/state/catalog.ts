/** Lists of what servers offer: grouped by server, searched and filtered. */

import type { Prompt, Resource, ResourceTemplate } from '../../../src/client/index.ts'
import type { EntryView, ToolView } from '../../../src/console/api.ts'
import { foreignName } from './foreign-text.ts'

export interface CatalogBadge {
  text: string
  tone: 'plain' | 'fine' | 'waiting' | 'danger'
  /** Who says so. */
  title: string
}

/** A tool, resource, template or prompt in a list. Its texts are safe to show. */
export interface CatalogItem {
  key: string
  server: string
  /** A title for people; otherwise the name. */
  title: string
  /** The server's own name, or the URI. */
  name: string
  about: string
  badges: readonly CatalogBadge[]
  /** All texts in small letters, to search in them. */
  text: string
}

export type CatalogRow = { kind: 'group'; key: string; server: string; count: number } | { kind: 'item'; key: string; item: CatalogItem }

const MAX_ABOUT = 200

function itemOf(
  key: string,
  server: string,
  { name, title, description }: { name: string; title?: string | undefined; description?: string | undefined },
  badges: readonly CatalogBadge[] = [],
): CatalogItem {
  const shown = foreignName(title ?? name)
  const about = foreignName((description ?? '').slice(0, MAX_ABOUT))
  const text = `${shown} ${name} ${server} ${description ?? ''}`.toLowerCase()
  return { key, server, title: shown, name: foreignName(name), about, badges, text }
}

/** The kinds of tools that a person can filter by. */
export const TOOL_FILTERS = ['read-only', 'destructive', 'outside'] as const
export type ToolFilter = (typeof TOOL_FILTERS)[number]

export const TOOL_FILTER_WORDS: Readonly<Record<ToolFilter, string>> = {
  'read-only': 'read-only',
  destructive: 'destructive',
  outside: 'leaves this computer',
}

/** What is known about a tool. Only the server says so, except where the person accepted it as read-only. */
export function toolTraits({ definition, isReadOnlyAccepted }: ToolView): ReadonlySet<ToolFilter> {
  const { readOnlyHint, destructiveHint, openWorldHint } = definition.annotations ?? {}
  const traits = new Set<ToolFilter>()
  if (isReadOnlyAccepted || readOnlyHint === true) traits.add('read-only')
  if (destructiveHint === true && !isReadOnlyAccepted && readOnlyHint !== true) traits.add('destructive')
  if (openWorldHint === true) traits.add('outside')
  return traits
}

export function toolBadges(tool: ToolView): readonly CatalogBadge[] {
  const traits = toolTraits(tool)
  const says = 'The server says so'
  return [
    ...(traits.has('read-only')
      ? [
          tool.isReadOnlyAccepted
            ? ({ text: 'read-only', tone: 'fine', title: 'You accepted this tool as read-only' } as const)
            : ({ text: 'read-only', tone: 'plain', title: says } as const),
        ]
      : []),
    ...(traits.has('destructive') ? [{ text: 'destructive', tone: 'danger', title: says } as const] : []),
    ...(traits.has('outside') ? [{ text: 'leaves this computer', tone: 'waiting', title: says } as const] : []),
  ]
}

export const toolItem = (tool: ToolView): CatalogItem => {
  const { exposed, server, definition } = tool
  const { name, description, annotations } = definition
  return itemOf(exposed, server, { name, title: definition.title ?? annotations?.title, description }, toolBadges(tool))
}

export const promptItem = ({ exposed, server, definition }: EntryView<Prompt>): CatalogItem => itemOf(exposed, server, definition)

export const resourceItem = ({ server, definition }: EntryView<Resource>): CatalogItem => ({
  ...itemOf(`uri ${definition.uri}`, server, { ...definition, description: `${definition.uri} ${definition.description ?? ''}` }),
  about: foreignName(definition.uri),
})

export const templateItem = ({ server, definition }: EntryView<ResourceTemplate>): CatalogItem => {
  const badges = [{ text: 'template', tone: 'plain', title: 'You fill in its variables' } as const]
  const { uriTemplate, description = '' } = definition
  return {
    ...itemOf(`template ${server} ${uriTemplate}`, server, { ...definition, description: `${uriTemplate} ${description}` }, badges),
    about: foreignName(uriTemplate),
  }
}

/** Rows for a list: a heading for each server, then what it offers. Every word of the text must occur. */
export function catalogRows(items: readonly CatalogItem[], text = ''): CatalogRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = new Map<string, CatalogItem[]>()
  for (const item of items) {
    if (!words.every((word) => item.text.includes(word))) continue
    const group = groups.get(item.server)
    if (group) group.push(item)
    else groups.set(item.server, [item])
  }
  return [...groups].flatMap(([server, found]): CatalogRow[] => [
    { kind: 'group', key: `group ${server}`, server, count: found.length },
    ...best(found, words).map((item): CatalogRow => ({ kind: 'item', key: item.key, item })),
  ])
}

/** Titles that begin with the first word, then titles and names that contain every word, then descriptions. */
function best(items: readonly CatalogItem[], words: readonly string[]): readonly CatalogItem[] {
  const first = words[0]
  if (first === undefined) return items
  const rank = ({ title, name }: CatalogItem): number => {
    const [label, own] = [title.toLowerCase(), name.toLowerCase()]
    if (label.startsWith(first) || own.startsWith(first)) return 0
    return words.every((word) => label.includes(word) || own.includes(word)) ? 1 : 2
  }
  return items
    .map((item) => ({ item, rank: rank(item) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

/** The tool or prompt of an address: its unique name, or `server/name`. */
export function findEntry<Entry extends { exposed: string; server: string; definition: { name: string } }>(
  entries: readonly Entry[],
  text: string | undefined,
): Entry | undefined {
  if (text === undefined) return undefined
  return (
    entries.find(({ exposed }) => exposed === text) ?? entries.find(({ server, definition }) => `${server}/${definition.name}` === text)
  )
}
