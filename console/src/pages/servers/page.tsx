/** Programs that offer tools, resources and prompts. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function ServersPage(): ReactNode {
  const list = useRoute('GET /api/servers')
  return (
    <>
      <PageHeader title="Servers" about="Programs that offer tools, resources and prompts." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No server yet">Add one, or import those of other programs.</EmptyState>}
    </>
  )
}
