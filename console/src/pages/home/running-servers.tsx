/** The servers of this host with their state in one word. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { buttonClass } from '../../components/button.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { countsText, serverState } from '../../state/servers.ts'
import css from './home.module.css'

/** The others are on the page of all servers. */
const MAX_SHOWN = 6

export function RunningServers(): ReactNode {
  const list = useRoute('GET /api/servers')
  const servers = list.data?.servers ?? []
  return (
    <Section title="Servers" actions={servers.length > MAX_SHOWN && <Link to="/servers">All {servers.length}</Link>}>
      {list.isPending && <Skeleton lines={3} />}
      {list.isError && <ErrorState title="The servers could not be listed" error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && servers.length === 0 && <p className={css.muted}>No server yet. Add one above.</p>}
      {servers.length > 0 && (
        <ul className={css.list}>
          {servers.slice(0, MAX_SHOWN).map((server) => {
            const { word, tone } = serverState(server)
            return (
              <li key={server.id} className={css.row}>
                <span className={css.name}>
                  <strong>{foreignName(server.id)}</strong>
                  <Badge tone={tone}>{word}</Badge>
                </span>
                <span className={css.counts}>{countsText(server.counts) || 'nothing yet'}</span>
                <Link to="/servers" search={{ server: server.id }} className={buttonClass({ isSmall: true })}>
                  Open
                </Link>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
