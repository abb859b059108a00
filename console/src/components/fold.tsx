/** A part that is closed until the person opens it. */

import type { ReactNode } from 'react'
import css from './fold.module.css'

export const Fold = ({
  label,
  children,
  isOpen = false,
  onToggle,
}: {
  label: ReactNode
  children: ReactNode
  isOpen?: boolean
  onToggle?: (isOpen: boolean) => void
}): ReactNode => (
  <details className={css.fold} open={isOpen} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
    <summary className={css.summary}>{label}</summary>
    <div className={css.content}>{children}</div>
  </details>
)
