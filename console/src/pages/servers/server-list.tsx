/** The cards of all servers, with the ways to add more. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { counted } from '../../state/format.ts'
import { notImported } from '../../state/found-servers.ts'
import { AddServer } from './add-server.tsx'
import { ImportServers } from './import-servers.tsx'
import css from './page.module.css'
import { ServerCard } from './server-card.tsx'

export function ServerList(): ReactNode {
  const { add } = useSearch({ from: '/servers' })
  const navigate = useNavigate({ from: '/servers' })
  const list = useRoute('GET /api/servers')
  const found = useRoute('GET /api/import')
  const importable = notImported(found.data?.servers ?? []).length
  const open = (which: 'new' | 'import' | undefined): void => void navigate({ search: which === undefined ? {} : { add: which } })
  return (
    <>
      <PageHeader
        title="Servers"
        about="Programs that offer tools, resources and prompts. None of them starts before you say yes."
        actions={
          <>
            {importable > 0 && <Button onClick={() => open('import')}>Import {importable} found on this computer</Button>}
            <Button kind="main" onClick={() => open('new')}>
              Add a server
            </Button>
          </>
        }
      />
      {list.isPending && <Skeleton lines={6} />}
      {list.isError && <ErrorState title="The servers could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.servers.length === 0 && (
        <EmptyState
          title="No server yet"
          action={
            importable > 0 ? (
              <Button kind="main" onClick={() => open('import')}>
                Review and import {counted(importable, 'server')}
              </Button>
            ) : (
              <Button kind="main" onClick={() => open('new')}>
                Add a server
              </Button>
            )
          }
        >
          Paste a command or an address, or import what other programs on this computer use.
        </EmptyState>
      )}
      <div className={css.cards}>
        {list.data?.servers.map((server) => (
          <ServerCard key={server.id} server={server} fetchedAt={list.dataUpdatedAt} />
        ))}
      </div>
      <AddServer isOpen={add === 'new'} onClose={() => open(undefined)} />
      <ImportServers isOpen={add === 'import'} onClose={() => open(undefined)} />
    </>
  )
}
