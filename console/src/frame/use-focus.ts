/** Where the focus goes when a page or the tray is opened. */

import { type RefObject, useEffect, useRef } from 'react'

/** The tray takes the focus when it is opened, and gives it back when it is closed. */
export function useTrayFocus(isOpen: boolean, toggle: () => void): { toggle(): void; takesFocus: boolean } {
  const before = useRef<HTMLElement | null>(null)
  const takesFocus = useRef(false)
  useEffect(() => {
    if (isOpen) return
    if (takesFocus.current && document.activeElement === document.body) before.current?.focus()
    takesFocus.current = false
  }, [isOpen])
  return {
    toggle: () => {
      if (!isOpen) {
        before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null
        takesFocus.current = true
      }
      toggle()
    },
    takesFocus: takesFocus.current,
  }
}

/** The page takes the focus if the control that had it is gone with the former page. */
export function usePageFocus(pathname: string): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null)
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    if (document.activeElement === document.body) main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}
