/** Every message between Portico and your servers. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function TimelinePage(): ReactNode {
  const list = useRoute('GET /api/operations')
  return (
    <>
      <PageHeader title="Timeline" about="Every message between Portico and your servers." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No message yet">Use a tool, and its messages appear here.</EmptyState>}
    </>
  )
}
