/** Ctrl Enter presses Run from everywhere on the page, except from a dialog. */

import { useEffect, useRef } from 'react'

/** Whether the person has done anything in this window. A first Ctrl Enter may be meant for the page that opened it. */
let hasActed = false
/** Between the first Ctrl Enter and the next that counts. */
const QUIET_MS = 600

if (typeof window !== 'undefined') {
  const act = (event: Event): void => {
    if (event.isTrusted && !(event instanceof KeyboardEvent && isRunKey(event))) hasActed = true
  }
  for (const name of ['pointerdown', 'keydown']) window.addEventListener(name, act, true)
}

const isRunKey = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  ['Control', 'Meta'].includes(key) || (key === 'Enter' && (ctrlKey || metaKey))

/** @param onFirst in place of `onRun`, if the person has done nothing in this window yet: shows what would run. False: it is too early */
export function useRunKey(onRun: () => void, onFirst: () => boolean): void {
  const latest = useRef({ onRun, onFirst })
  useEffect(() => {
    latest.current = { onRun, onFirst }
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return
      event.preventDefault()
      // A key that is held down is one press.
      if (event.repeat) return
      if (hasActed) return latest.current.onRun()
      if (!latest.current.onFirst()) return
      setTimeout(() => {
        hasActed = true
      }, QUIET_MS)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
