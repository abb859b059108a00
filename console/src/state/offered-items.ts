/** What a server offers as one list, with an address for each item. */

import type { EntryView, ResultOf } from '../../../src/console/api.ts'
import { type CatalogBadge, toolBadges } from './catalog.ts'

export interface OfferedItem {
  kind: 'tool' | 'resource' | 'template' | 'prompt'
  name: string
  description: string
  badges: readonly CatalogBadge[]
  to: '/tools' | '/resources' | '/prompts'
  search: Readonly<Record<string, string>>
}

interface Lists {
  tools: ResultOf<'GET /api/tools'>['tools'] | undefined
  prompts: ResultOf<'GET /api/prompts'>['prompts'] | undefined
  resources: ResultOf<'GET /api/resources'>['resources'] | undefined
  templates: ResultOf<'GET /api/templates'>['templates'] | undefined
}

export function offeredItems({ tools = [], prompts = [], resources = [], templates = [] }: Lists): OfferedItem[] {
  return [
    ...tools.map(
      (entry): OfferedItem => ({
        ...basics(entry, 'tool'),
        badges: toolBadges(entry),
        to: '/tools',
        search: { tool: entry.exposed },
      }),
    ),
    ...resources.map((entry): OfferedItem => ({ ...basics(entry, 'resource'), to: '/resources', search: { uri: entry.exposed } })),
    ...templates.map((entry): OfferedItem => ({ ...basics(entry, 'template'), to: '/resources', search: { template: entry.exposed } })),
    ...prompts.map((entry): OfferedItem => ({ ...basics(entry, 'prompt'), to: '/prompts', search: { prompt: entry.exposed } })),
  ]
}

const basics = <Kind extends OfferedItem['kind']>(
  { definition }: EntryView<{ name: string; description?: string }>,
  kind: Kind,
): Pick<OfferedItem, 'name' | 'description' | 'badges'> & { kind: Kind } => ({
  kind,
  name: definition.name,
  description: definition.description ?? '',
  badges: [],
})
