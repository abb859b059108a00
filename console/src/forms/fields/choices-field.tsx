/** Several of a few values. */

import type { ReactNode } from 'react'
import { Checkbox } from '../../components/field.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { isSame } from '../model/value.ts'
import css from '../schema-form.module.css'
import type { LeafProps } from './context.ts'

export function ChoicesField({ field, label, help, fault, value, onChange, isRequired }: LeafProps<'choices'>): ReactNode {
  const list = Array.isArray(value) ? value : []
  const toggle = (option: unknown, isOn: boolean): void => {
    const next = isOn ? [...list, option] : list.filter((each) => !isSame(each, option))
    onChange(next.length === 0 && !isRequired ? undefined : next)
  }
  return (
    <fieldset className={css.checks}>
      <legend className={css.legend}>{label}</legend>
      {help !== undefined && <p className={css.help}>{help}</p>}
      {field.options.map((option) => (
        <Checkbox
          key={JSON.stringify(option.value)}
          label={foreignName(option.label)}
          checked={list.some((each) => isSame(each, option.value))}
          onChange={(event) => toggle(option.value, event.target.checked)}
        />
      ))}
      {fault !== undefined && <p className={css.fault}>{fault}</p>}
    </fieldset>
  )
}
