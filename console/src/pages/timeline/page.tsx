/** The timeline: every message between the host and its servers, and recordings of them. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { Messages } from './messages.tsx'
import { RecordButton } from './record-button.tsx'
import { Recordings } from './recordings.tsx'

export function TimelinePage(): ReactNode {
  const { tab = 'messages' } = useSearch({ from: '/timeline' })
  const navigate = useNavigate({ from: '/timeline' })
  const recordings = useRoute('GET /api/recordings')
  const count = recordings.data?.recordings.length ?? 0
  return (
    <>
      <PageHeader
        title="Timeline"
        about="Every message between this computer and your servers, as it happens."
        actions={<RecordButton />}
      />
      <Tabs
        label="Timeline"
        selected={tab}
        onSelect={(id) => void navigate({ search: ({ tab: _, ...rest }) => (id === 'messages' ? rest : { ...rest, tab: id }) })}
        tabs={[
          { id: 'messages', label: 'Messages', content: <Messages /> },
          { id: 'recordings', label: count === 0 ? 'Recordings' : `Recordings (${count})`, content: <Recordings /> },
        ]}
      />
    </>
  )
}
