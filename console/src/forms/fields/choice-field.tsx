/** One of several values: a list to choose from, or a field with suggestions if they are many. */

import { Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider } from '@ariakit/react'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { type ControlProps, Field, Select, TextInput } from '../../components/field.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { labelOf, type Option, sentText } from '../model/field.ts'
import { isSame } from '../model/value.ts'
import css from '../schema-form.module.css'
import { join, type LeafProps } from './context.ts'

/** A list with more options takes long to draw, above all if a form has many of them. */
const MAX_LISTED = 50
/** Longer values are written below the list, which cuts them. */
const MAX_SHOWN = 60

export function ChoiceField({ field, label, help, fault, value, onChange, isRequired }: LeafProps<'choice'>): ReactNode {
  const { options } = field
  const index = value === undefined ? -1 : options.findIndex((option) => isSame(option.value, value))
  // A title can say something else than the value that is sent.
  const sent = value === undefined ? '' : sentText(value)
  const isUnclear = value !== undefined && (sent.length > MAX_SHOWN || (index !== -1 && options[index]?.label !== sent))
  const unset = isRequired ? 'Choose' : 'Not set'
  return (
    <Field label={label} help={join(help, isUnclear ? foreignText(`Sends ${sent}`) : undefined)} fault={fault} isRequired={isRequired}>
      {(control) =>
        options.length > MAX_LISTED ? (
          <ManyOptions control={control} options={options} value={value} index={index} placeholder={unset} onChange={onChange} />
        ) : (
          <Select
            {...control}
            value={index === -1 ? '' : String(index)}
            onValue={(text) => onChange(text === '' ? undefined : options[Number(text)]?.value)}
            choices={[
              { value: '', label: value === undefined || index !== -1 ? unset : `${foreignName(labelOf(value))} (not offered)` },
              ...options.map((option, at) => ({ value: String(at), label: foreignName(option.label) })),
            ]}
          />
        )
      }
    </Field>
  )
}

/** Suggestions that are drawn at once. */
const MAX_SUGGESTED = 100

/** Text that is no option stays, so that nothing is lost and the check can name it. */
function ManyOptions({
  control,
  options,
  value,
  index,
  placeholder,
  onChange,
}: {
  control: ControlProps
  options: readonly Option[]
  value: unknown
  index: number
  placeholder: string
  onChange(value: unknown): void
}): ReactNode {
  const text = value === undefined ? '' : index === -1 ? sentText(value) : (options[index]?.label ?? '')
  // A value that was chosen before does not narrow the list.
  const [typed, setTyped] = useState('')
  const wanted = useDeferredValue(typed.toLowerCase())
  const found = useMemo(
    () => options.filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, MAX_SUGGESTED),
    [options, wanted],
  )
  const set = (next: string): void => {
    setTyped(next)
    const option = options.find(({ label }) => label === next)
    onChange(next === '' ? undefined : option ? option.value : next)
  }
  return (
    <ComboboxProvider value={text} setValue={set}>
      <Combobox {...control} render={<TextInput placeholder={`${placeholder}: ${options.length} values, type to find one`} />} />
      <ComboboxPopover gutter={4} sameWidth portal unmountOnHide className={css.suggestions}>
        {found.map((option, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: labels can be equal
          <ComboboxItem key={at} value={option.label} className={css.suggestion}>
            {foreignName(option.label)}
          </ComboboxItem>
        ))}
        {found.length === 0 && <p className={css.suggestion}>No value matches</p>}
      </ComboboxPopover>
    </ComboboxProvider>
  )
}
