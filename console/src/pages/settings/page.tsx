/** This console and this host. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function SettingsPage(): ReactNode {
  const list = useRoute('GET /api/settings')
  return (
    <>
      <PageHeader title="Settings" about="This console and this host." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="Nothing to set yet">Settings appear here.</EmptyState>}
    </>
  )
}
