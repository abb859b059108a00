/** What waits for the person: one card for each question, oldest first. It stands beside the page and never covers it. */

import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { EmptyState } from '../components/states.tsx'
import { useConsoleState } from '../hooks/use-console.tsx'
import { useKeptFocus } from '../hooks/use-kept-focus.ts'
import type { WaitingQuestion } from '../state/console-state.ts'
import { keptPlaces } from '../state/kept-places.ts'
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
  const waiting = useConsoleState((state) => state.questions)
  const isPointerIn = usePointerIn(box)
  useEscape(onClose)
  const questions = useKeptPlaces(waiting, isPointerIn)
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
        <QuestionCard key={question.id} question={question} keepsHeight={isPointerIn} />
      ))}
    </div>
  )
}

/** Whether the mouse is in the box. It does not leave the box when the control under it is removed, so every move counts. */
function usePointerIn(box: RefObject<HTMLElement | null>): boolean {
  const [isIn, setIn] = useState(false)
  useEffect(() => {
    const onMove = ({ target, pointerType }: PointerEvent): void => {
      // The menu of a card is elsewhere in the page. The cards must not move before the person has chosen from it.
      if (!(target instanceof Element) || target.closest('[role="menu"]')) return
      setIn(pointerType !== 'touch' && box.current?.contains(target) === true)
    }
    const onLeave = (): void => setIn(false)
    document.addEventListener('pointermove', onMove, { passive: true })
    document.documentElement.addEventListener('pointerleave', onLeave)
    return () => {
      document.removeEventListener('pointermove', onMove)
      document.documentElement.removeEventListener('pointerleave', onLeave)
    }
  }, [box])
  return isIn
}

/** What the tray shows: with questions that have ended in their places, while the pointer is in it. */
function useKeptPlaces(waiting: readonly WaitingQuestion[], isPointerIn: boolean): readonly WaitingQuestion[] {
  const shown = useRef(waiting)
  shown.current = isPointerIn ? keptPlaces(shown.current, waiting) : waiting
  return shown.current
}

/** Esc closes the tray, unless it closes something else or the person types. */
function useEscape(onClose: (() => void) | undefined): void {
  const close = useRef(onClose)
  useEffect(() => {
    close.current = onClose
  })
  useEffect(() => {
    const onKeyDown = ({ key, target }: KeyboardEvent): void => {
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
      if (key === 'Escape' && !isTyping && !document.querySelector(OPEN)) close.current?.()
    }
    // Before a menu or a dialog takes the key and is gone.
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
}

/** A menu, a list or a dialog that is open. Ariakit hides closed ones, or leaves them out. */
const OPEN = ['dialog', 'menu', 'listbox'].map((role) => `[role="${role}"]:not([hidden])`).join(', ')
