/** One of several kinds of values: a choice, and the field of the chosen one. */

import { type ReactNode, useState } from 'react'
import { Field, Select } from '../../components/field.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { fits } from '../model/fits.ts'
import { initialValue } from '../model/initial.ts'
import { fittingVariant } from '../model/value.ts'
import css from '../schema-form.module.css'
import { type LeafProps, useForm } from './context.ts'
import { JsonField } from './json-field.tsx'

export function UnionField(props: LeafProps<'union'>): ReactNode {
  const { field, label, help, fault, name, value, onChange, path, depth, isRequired } = props
  const { root, ValueField } = useForm()
  const { variants } = field
  const fitting = fittingVariant(variants, value, (schema, each) => fits(root, schema, each))
  const [chosen, setChosen] = useState(fitting)
  // What the person chose stays, as long as the value does not clearly belong to another variant.
  const isChosenFitting = chosen >= 0 && (value === undefined || fits(root, variants[chosen]?.schema, value))
  const index = isChosenFitting || fitting === -1 ? chosen : fitting
  const choose = (text: string): void => {
    const next = text === '' ? -1 : Number(text)
    setChosen(next)
    onChange(next === -1 ? undefined : initialValue(root, variants[next]?.schema))
  }
  const variant = variants[index]
  return (
    <div className={css.group}>
      <Field label={label} help={help} fault={variant ? undefined : fault} isRequired={isRequired}>
        {(control) => (
          <Select
            {...control}
            value={index < 0 ? '' : String(index)}
            onValue={choose}
            choices={[
              { value: '', label: isRequired ? 'Choose' : 'Not set' },
              ...variants.map((each, at) => ({ value: String(at), label: foreignName(each.label) })),
            ]}
          />
        )}
      </Field>
      {!variant && value !== undefined && (
        <JsonField {...props} reason="This value fits none of the choices. The server gets it unchanged." />
      )}
      {variant && (
        <div className={css.inner}>
          <ValueField
            key={index}
            name={variant.label || name}
            schema={variant.schema}
            value={value}
            onChange={onChange}
            path={path}
            depth={depth + 1}
            isRequired
          />
        </div>
      )}
    </div>
  )
}
