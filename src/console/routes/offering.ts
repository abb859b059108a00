/** Routes for what servers offer: lists and search. */

import type { EntryView } from '../api.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'

const OF_SERVER = input({ 'server?': { type: 'string' } })

export const offeringRoutes = ({ host }: ConsoleServices): Route[] => [
  route('GET /api/tools', { query: OF_SERVER }, ({ query }) => ({ tools: entries(host.tools(), query.server) })),
  route('GET /api/prompts', { query: OF_SERVER }, ({ query }) => ({ prompts: entries(host.prompts(), query.server) })),
  route('GET /api/resources', { query: OF_SERVER }, ({ query }) => ({ resources: entries(host.resources(), query.server) })),
  route('GET /api/templates', { query: OF_SERVER }, ({ query }) => ({ templates: entries(host.templates(), query.server) })),
  route(
    'GET /api/search',
    { query: input({ q: { type: 'string' }, 'limit?': { type: 'integer', minimum: 1, maximum: 50 } }) },
    ({ query: { q, limit } }) => ({
      tools: host.search(q, limit === undefined ? {} : { limit }).map(({ entry, score }) => ({ ...viewOf(entry), score })),
    }),
  ),
]

const viewOf = <T>({ exposed, server, definition }: EntryView<T>): EntryView<T> => ({ exposed, server, definition })

const entries = <T>(all: readonly EntryView<T>[], server: string | undefined): EntryView<T>[] =>
  all.filter((entry) => server === undefined || entry.server === server).map(viewOf)
