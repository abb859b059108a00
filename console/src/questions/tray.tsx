/** What waits for the person: one card for each question, oldest first. It stands beside the page and never covers it. */

import { type ReactNode, useEffect, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { EmptyState } from '../components/states.tsx'
import { useConsoleState } from '../hooks/use-console.tsx'
import { useKeptFocus } from '../hooks/use-kept-focus.ts'
import { startGroup } from '../state/start-group.ts'
import { QuestionCard } from './question-card.tsx'
import { StartTogether } from './start-together.tsx'
import css from './tray.module.css'

/** @param takesFocus the person has just opened it: the next Tab goes to the first question */
export function Tray({ onClose, takesFocus = false }: { onClose?: () => void; takesFocus?: boolean }): ReactNode {
  const box = useKeptFocus<HTMLDivElement>()
  useEffect(() => {
    if (takesFocus) box.current?.focus()
  }, [takesFocus, box])
  const questions = useConsoleState((state) => state.questions)
  const [isOneByOne, setOneByOne] = useState(false)
  const together = isOneByOne ? [] : startGroup(questions)
  const others = questions.filter((question) => !together.some(({ id }) => id === question.id))
  return (
    <div ref={box} tabIndex={-1} className={classes(css.tray, onClose && css.beside)}>
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
        <QuestionCard key={question.id} question={question} />
      ))}
    </div>
  )
}
