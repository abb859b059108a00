/** Short messages at the edge of the page. They go after a while, except dangers. */

import { type ReactNode, useEffect } from 'react'
import { Badge, type Tone } from './badge.tsx'
import { IconButton } from './button.tsx'
import css from './toast.module.css'

export interface ToastItem {
  id: number
  tone: Tone
  text: string
  /** A link to what it is about. */
  action?: ReactNode
}

const WORDS: Readonly<Record<Tone, string>> = { plain: 'Note', accent: 'Note', fine: 'Done', waiting: 'Warning', danger: 'Failed' }

export function Toasts({ items, onDismiss }: { items: readonly ToastItem[]; onDismiss(id: number): void }): ReactNode {
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {items.map((item) => (
        <Toast key={item.id} item={item} onDismiss={onDismiss} />
      ))}
    </div>
  )
}

function Toast({ item: { id, tone, text, action }, onDismiss }: { item: ToastItem; onDismiss(id: number): void }): ReactNode {
  useEffect(() => {
    if (tone === 'danger') return
    const timer = setTimeout(() => onDismiss(id), 8_000)
    return () => clearTimeout(timer)
  }, [id, tone, onDismiss])
  return (
    <div className={css.toast}>
      <Badge tone={tone}>{WORDS[tone]}</Badge>
      <span className={css.text}>
        {text} {action}
      </span>
      <IconButton label="Dismiss" isSmall onClick={() => onDismiss(id)}>
        ✕
      </IconButton>
    </div>
  )
}
