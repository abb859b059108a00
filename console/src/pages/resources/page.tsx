/** What servers let you read. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function ResourcesPage(): ReactNode {
  const list = useRoute('GET /api/resources')
  return (
    <>
      <PageHeader title="Resources" about="What servers let you read." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No resource yet">Enable a server, and its resources appear here.</EmptyState>}
    </>
  )
}
