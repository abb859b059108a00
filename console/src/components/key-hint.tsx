/** A key or a combination of keys: `Ctrl K`. */

import type { ReactNode } from 'react'
import css from './key-hint.module.css'

export const KeyHint = ({ keys }: { keys: string }): ReactNode => (
  <span className={css.keys}>
    {keys.split(' ').map((key) => (
      <kbd key={key} className={css.key}>
        {key}
      </kbd>
    ))}
  </span>
)
