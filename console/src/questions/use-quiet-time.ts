/**
 * When the answer to a card counts: after it has been on the page, and in its place, for a moment. Otherwise a click that was meant for
 * something else could answer it.
 */

import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { isQuiet } from '../state/question-words.ts'

/** How often the page looks where the buttons are. */
const LOOK_MS = 50

export interface QuietTime {
  /** Exact, at the moment of a click. */
  isReady(): boolean
  /** What the buttons show. */
  isQuiet: boolean
}

/** @param place the buttons of the card */
export function useQuietTime(shownAt: number, place: RefObject<HTMLElement | null>): QuietTime {
  const since = useRef(Date.now())
  const last = useRef<Place>(undefined)
  const [isQuietNow, setQuiet] = useState(true)
  const isReady = useCallback((): boolean => {
    const now = placeOf(place.current)
    if (last.current && now && hasMoved(last.current, now)) since.current = Date.now()
    last.current = now
    return !isQuiet(Math.max(shownAt, since.current), Date.now())
  }, [shownAt, place])
  useEffect(() => {
    const look = (): void => setQuiet(!isReady())
    look()
    const timer = setInterval(look, LOOK_MS)
    return () => clearInterval(timer)
  }, [isReady])
  return { isReady, isQuiet: isQuietNow }
}

interface Place {
  /** On the screen. */
  x: number
  y: number
  /** How far everything around it is scrolled. */
  scrolled: number
  /** How high everything around it is. If it shrinks, the browser may scroll without the person. */
  height: number
}

function placeOf(element: HTMLElement | null): Place | undefined {
  if (!element) return undefined
  const { x, y } = element.getBoundingClientRect()
  let scrolled = 0
  let height = 0
  for (let each = element.parentElement; each; each = each.parentElement) {
    scrolled += each.scrollTop
    height += each.scrollHeight
  }
  return { x, y, scrolled, height }
}

function hasMoved(before: Place, now: Place): boolean {
  if (Math.abs(before.x - now.x) < 2 && Math.abs(before.y - now.y) < 2) return false
  const isScroll = Math.abs(before.y + before.scrolled - now.y - now.scrolled) < 2 && now.height >= before.height
  return !isScroll
}
