/** Draws a ring around the control that comes next, also if it appears later. */

import { useEffect } from 'react'

const MARK = 'data-highlight'

/** @param selector undefined: nothing is marked */
export function useHighlight(selector: string | undefined): void {
  useEffect(() => {
    if (selector === undefined) return
    let marked: Element | undefined
    const mark = (): void => {
      // The newest question is the last one. Behind a dialog the same question may be in the tray, out of reach.
      const found = [...document.querySelectorAll(selector)].findLast((each) => each.closest('[inert]') === null)
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
