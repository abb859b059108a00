/** A list, with the details of the selected row beside it. */

import type { CSSProperties, ReactNode, Ref } from 'react'
import { classes } from './classes.ts'
import css from './list-details.module.css'

export interface ListDetailsProps {
  list: ReactNode
  /** Under the list. */
  below?: ReactNode
  /** Undefined: no row is selected. */
  details: ReactNode
  className?: string | undefined
  listClassName?: string | undefined
  listStyle?: CSSProperties | undefined
}

export const ListDetails = ({ list, below, details, className, listClassName, listStyle }: ListDetailsProps): ReactNode => (
  <div className={classes(css.columns, className)} data-has-details={details !== undefined}>
    <div className={classes(css.list, listClassName)} style={listStyle}>
      {list}
      {below}
    </div>
    {details}
  </div>
)

/** The box of the details. */
export function DetailsPane({
  label,
  className,
  ref,
  children,
}: {
  label: string
  className?: string | undefined
  ref?: Ref<HTMLElement>
  children: ReactNode
}): ReactNode {
  return (
    <section ref={ref} className={classes(css.details, className)} aria-label={label}>
      {children}
    </section>
  )
}

/** The words of a row: its name, and below it what is known about it, each in one line. */
export const RowWords = ({ name, about, children }: { name: ReactNode; about: ReactNode; children?: ReactNode }): ReactNode => (
  <span className={css.words}>
    <span className={css.name}>{name}</span>
    <span className={css.about}>{about}</span>
    {children}
  </span>
)
