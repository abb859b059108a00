/** What was called last, with a way to do it again. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RecentCall } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { buttonClass } from '../../components/button.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { agoText, durationText } from '../../state/format.ts'
import css from './home.module.css'

export function RecentCalls(): ReactNode {
  const recent = useRoute('GET /api/calls/recent', { query: { limit: 8 } })
  const calls = recent.data?.calls ?? []
  const servers = useRoute('GET /api/servers').data?.servers
  const hasNotes = servers?.some(({ id }) => id === 'notes') ?? false
  const isGone = ({ server }: RecentCall): boolean => servers !== undefined && !servers.some(({ id }) => id === server)
  return (
    <Section title="Recent calls">
      {recent.isPending && <Skeleton lines={2} />}
      {recent.isError && (
        <ErrorState title="The recent calls could not be read" error={recent.error} onRetry={() => void recent.refetch()} />
      )}
      {recent.data && calls.length === 0 && (
        <p className={css.muted}>
          None yet. Pick one of the <Link to="/tools">tools</Link>
          {hasNotes && (
            <>
              , or{' '}
              <Link to="/tools" search={{ tool: 'notes/add' }}>
                add a note
              </Link>
            </>
          )}
          .
        </p>
      )}
      {calls.length > 0 && (
        <ul className={css.list}>
          {calls.map((call) => (
            <li key={call.seq} className={css.row}>
              <span className={css.name}>
                <strong>{foreignName(`${call.server}/${call.name}`)}</strong>
                <Badge tone={TONES[call.outcome]}>{call.outcome}</Badge>
              </span>
              <span className={css.counts}>
                {agoText(call.at, Date.now())}
                {call.durationMs !== undefined && `, ${durationText(call.durationMs)}${call.hasAnswers ? ' with your answers' : ''}`}
                {call.by === 'model' && ', by the model'}
              </span>
              {isGone(call) ? <span className={css.counts}>its server was removed</span> : <AgainLink call={call} />}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

const TONES = { running: 'waiting', done: 'fine', failed: 'danger', cancelled: 'plain', refused: 'plain' } as const

/** Opens the page with the same arguments. Nothing runs before the person has seen them. */
function AgainLink({ call: { kind, server, name, seq, args } }: { call: RecentCall }): ReactNode {
  const className = buttonClass({ isSmall: true })
  if (kind === 'resource') {
    return (
      <Link to="/resources" search={{ uri: name }} className={className}>
        Read again
      </Link>
    )
  }
  if (kind === 'prompt') {
    return (
      <Link to="/prompts" search={{ prompt: `${server}/${name}`, ...(args && { call: seq }) }} className={className}>
        Get again
      </Link>
    )
  }
  return (
    <Link to="/tools" search={{ tool: `${server}/${name}`, ...(args && { call: seq }) }} className={className}>
      Run again
    </Link>
  )
}
