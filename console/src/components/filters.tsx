/** A bar of filters above a list: a search field, choices, and buttons at its end. */

import type { ReactNode } from 'react'
import { Field, Select, TextInput } from './field.tsx'
import css from './filters.module.css'

export const Filters = ({ children, actions }: { children: ReactNode; actions?: ReactNode }): ReactNode => (
  <div className={css.filters}>
    {children}
    {actions && <div className={css.actions}>{actions}</div>}
  </div>
)

export const FilterText = ({
  label,
  placeholder,
  value,
  onValue,
}: {
  label: string
  placeholder: string
  value: string
  onValue(value: string): void
}): ReactNode => (
  <div className={css.text}>
    <Field label={label} isLabelHidden>
      {(control) => (
        <TextInput {...control} type="search" placeholder={placeholder} value={value} onChange={(event) => onValue(event.target.value)} />
      )}
    </Field>
  </div>
)

/** The empty value stands for everything. */
export const FilterChoice = ({
  label,
  value,
  choices,
  onValue,
}: {
  label: string
  value: string | undefined
  choices: readonly { value: string; label: string }[]
  onValue(value: string): void
}): ReactNode => (
  <div className={css.choice}>
    <Field label={label} isLabelHidden>
      {(control) => <Select {...control} value={value ?? ''} choices={choices} onValue={onValue} />}
    </Field>
  </div>
)
