/** Routes for what servers offer: lists and search. */

import { argumentChecker, type Host, toolViewOf } from '../../host/index.ts'
import type { EntryView, FoundView, NameOf, ToolView } from '../api.ts'
import { notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { NAME } from './use.ts'

const OF_SERVER = input({ 'server?': { type: 'string' } })

export const offeringRoutes = ({ host }: ConsoleServices): Route[] => [
  route('GET /api/tools', { query: OF_SERVER }, ({ query }) => ({ tools: toolViews(host, query.server) })),
  route('GET /api/prompts', { query: OF_SERVER }, ({ query }) => ({ prompts: entries(host.prompts(), query.server) })),
  route('GET /api/resources', { query: OF_SERVER }, ({ query }) => ({ resources: entries(host.resources(), query.server) })),
  route('GET /api/templates', { query: OF_SERVER }, ({ query }) => ({ templates: entries(host.templates(), query.server) })),
  route(
    'GET /api/search',
    { query: input({ q: { type: 'string' }, 'limit?': { type: 'integer', minimum: 1, maximum: 50 } }) },
    ({ query: { q, limit } }) => ({
      found: host.find(q, limit === undefined ? {} : { limit }).map(({ entry, score }) => ({ ...entry, score }) as FoundView),
    }),
  ),
  route('POST /api/tools/check', { body: input({ tool: NAME, args: { type: 'object' } }) }, async ({ body: { tool, args } }) => {
    const fault = (await argumentChecker(toolNamed(host, tool)))(args)
    return fault === undefined ? {} : { fault }
  }),
]

function toolNamed(host: Host, wanted: NameOf): ToolView['definition'] {
  const found = host
    .tools()
    .find(({ exposed, server, definition }) =>
      typeof wanted === 'string' ? exposed === wanted : server === wanted.server && definition.name === wanted.name,
    )
  if (!found) throw notFound(`There is no tool ${JSON.stringify(wanted)} in use`)
  return found.definition
}

function toolViews(host: Host, server: string | undefined): ToolView[] {
  const shown = entries(host.tools(), server)
  const accepted = new Map(
    [...new Set(shown.map((entry) => entry.server))].map((id) => [
      id,
      new Set(host.readOnlyTools(id).flatMap(({ name, isAccepted }) => (isAccepted ? [name] : []))),
    ]),
  )
  return shown.map((entry) => {
    const { resourceUri: view } = toolViewOf(entry.definition)
    const isReadOnlyAccepted = accepted.get(entry.server)?.has(entry.definition.name) === true
    return { ...entry, isReadOnlyAccepted, mayBeTask: mayBeTask(host, entry), ...(view !== undefined && { view }) }
  })
}

function mayBeTask(host: Host, { server, definition }: EntryView<ToolView['definition']>): boolean {
  const { taskSupport } = definition.execution ?? {}
  if (taskSupport !== undefined) return taskSupport !== 'forbidden'
  return host.connection(server)?.capabilities.extensions?.['io.modelcontextprotocol/tasks'] !== undefined
}

const viewOf = <T>({ exposed, server, definition }: EntryView<T>): EntryView<T> => ({ exposed, server, definition })

const entries = <T>(all: readonly EntryView<T>[], server: string | undefined): EntryView<T>[] =>
  all.filter((entry) => server === undefined || entry.server === server).map(viewOf)
