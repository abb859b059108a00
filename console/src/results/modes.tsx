/** A choice between a few ways to show the same thing. */

import type { ReactNode } from 'react'
import css from './results.module.css'

export function Modes<Id extends string>({
  label,
  modes,
  selected,
  onSelect,
}: {
  label: string
  modes: readonly { id: Id; label: string }[]
  selected: Id
  onSelect(id: Id): void
}): ReactNode {
  return (
    <div className={css.modes} role="group" aria-label={label}>
      {modes.map((mode) => (
        <button key={mode.id} type="button" className={css.mode} aria-pressed={mode.id === selected} onClick={() => onSelect(mode.id)}>
          {mode.label}
        </button>
      ))}
    </div>
  )
}
