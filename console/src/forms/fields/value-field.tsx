/** One value of any kind. */

import { type ReactNode, useMemo } from 'react'
import { Checkbox, Field, Select, TextInput } from '../../components/field.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { canDraw } from '../model/can-draw.ts'
import { type Field as FieldModel, fieldOf, labelOf, sentText } from '../model/field.ts'
import { pathKey, typedNumber } from '../model/value.ts'
import css from '../schema-form.module.css'
import { ArrayField } from './array-field.tsx'
import { ChoiceField } from './choice-field.tsx'
import { ChoicesField } from './choices-field.tsx'
import { join, type LeafProps, MAX_DEPTH, useForm, type ValueProps } from './context.ts'
import { JsonField } from './json-field.tsx'
import { GroupField } from './object-fields.tsx'
import { TextField } from './text-field.tsx'
import { UnionField } from './union-field.tsx'

export function ValueField(props: ValueProps): ReactNode {
  const { root, issues } = useForm()
  const { schema, name, path, depth, value, onChange } = props
  const field = useMemo(() => fieldOf(root, schema), [root, schema])
  const texts = { label: foreignName(field.title ?? name), help: helpOf(field), fault: issues.get(pathKey(path)) }
  if (field.isNullable && field.kind !== 'any' && field.kind !== 'const') {
    return (
      <div className={css.group}>
        {value !== null && <Plain {...props} {...texts} field={field} depth={depth} />}
        <Checkbox
          label={value === null ? `${texts.label}: nothing (null)` : 'nothing (null)'}
          checked={value === null}
          onChange={(event) => onChange(event.target.checked ? null : undefined)}
        />
      </div>
    )
  }
  return <Plain {...props} {...texts} field={field} depth={depth} />
}

function Plain(props: LeafProps): ReactNode {
  const { field } = props
  if (!canDraw(field, props.value))
    return <JsonField {...props} reason="This value does not fit the schema, so it is shown as JSON. The server gets it unchanged." />
  if (props.depth > MAX_DEPTH) return <JsonField {...props} reason="It is nested too deeply for a form." />
  // Each kind gets its own field; the casts repeat what `kind` says.
  switch (field.kind) {
    case 'text':
      return <TextField {...props} field={field} />
    case 'number':
      return <NumberField {...props} field={field} />
    case 'boolean':
      return <BooleanField {...props} field={field} />
    case 'choice':
      return <ChoiceField {...props} field={field} />
    case 'choices':
      return <ChoicesField {...props} field={field} />
    case 'const':
      return <ConstField {...props} field={field} />
    case 'object':
      return <GroupField {...props} field={field} />
    case 'array':
      return <ArrayField {...props} field={field} />
    case 'union':
      return <UnionField {...props} field={field} />
    case 'any':
      return <JsonField {...props} reason={field.reason} />
  }
}

function NumberField({ field, label, help, fault, value, onChange, isRequired }: LeafProps<'number'>): ReactNode {
  // The limits of safe numbers say nothing to a person.
  const isTold = (limit: number | undefined): limit is number => limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
  const range = [isTold(field.min) ? `at least ${field.min}` : '', isTold(field.max) ? `at most ${field.max}` : '']
    .filter(Boolean)
    .join(', ')
  return (
    <Field
      label={label}
      help={join(help, range)}
      fault={fault}
      isRequired={isRequired}
      aside={<span className={css.type}>{field.isInteger ? 'whole number' : 'number'}</span>}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode={field.isInteger ? 'numeric' : 'decimal'}
          value={typeof value === 'number' || typeof value === 'string' ? String(value) : ''}
          onChange={(event) => onChange(typedNumber(event.target.value))}
        />
      )}
    </Field>
  )
}

function BooleanField({ label, help, fault, value, onChange, isRequired }: LeafProps<'boolean'>): ReactNode {
  return (
    <Field label={label} help={help} fault={fault} isRequired={isRequired}>
      {(control) => (
        <Select
          {...control}
          value={value === true ? 'yes' : value === false ? 'no' : ''}
          onValue={(text) => onChange(text === '' ? undefined : text === 'yes')}
          choices={[
            { value: '', label: isRequired ? 'Choose' : 'Not set' },
            { value: 'yes', label: 'Yes' },
            { value: 'no', label: 'No' },
          ]}
        />
      )}
    </Field>
  )
}

/** Only one value is possible: it is set when the field is required, and can be set otherwise. */
function ConstField({ field, label, help, fault, value, onChange, isRequired }: LeafProps<'const'>): ReactNode {
  const text = `${label}: ${foreignText(sentText(field.value))}`
  return (
    <div>
      <Checkbox
        label={text}
        help={help}
        checked={value !== undefined}
        disabled={isRequired && value !== undefined}
        onChange={(event) => onChange(event.target.checked ? field.value : undefined)}
      />
      {fault !== undefined && <p className={css.fault}>{fault}</p>}
    </div>
  )
}

const helpOf = ({ help, examples }: FieldModel): string | undefined =>
  join(
    help === undefined ? undefined : foreignText(help),
    examples.length === 0 ? undefined : foreignText(`For example ${examples.map((each) => labelOf(each)).join(', ')}`),
  )
