/** Moves the person to the result. */

import { type RefObject, useEffect, useRef } from 'react'
import type { RunningOperation } from '../hooks/use-console.tsx'

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
