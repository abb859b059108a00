/** Shown in a window that a page of another site opened: the console opens in it only after a click. */

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../components/button.tsx'
import css from './sign-in.module.css'

/** Longer than a double click: a window that another site opens under the pointer must not get the second click. */
const QUIET_MS = 600

/** After a click, and on every address that the console itself opened, a reload does not ask again. No other site can set this state. */
export function isOpenedElsewhere(): boolean {
  const { isMeant = false, __TSR_index: index = 0 } = (history.state ?? {}) as { isMeant?: boolean; __TSR_index?: number }
  return document.querySelector('meta[name="portico-opened-by"]') !== null && !isMeant && index === 0
}

export function OpenedElsewhere({ onOpen }: { onOpen(): void }): ReactNode {
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  const open = (): void => {
    history.replaceState({ ...history.state, isMeant: true }, '')
    onOpen()
  }
  return (
    <main className={css.page}>
      <h1>Another page opened this window</h1>
      <p>
        A web page that does not belong to Portico wants to show you the console. If you did not expect that, close this window. Nothing has
        happened.
      </p>
      <div>
        <Button kind="main" disabled={!isReady} onClick={open}>
          Open the console
        </Button>
      </div>
    </main>
  )
}
