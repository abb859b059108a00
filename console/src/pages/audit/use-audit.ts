/** Fetches the log page by page, newest first. New records appear at the top when events announce them. */

import { useInfiniteQuery } from '@tanstack/react-query'
import type { AuditPage, QueryOf } from '../../../../src/console/api.ts'
import type { AuditRecord } from '../../../../src/host/index.ts'
import type { ApiError } from '../../api/error.ts'
import { useConsole } from '../../hooks/use-console.tsx'

export type AuditFilters = Pick<QueryOf<'GET /api/audit'>, 'server' | 'action' | 'effect'>

export interface AuditList {
  records: readonly AuditRecord[] | undefined
  error: ApiError | null
  hasOlder: boolean
  isFetchingOlder: boolean
  fetchOlder(): void
  refetch(): void
}

/** Records of one request. */
const PAGE = 200

export function useAudit(filters: AuditFilters): AuditList {
  const { api } = useConsole()
  const query = useInfiniteQuery<AuditPage, ApiError, { pages: AuditPage[] }, unknown[], number | undefined>({
    queryKey: ['GET /api/audit', filters],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/audit', { query: { ...filters, limit: PAGE, ...(pageParam !== undefined && { before: pageParam }) }, signal }),
    getNextPageParam: ({ next }) => next,
  })
  return {
    records: query.data?.pages.flatMap(({ records }) => records),
    error: query.error,
    hasOlder: query.hasNextPage,
    isFetchingOlder: query.isFetchingNextPage,
    fetchOlder: () => void query.fetchNextPage(),
    refetch: () => void query.refetch(),
  }
}
