/** A short word with a meaning. The word and a sign carry it, not only the colour. */

import type { ReactNode } from 'react'
import css from './badge.module.css'
import { classes } from './classes.ts'

export type Tone = 'plain' | 'accent' | 'fine' | 'waiting' | 'danger'

const SIGNS: Readonly<Record<Tone, string>> = { plain: '', accent: '', fine: '●', waiting: '◐', danger: '▲' }

export function Badge({
  tone = 'plain',
  children,
  title,
  hasSign = true,
}: {
  tone?: Tone
  children: ReactNode
  title?: string
  hasSign?: boolean
}): ReactNode {
  const sign = hasSign ? SIGNS[tone] : ''
  return (
    <span className={classes(css.badge, css[tone])} title={title}>
      {sign !== '' && (
        <span aria-hidden="true" className={css.sign}>
          {sign}
        </span>
      )}
      {children}
    </span>
  )
}

/** A number beside a name in a list. Nothing for 0. */
export const Count = ({ value, tone = 'plain' }: { value: number; tone?: Tone }): ReactNode =>
  value === 0 ? null : <span className={classes(css.count, css[tone])}>{value}</span>
