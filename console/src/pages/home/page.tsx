/** What you can do now. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function HomePage(): ReactNode {
  const list = useRoute('GET /api/servers')
  return (
    <>
      <PageHeader title="Home" about="What you can do now." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="Nothing to show yet">Servers and recent calls appear here.</EmptyState>}
    </>
  )
}
