/** What waits for the person: one card for each question, oldest first. It stands beside the page and never covers it. */

import { type ReactNode, useRef, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { EmptyState } from '../components/states.tsx'
import { useConsoleState } from '../hooks/use-console.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { keptPlaces } from '../state/kept-places.ts'
import { startGroup } from '../state/start-group.ts'
import { QuestionCard } from './question-card.tsx'
import { StartTogether } from './start-together.tsx'
import css from './tray.module.css'

export function Tray({ onClose }: { onClose?: () => void }): ReactNode {
  const waiting = useConsoleState((state) => state.questions)
  const [isPointerIn, setPointerIn] = useState(false)
  const questions = useKeptPlaces(waiting, isPointerIn)
  const [isOneByOne, setOneByOne] = useState(false)
  const together = isOneByOne ? [] : startGroup(questions)
  const others = questions.filter((question) => !together.some(({ id }) => id === question.id))
  return (
    <div
      className={classes(css.tray, onClose && css.beside)}
      onPointerMove={() => setPointerIn(true)}
      onPointerLeave={() => setPointerIn(false)}
    >
      {onClose ? (
        <div className={css.top}>
          <h2>Waiting for you</h2>
          <IconButton label="Close" onClick={onClose}>
            ✕
          </IconButton>
        </div>
      ) : (
        <h2 className="sr-only">Questions</h2>
      )}
      {questions.length === 0 && (
        <EmptyState title="Nothing waits for you">
          Questions of servers and of the model appear here. Nothing happens until you answer.
        </EmptyState>
      )}
      {together.length > 0 && <StartTogether questions={together} onOneByOne={() => setOneByOne(true)} />}
      {others.map((question) => (
        <QuestionCard key={question.id} question={question} keepsHeight={isPointerIn} />
      ))}
    </div>
  )
}

/** What the tray shows: with questions that have ended in their places, while the pointer is in it. */
function useKeptPlaces(waiting: readonly WaitingQuestion[], isPointerIn: boolean): readonly WaitingQuestion[] {
  const shown = useRef(waiting)
  shown.current = isPointerIn ? keptPlaces(shown.current, waiting) : waiting
  return shown.current
}
