/** Several of a few values. */

import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/field.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { sentText } from '../model/field.ts'
import { isSame } from '../model/value.ts'
import css from '../schema-form.module.css'
import type { LeafProps } from './context.ts'

/** Options that are drawn at first, and with each request for more. Chosen ones are always drawn. */
const STEP = 50

export function ChoicesField({ field, label, help, fault, value, onChange, isRequired }: LeafProps<'choices'>): ReactNode {
  const [shown, setShown] = useState(STEP)
  const list = Array.isArray(value) ? value : []
  const toggle = (option: unknown, isOn: boolean): void => {
    const next = isOn ? [...list, option] : list.filter((each) => !isSame(each, option))
    onChange(next.length === 0 && !isRequired ? undefined : next)
  }
  return (
    <fieldset className={css.checks}>
      <legend className={css.legend}>{label}</legend>
      {help !== undefined && <p className={css.help}>{help}</p>}
      {field.options.map((option, index) => {
        const isChosen = list.some((each) => isSame(each, option.value))
        if (index >= shown && !isChosen) return null
        const sent = sentText(option.value)
        return (
          <Checkbox
            key={JSON.stringify(option.value)}
            label={foreignText(option.label)}
            help={isChosen && sent !== option.label ? foreignText(`Sends ${sent}`) : undefined}
            checked={isChosen}
            onChange={(event) => toggle(option.value, event.target.checked)}
          />
        )
      })}
      {field.options.length > shown && (
        <div>
          <Button isSmall onClick={() => setShown(shown + STEP * 4)}>
            {counted(field.options.length - shown, 'more option')}
          </Button>
        </div>
      )}
      {fault !== undefined && <p className={css.fault}>{fault}</p>}
    </fieldset>
  )
}
