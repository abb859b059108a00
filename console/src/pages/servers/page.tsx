/** Servers: all of them as cards, or one with everything about it. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ServerList } from './server-list.tsx'
import { ServerPage } from './server-page.tsx'

export function ServersPage(): ReactNode {
  const { server } = useSearch({ from: '/servers' })
  const navigate = useNavigate({ from: '/servers' })
  if (server === undefined) return <ServerList />
  return <ServerPage id={server} key={server} onLeave={() => void navigate({ search: {} })} />
}
