/** The top of a page: its name, one sentence, its actions. */

import type { ReactNode } from 'react'
import css from './page-header.module.css'

export const PageHeader = ({ title, about, actions }: { title: ReactNode; about?: ReactNode; actions?: ReactNode }): ReactNode => (
  <header className={css.header}>
    <div className={css.words}>
      <h1>{title}</h1>
      {about && <p className={css.about}>{about}</p>}
    </div>
    {actions && <div className={css.actions}>{actions}</div>}
  </header>
)

/** A part of a page with a heading. */
export const Section = ({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }): ReactNode => (
  <section className={css.section}>
    <div className={css.sectionTop}>
      <h2>{title}</h2>
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
    {children}
  </section>
)

/** A box with a border, for one thing among several. */
export const Card = ({ children, label }: { children: ReactNode; label?: string }): ReactNode => (
  <article className={css.card} aria-label={label}>
    {children}
  </article>
)
