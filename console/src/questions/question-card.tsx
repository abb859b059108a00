/** One question: two lines and three buttons. Everything else is folded. */

import { memo, type ReactNode, useEffect, useRef, useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { classes } from '../components/classes.ts'
import { Skeleton } from '../components/states.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { agoText } from '../state/format.ts'
import { endText, expiryText } from '../state/question-words.ts'
import { OpenQuestion } from './open-question.tsx'
import css from './question-card.module.css'

export interface QuestionCardProps {
  question: WaitingQuestion
  isInDialog?: boolean
  /** Once it has ended it stays as high as it was, so that the cards below it do not move. */
  keepsHeight?: boolean
}

export const QuestionCard = memo(function QuestionCard({
  question,
  isInDialog = false,
  keepsHeight = false,
}: QuestionCardProps): ReactNode {
  const { view, end, title } = question
  const { card, height } = useHeight(end !== undefined)
  return (
    <article
      ref={card}
      className={classes(css.card, isInDialog && css.inDialog, end && css.ended)}
      style={end && keepsHeight ? { minHeight: height.current } : undefined}
      aria-label={title}
      data-question={question.id}
    >
      {!isInDialog && (
        <header className={css.head}>
          <h2 className={css.title}>{title}</h2>
          <When question={question} />
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
})

/** The clock is a component of its own, so that it draws nothing else again. */
function When({ question: { view, end, shownAt } }: { question: WaitingQuestion }): ReactNode {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  const expiry = view && !end && expiryText(view.question.expiresAt, now)
  return <span className={css.when}>{expiry || agoText(shownAt, now)}</span>
}

/** The last height of a card before its question ended. */
function useHeight(hasEnded: boolean) {
  const card = useRef<HTMLElement>(null)
  const height = useRef(0)
  useEffect(() => {
    if (hasEnded || !card.current) return
    const observer = new ResizeObserver(([entry]) => {
      height.current = entry?.borderBoxSize[0]?.blockSize ?? height.current
    })
    observer.observe(card.current)
    return () => observer.disconnect()
  }, [hasEnded])
  return { card, height }
}
