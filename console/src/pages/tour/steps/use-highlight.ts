/** Draws a ring around the control that comes next, also if it appears later. */

import { useEffect } from 'react'

const MARK = 'data-highlight'

/** @param selector undefined: nothing is marked */
export function useHighlight(selector: string | undefined): void {
  useEffect(() => {
    if (selector === undefined) return
    let marked: Element | undefined
    const mark = (): void => {
      const found = document.querySelector(selector) ?? undefined
      if (found === marked) return
      marked?.removeAttribute(MARK)
      found?.setAttribute(MARK, '')
      marked = found
    }
    mark()
    const observer = new MutationObserver(mark)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      observer.disconnect()
      marked?.removeAttribute(MARK)
    }
  }, [selector])
}
