/** Names with their values, one pair in a row. */

import type { ReactNode } from 'react'
import css from './facts.module.css'

export const Facts = ({ children }: { children: ReactNode }): ReactNode => <dl className={css.facts}>{children}</dl>

export const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }): ReactNode => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
