/**
 * When the answer to a card counts: after it has been on the page, and in its place, for a moment. Otherwise a click that was meant for
 * something else could answer it.
 */

import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { isQuiet } from '../state/question-words.ts'

/** How often the page looks where the buttons are. */
const LOOK_MS = 100

/** A move so soon after a wheel, a finger or a key is scrolling. */
const SCROLL_MS = 400

/** When the person last scrolled. */
let scrolledAt = 0
const onScrollInput = (): void => {
  scrolledAt = Date.now()
}

export interface QuietTime {
  isReady(): boolean
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
    for (const name of SCROLL_INPUTS) document.addEventListener(name, onScrollInput, { capture: true, passive: true })
    const timer = setInterval(() => setQuiet(!isReady()), LOOK_MS)
    return () => clearInterval(timer)
  }, [isReady])
  return { isReady, isQuiet: isQuietNow }
}

const SCROLL_INPUTS = ['wheel', 'touchmove', 'keydown'] as const

interface Place {
  /** On the screen. */
  x: number
  y: number
  /** How far everything around it is scrolled. */
  scrolled: number
}

function placeOf(element: HTMLElement | null): Place | undefined {
  if (!element) return undefined
  const { x, y } = element.getBoundingClientRect()
  let scrolled = 0
  for (let each = element.parentElement; each; each = each.parentElement) scrolled += each.scrollTop
  return { x, y, scrolled }
}

function hasMoved(before: Place, now: Place): boolean {
  if (Math.abs(before.x - now.x) < 2 && Math.abs(before.y - now.y) < 2) return false
  const isScroll = Math.abs(before.y + before.scrolled - now.y - now.scrolled) < 2 && Date.now() - scrolledAt < SCROLL_MS
  return !isScroll
}
