/** What a conversation does now: it works, or it waits for the person. */

import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { useIsWide } from '../../hooks/use-is-wide.ts'
import { usePreferences } from '../../hooks/use-preferences.ts'
import { counted } from '../../state/format.ts'
import css from './page.module.css'

export function Activity({ waiting, isYourTurn }: { waiting: number; isYourTurn: boolean }): ReactNode {
  const [{ isTrayOpen }, change] = usePreferences()
  const navigate = useNavigate()
  const isWide = useIsWide()
  if (isYourTurn) return <p className={css.thinking}>It waits for your answer as the model.</p>
  if (waiting === 0) return <p className={css.thinking}>Working …</p>
  const isShown = isWide && isTrayOpen
  return (
    <div className={css.waits}>
      <Badge tone="waiting">Waiting for you</Badge>
      <span>{isShown ? `Answer the ${waiting === 1 ? 'question' : 'questions'} beside the page.` : 'It goes on after your answer.'}</span>
      {!isShown && (
        <Button isSmall kind="main" onClick={() => (isWide ? change({ isTrayOpen: true }) : void navigate({ to: '/waiting' }))}>
          Show {waiting === 1 ? 'the question' : counted(waiting, 'question')}
        </Button>
      )}
    </div>
  )
}
