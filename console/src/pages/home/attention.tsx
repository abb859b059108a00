/** What waits for the person, and servers that need a look. Nothing if there is nothing. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { useConsoleState, useRoute } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { isToReview, type ServerState, serverState } from '../../state/servers.ts'
import css from './home.module.css'

export function Attention(): ReactNode {
  const waiting = useConsoleState((state) => state.questions.filter(({ end }) => end === undefined).length)
  const showWaiting = useShowWaiting()
  const servers = useRoute('GET /api/servers').data?.servers ?? []
  const odd = servers.map((server) => ({ server, state: serverState(server) })).filter(({ state }) => needsLook(state.word))
  if (waiting === 0 && odd.length === 0) return null
  return (
    <div className={css.attention}>
      {waiting > 0 && (
        <div className={css.note}>
          <Badge tone="waiting">Waiting</Badge>
          <p>
            {counted(waiting, 'question')} {waiting === 1 ? 'waits' : 'wait'} for your answer.
          </p>
          <Button onClick={showWaiting}>Answer</Button>
        </div>
      )}
      {odd.map(({ server, state }) => (
        <div key={server.id} className={css.note}>
          <Badge tone={state.tone}>{state.word}</Badge>
          <p>
            <strong>{foreignName(server.id)}</strong> {state.reason !== undefined && foreignText(state.reason)}
          </p>
          <Link
            to="/servers"
            search={{ server: server.id, tab: isToReview(state.word) ? 'offering' : 'doctor' }}
            className={buttonClass({})}
          >
            {isToReview(state.word) ? 'Review' : 'Look'}
          </Link>
        </div>
      ))}
    </div>
  )
}

const needsLook = (word: ServerState['word']): boolean => isToReview(word) || word === 'failed' || word === 'needs login'
