/** What is allowed, what is asked, what is denied. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function PolicyPage(): ReactNode {
  const list = useRoute('GET /api/policy')
  return (
    <>
      <PageHeader title="Policy" about="What is allowed, what is asked, what is denied." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No rule yet">The preset decides.</EmptyState>}
    </>
  )
}
