/** The keys that work on every page. Keys without Ctrl do nothing in text fields, and can be switched off. */

import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { preferences } from '../hooks/use-preferences.ts'
import { PLACES } from './places.ts'

export interface KeyHandlers {
  onPalette(): void
  onKeyList(): void
  onWaiting(): void
}

/** How long `g` waits for the second key. */
const SECOND_KEY_MS = 1_200

export function useKeys(handlers: KeyHandlers): void {
  const navigate = useNavigate()
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  useEffect(() => {
    let goUntil = 0
    const onKeyDown = (event: KeyboardEvent): void => {
      const { onPalette, onKeyList, onWaiting } = latest.current
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !preferences.get().hasSingleKeys) return
      const place = PLACES.find(({ key }) => key === event.key)
      if (Date.now() < goUntil && place) void navigate({ to: place.to })
      else if (event.key === '?') onKeyList()
      else if (event.key === 'w') onWaiting()
      else if (event.key === '/') onPalette()
      else if (event.key !== 'g') return
      goUntil = event.key === 'g' ? Date.now() + SECOND_KEY_MS : 0
      event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [navigate])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) ||
    target.closest('[role="dialog"], [role="menu"]') !== null)
