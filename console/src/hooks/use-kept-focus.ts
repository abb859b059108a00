/** Keeps the focus in a part of the page when the control that has it goes away, as the buttons of an answered question do. */

import { type RefObject, useEffect, useRef } from 'react'

/** The element needs `tabIndex={-1}`, and takes the focus then. */
export function useKeptFocus<Box extends HTMLElement>(): RefObject<Box | null> {
  const box = useRef<Box>(null)
  const isInside = useRef(false)
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent): void => {
      isInside.current = box.current?.contains(target as Node) ?? false
    }
    // A click beside all controls takes the focus away on purpose. The control is still there then.
    const onPointer = ({ target }: PointerEvent): void => {
      if (!box.current?.contains(target as Node)) isInside.current = false
    }
    document.addEventListener('focusin', onFocus)
    document.addEventListener('pointerdown', onPointer)
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('pointerdown', onPointer)
    }
  }, [])
  useEffect(() => {
    if (isInside.current && document.activeElement === document.body) box.current?.focus({ preventScroll: true })
  })
  return box
}
