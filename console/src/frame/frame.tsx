/** The frame around every page: top bar, sidebar, page, waiting tray, and the bottom bar of a phone. */

import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { classes } from '../components/classes.ts'
import { type ToastItem, Toasts } from '../components/toast.tsx'
import { useConsole, useConsoleState } from '../hooks/use-console.tsx'
import { useIsWide } from '../hooks/use-is-wide.ts'
import { usePreferences } from '../hooks/use-preferences.ts'
import { OwnQuestionDialog } from '../questions/own-question-dialog.tsx'
import { Tray } from '../questions/tray.tsx'
import type { Notice } from '../state/console-state.ts'
import { withoutNotice } from '../state/reduce.ts'
import { BottomBar } from './bottom-bar.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import css from './frame.module.css'
import { KeyList } from './key-list.tsx'
import { Palette } from './palette.tsx'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'
import { usePageFocus, useTrayFocus } from './use-focus.ts'
import { useKeys } from './use-keys.ts'

export function Frame(): ReactNode {
  const { store } = useConsole()
  const [{ isTrayOpen }, change] = usePreferences()
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isKeyListOpen, setKeyListOpen] = useState(false)
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const isWide = useIsWide()
  const notices = useConsoleState((state) => state.notices)
  const waiting = useConsoleState((state) => state.questions.filter(({ end }) => end === undefined).length)
  const dismiss = useRef((id: number) => store.update((state) => withoutNotice(state, id)))
  const toggleTray = (): void => (isWide ? change({ isTrayOpen: !isTrayOpen }) : void navigate({ to: '/waiting' }))
  const tray = useTrayFocus(isTrayOpen && isWide, toggleTray)
  useKeys({ onPalette: () => setPaletteOpen(true), onKeyList: () => setKeyListOpen(true), onWaiting: tray.toggle })
  const main = usePageFocus(pathname)
  useEffect(() => {
    document.title = waiting === 0 ? 'Portico' : `(${waiting}) Portico`
  }, [waiting])
  const hasTray = isTrayOpen && isWide
  return (
    <div className={classes(css.frame, hasTray && css.withTray)}>
      <a className={css.skip} href="#page">
        Skip to the page
      </a>
      <TopBar
        waiting={waiting}
        isTrayOpen={hasTray}
        onWaiting={tray.toggle}
        onSearch={() => setPaletteOpen(true)}
        onKeys={() => setKeyListOpen(true)}
      />
      <Sidebar />
      <main ref={main} id="page" className={css.page} tabIndex={-1}>
        <ConnectionBanner />
        <Outlet />
      </main>
      {hasTray && (
        <aside className={css.tray} aria-label="Waiting for you">
          <Tray onClose={tray.toggle} takesFocus={tray.takesFocus} />
        </aside>
      )}
      <BottomBar waiting={waiting} />
      <OwnQuestionDialog isTrayShown={hasTray || pathname === '/waiting' || (pathname === '/tour' && !isWide)} />
      <Palette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
      <KeyList isOpen={isKeyListOpen} onClose={() => setKeyListOpen(false)} />
      <Toasts items={notices.map(toastOf)} onDismiss={dismiss.current} />
      <p className="sr-only" aria-live="polite">
        {waiting === 0 ? '' : `${waiting} waiting for you`}
      </p>
    </div>
  )
}

const toastOf = ({ id, tone, text, server, hasReview }: Notice): ToastItem => ({
  id,
  tone,
  text,
  ...(hasReview &&
    server !== undefined && {
      action: (
        <Link to="/servers" search={{ server, tab: 'offering' }}>
          Review
        </Link>
      ),
    }),
})
