/** Messages that servers have prepared. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function PromptsPage(): ReactNode {
  const list = useRoute('GET /api/prompts')
  return (
    <>
      <PageHeader title="Prompts" about="Messages that servers have prepared." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No prompt yet">Enable a server, and its prompts appear here.</EmptyState>}
    </>
  )
}
