/** A conversation with a model that uses your tools. You decide what it may do. */

import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'

export function ChatPage(): ReactNode {
  const list = useRoute('GET /api/conversations')
  return (
    <>
      <PageHeader title="Chat" about="A conversation with a model that uses your tools. You decide what it may do." />
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorState title="The list could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && <EmptyState title="No conversation yet">Write the first message.</EmptyState>}
    </>
  )
}
