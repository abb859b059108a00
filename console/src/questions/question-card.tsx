/** One question: two lines and three buttons. Everything else is folded. */

import { type ReactNode, useEffect, useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { classes } from '../components/classes.ts'
import { Skeleton } from '../components/states.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { agoText } from '../state/format.ts'
import { endText, expiryText } from '../state/question-words.ts'
import { OpenQuestion } from './open-question.tsx'
import css from './question-card.module.css'

export function QuestionCard({ question, isInDialog = false }: { question: WaitingQuestion; isInDialog?: boolean }): ReactNode {
  const now = useNow()
  const { view, end, title, shownAt } = question
  const expiry = view && !end && expiryText(view.question.expiresAt, now)
  return (
    <article className={classes(css.card, isInDialog && css.inDialog, end && css.ended)} aria-label={title} data-question={question.id}>
      {!isInDialog && (
        <header className={css.head}>
          <h2 className={css.title}>{title}</h2>
          <span className={css.when}>{expiry || agoText(shownAt, now)}</span>
        </header>
      )}
      {end ? (
        <p>
          <Badge tone={end.answer === 'allow' ? 'fine' : 'plain'}>{endText(end)}</Badge>
        </p>
      ) : view ? (
        <OpenQuestion question={question} view={view} />
      ) : (
        <Skeleton lines={2} />
      )}
    </article>
  )
}

function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
