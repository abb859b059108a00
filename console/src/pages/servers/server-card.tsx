/** One server: its name, a switch, its state in a word, what it offers. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ServerView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/page-header.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { countsText, originText, reviewText, serverState, transportText } from '../../state/servers.ts'
import css from './page.module.css'
import { useElapsed } from './use-elapsed.ts'
import { useServerActions } from './use-server-actions.ts'

/** @param fetchedAt milliseconds since 1970 */
export function ServerCard({ server, fetchedAt }: { server: ServerView; fetchedAt: number }): ReactNode {
  const actions = useServerActions(server.id)
  const state = serverState(server, useElapsed(fetchedAt, server.health.retryInMs !== undefined))
  const name = foreignName(server.title ?? server.id)
  const showWaiting = useShowWaiting()
  const canEnable = !server.isEnabled || state.word === 'not enabled' || state.word === 'failed' || state.word === 'off'
  const canDisable = !canEnable || state.word === 'failed'
  return (
    <Card label={name}>
      <div className={css.cardTop}>
        <h2 className={css.cardName}>
          <Link to="/servers" search={{ server: server.id }}>
            {name}
          </Link>
        </h2>
        <Badge tone={state.tone}>{state.word}</Badge>
      </div>
      <p className={css.address}>{foreignName(transportText(server.transport))}</p>
      {state.reason !== undefined && <p className={css.reason}>{foreignText(state.reason)}</p>}
      {actions.error && <p className={css.fault}>{foreignText(actions.error.message)}</p>}
      <p className={css.muted}>
        {[countsText(server.counts), server.revision && `revision ${server.revision}`, originText(server.from), server.tier]
          .filter(Boolean)
          .map((part) => foreignName(part ?? ''))
          .join(' · ')}
      </p>
      <div className={css.cardActions}>
        {canEnable && (
          <Button isSmall kind="main" {...actions.busy('enable')} aria-label={`Enable ${name}`} onClick={actions.enable}>
            {state.word === 'failed' ? 'Try again' : 'Enable'}
          </Button>
        )}
        {state.word === 'asks you' && (
          <Button isSmall kind="main" aria-label={`Answer the question about ${name}`} onClick={showWaiting}>
            Answer
          </Button>
        )}
        {canDisable && (
          <Button isSmall {...actions.busy('disable')} aria-label={`Disable ${name}`} onClick={actions.disable}>
            Disable
          </Button>
        )}
        {state.word === 'needs login' && (
          <Button isSmall kind="main" {...actions.busy('login')} onClick={actions.login}>
            Log in
          </Button>
        )}
        {server.waiting > 0 && (
          <Button isSmall kind="main" {...actions.busy('approve')} onClick={actions.approve}>
            {reviewText(server)}
          </Button>
        )}
        <Link to="/servers" search={{ server: server.id }} className={css.openLink} aria-label={`Open ${name}`}>
          Open
        </Link>
      </div>
    </Card>
  )
}
