/** What was decided and what happened. A changed record is detected. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function AuditPage(): ReactNode {
  const list = useRoute('GET /api/audit')
  return (
    <>
      <PageHeader title="Audit" about="What was decided and what happened. A changed record is detected." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No record yet">Decisions appear here.</EmptyState>}
    </>
  )
}
