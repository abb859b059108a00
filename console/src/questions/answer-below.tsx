/** While the buttons of a long question are below the screen: a bar at its lower edge that refuses at once, or leads to the buttons. */

import { type ReactNode, type RefObject, useEffect, useState } from 'react'
import { Button } from '../components/button.tsx'
import { AnswerButton } from './answer-button.tsx'
import css from './question-card.module.css'

export interface AnswerBelowProps {
  /** The buttons of the question. A yes is only there, below all of its text. */
  buttons: RefObject<HTMLElement | null>
  noText: string
  isBusy: boolean
  onDeny(): void
}

export function AnswerBelow({ buttons, noText, isBusy, onDeny }: AnswerBelowProps): ReactNode {
  const isBelow = useIsBelow(buttons)
  const show = (): void => {
    buttons.current?.scrollIntoView({ block: 'end' })
    buttons.current?.querySelector('button')?.focus({ preventScroll: true })
  }
  // It takes no room, so that nothing moves when it comes and goes. It is for the mouse and for touch: keys and screen readers get to the
  // buttons themselves, and a focus in here would be lost when the bar goes.
  return (
    <div className={css.below} aria-hidden="true">
      {isBelow && (
        <div className={css.belowBar}>
          <AnswerButton tabIndex={-1} isBusy={isBusy} onClick={onDeny}>
            {noText}
          </AnswerButton>
          <Button tabIndex={-1} onClick={show}>
            Go to the answers ↓
          </Button>
        </div>
      )}
    </div>
  )
}

/** Whether an element is below the visible part of what it scrolls in. */
function useIsBelow(element: RefObject<HTMLElement | null>): boolean {
  const [isBelow, setBelow] = useState(false)
  useEffect(() => {
    if (!element.current) return
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry) return
      setBelow(!entry.isIntersecting && entry.boundingClientRect.top > (entry.rootBounds?.top ?? 0))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return isBelow
}
