/** What servers can do for you. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function ToolsPage(): ReactNode {
  const list = useRoute('GET /api/tools')
  return (
    <>
      <PageHeader title="Tools" about="What servers can do for you." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No tool yet">Enable a server, and its tools appear here.</EmptyState>}
    </>
  )
}
