/** The members of an object: required first, the others folded if there are many, further names as rows. */

import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classes } from '../../components/classes.ts'
import { Field as LabelledField, TextInput } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { counted } from '../../state/format.ts'
import type { Field, Property } from '../model/field.ts'
import { initialValue } from '../model/initial.ts'
import { isObject } from '../model/schema.ts'
import { type Path, withMember, withRenamed } from '../model/value.ts'
import css from '../schema-form.module.css'
import { type LeafProps, useForm } from './context.ts'

type ObjectModel = Extract<Field, { kind: 'object' }>

interface ObjectProps {
  field: ObjectModel
  value: unknown
  onChange(value: unknown): void
  path: Path
  depth: number
}

/** More optional fields than this are folded. */
const MAX_OPEN = 5
/** Fields that are drawn at once. */
const STEP = 100

export function ObjectFields({ field, value, onChange, path, depth }: ObjectProps): ReactNode {
  const { ValueField } = useForm()
  const [shown, setShown] = useState(STEP)
  const object = isObject(value) ? value : {}
  const required = field.properties.filter(({ isRequired }) => isRequired)
  const optional = field.properties.filter(({ isRequired }) => !isRequired)
  const draw = ({ name, schema, isRequired }: Property): ReactNode => (
    <ValueField
      key={name}
      name={name}
      schema={schema}
      value={Object.hasOwn(object, name) ? object[name] : undefined}
      onChange={(next) => onChange(withMember(object, name, next))}
      path={[...path, name]}
      depth={depth + 1}
      isRequired={isRequired}
    />
  )
  const drawn = optional.slice(0, shown)
  const rest = (
    <div className={css.group}>
      {drawn.map(draw)}
      {optional.length > shown && (
        <Button isSmall onClick={() => setShown(shown + STEP)}>
          {counted(optional.length - shown, 'more field')}
        </Button>
      )}
    </div>
  )
  const isSet = optional.some(({ name }) => Object.hasOwn(object, name))
  return (
    <div className={css.group}>
      {required.slice(0, shown).map(draw)}
      {optional.length > 0 &&
        (optional.length <= MAX_OPEN || required.length === 0 ? (
          rest
        ) : (
          <OptionalFields count={optional.length} isOpen={isSet && depth === 0}>
            {rest}
          </OptionalFields>
        ))}
      {field.additional !== undefined && (
        <FurtherNames field={field} schema={field.additional} value={object} onChange={onChange} path={path} depth={depth} />
      )}
    </div>
  )
}

function OptionalFields({ count, isOpen, children }: { count: number; isOpen: boolean; children: ReactNode }): ReactNode {
  const [open, setOpen] = useState(isOpen)
  return (
    <Fold label={`${counted(count, 'optional field')}`} isOpen={open} onToggle={setOpen}>
      {open && children}
    </Fold>
  )
}

/** Names that the schema does not list. */
function FurtherNames({
  field,
  schema,
  value,
  onChange,
  path,
  depth,
}: ObjectProps & { schema: unknown; value: Readonly<Record<string, unknown>> }): ReactNode {
  const { root, ValueField } = useForm()
  const listed = new Set(field.properties.map(({ name }) => name))
  const names = Object.keys(value).filter((name) => !listed.has(name))
  const add = (): void => {
    let number = names.length + 1
    while (Object.hasOwn(value, `name${number}`)) number++
    onChange(withMember(value, `name${number}`, initialValue(root, schema) ?? ''))
  }
  return (
    <div className={css.group}>
      {names.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what the person edits
        <div key={index} className={css.entry}>
          <NameInput
            name={name}
            taken={(next) => Object.hasOwn(value, next)}
            onRename={(next) => onChange(withRenamed(value, name, next))}
          />
          <ValueField
            name="value"
            schema={schema}
            value={value[name]}
            onChange={(next) => onChange(withMember(value, name, next ?? ''))}
            path={[...path, name]}
            depth={depth + 1}
            isRequired={false}
          />
          <Button kind="quiet" isSmall aria-label={`Remove ${name}`} onClick={() => onChange(withMember(value, name, undefined))}>
            ✕
          </Button>
        </div>
      ))}
      <div>
        <Button isSmall onClick={add}>
          Add a name
        </Button>
      </div>
    </div>
  )
}

/** A name is taken over when the field is left, so that it can be empty or taken while it is typed. */
function NameInput({ name, taken, onRename }: { name: string; taken(name: string): boolean; onRename(name: string): void }): ReactNode {
  const [text, setText] = useState(name)
  const isTaken = text !== name && taken(text)
  return (
    <LabelledField label="name" fault={isTaken ? 'There is one with this name' : undefined}>
      {(control) => (
        <TextInput
          {...control}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => (isTaken || text === '' ? setText(name) : text !== name && onRename(text))}
        />
      )}
    </LabelledField>
  )
}

/** An object inside an object. An optional one is not there until the person adds it. */
export function GroupField({
  field,
  label,
  help,
  fault,
  schema,
  value,
  onChange,
  path,
  depth,
  isRequired,
}: LeafProps<'object'>): ReactNode {
  const { root } = useForm()
  const id = useId()
  const isThere = isRequired || value !== undefined
  return (
    <div role="group" aria-labelledby={id} className={css.group}>
      <div className={css.groupHead}>
        <span id={id} className={css.legend}>
          {label}
        </span>
        {!isRequired && (
          <Button isSmall kind="quiet" onClick={() => onChange(isThere ? undefined : (initialValue(root, schema) ?? {}))}>
            {isThere ? `Remove ${label}` : `Add ${label}`}
          </Button>
        )}
      </div>
      {help !== undefined && <p className={css.help}>{help}</p>}
      {isThere && (
        <div className={classes(css.group, css.inner)}>
          <ObjectFields field={field} value={value} onChange={onChange} path={path} depth={depth} />
        </div>
      )}
      {fault !== undefined && <p className={css.fault}>{fault}</p>}
    </div>
  )
}
