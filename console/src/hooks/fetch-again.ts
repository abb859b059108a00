/** Fetches again what an event or an action has made stale. */

// Not from react-query: the types of React would hide those of the DOM from the tests.
import type { Query, QueryClient } from '@tanstack/query-core'

/** @param route the first part of the keys of stale queries; `all` for every query */
export async function fetchAgain(queries: QueryClient, route: string): Promise<void> {
  const filters = route === 'all' ? {} : { queryKey: [route] }
  // TanStack restarts a refetch that is running, but not the first fetch of a query. Its answer may be older than the change.
  const first = queries.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching', predicate: isFirstFetch })
  await queries.invalidateQueries(filters)
  if (first.length > 0) await queries.invalidateQueries({ predicate: (query) => first.includes(query) })
}

const isFirstFetch = ({ state }: Query): boolean => state.data === undefined
