/** Moves the person to what needs them: the first fault of a form, or the result. */

import { type RefObject, useEffect, useRef } from 'react'
import type { RunningOperation } from '../hooks/use-console.tsx'

/** Focuses the first field with a fault, once it is drawn. */
export function focusFault(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus())
}

/** Scrolls to the result when the operation has ended while the panel is shown. */
export function useResultInView<Box extends HTMLElement>({ operation }: RunningOperation): RefObject<Box | null> {
  const box = useRef<Box>(null)
  const wasRunning = useRef(false)
  const state = operation?.state
  useEffect(() => {
    if (state !== 'running' && wasRunning.current) box.current?.scrollIntoView({ block: 'nearest' })
    wasRunning.current = state === 'running'
  }, [state])
  return box
}
