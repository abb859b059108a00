/** Ctrl Enter presses Run from everywhere on the page, except from a dialog. */

import { useEffect, useRef } from 'react'

export function useRunKey(onRun: () => void): void {
  const latest = useRef(onRun)
  useEffect(() => {
    latest.current = onRun
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return
      event.preventDefault()
      latest.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
