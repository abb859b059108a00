/** A dialog: only for what the person has just asked for. */

import { Dialog as Base, DialogDismiss, DialogHeading } from '@ariakit/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { classes } from './classes.ts'
import css from './dialog.module.css'

export interface DialogProps {
  title: ReactNode
  isOpen: boolean
  onClose(): void
  children: ReactNode
  /** The buttons at the end. */
  actions?: ReactNode
  isWide?: boolean
}

export function Dialog({ title, isOpen, onClose, children, actions, isWide = false }: DialogProps): ReactNode {
  const body = useRef<HTMLDivElement>(null)
  // The first field, because the person wants to type. Without fields it is the first button.
  const [firstField] = useState(() => ({
    get current() {
      return body.current?.querySelector<HTMLElement>('input:not(:disabled), textarea:not(:disabled), select:not(:disabled)') ?? null
    },
  }))
  usePageFocusAfter(isOpen)
  return (
    <Base
      open={isOpen}
      onClose={onClose}
      className={classes(css.dialog, isWide && css.wide)}
      backdrop={<div className={css.backdrop} />}
      initialFocus={firstField}
      unmountOnHide
    >
      <header className={css.header}>
        <DialogHeading className={css.title}>{title}</DialogHeading>
        <DialogDismiss className={css.close} aria-label="Close">
          ✕
        </DialogDismiss>
      </header>
      <div ref={body} className={css.body}>
        {children}
      </div>
      {actions && <footer className={css.actions}>{actions}</footer>}
    </Base>
  )
}

/** The page takes the focus if the control that opened the dialog is gone. Otherwise the next Tab would start at the top of the window. */
function usePageFocusAfter(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return
    return () => {
      // The dialog gives the focus back first.
      setTimeout(() => {
        if (document.activeElement === document.body) document.querySelector<HTMLElement>('#page')?.focus({ preventScroll: true })
      }, GIVE_BACK_MS)
    }
  }, [isOpen])
}

const GIVE_BACK_MS = 50
