/** The members of an object in the order of its author. Optional ones without a value are folded if they are many. Further names are rows. */

import { type ReactNode, useId, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classes } from '../../components/classes.ts'
import { Field as LabelledField, TextInput } from '../../components/field.tsx'
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
/** Fields without a value that are drawn at once. */
const STEP = 100

/** Every member that has a value is drawn, because it is sent: only empty fields can be folded. */
export function ObjectFields({ field, value, onChange, path, depth }: ObjectProps): ReactNode {
  const { ValueField } = useForm()
  const [shown, setShown] = useState(STEP)
  const [isOpen, setOpen] = useState(false)
  // A field that had a value stays where it is when the person empties it.
  const kept = useRef(new Set<string>())
  const object = isObject(value) ? value : {}
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
  for (const { name } of field.properties) if (Object.hasOwn(object, name)) kept.current.add(name)
  const optional = field.properties.filter(({ isRequired }) => !isRequired)
  const isFolding = optional.length > MAX_OPEN && optional.length < field.properties.length
  const hidden = new Set(isFolding && !isOpen ? optional.filter(({ name }) => !kept.current.has(name)) : [])
  const open = field.properties.filter((property) => !hidden.has(property))
  const empty = open.filter(({ name }) => !kept.current.has(name))
  const left = new Set(empty.slice(shown))
  const close = (): void => {
    kept.current.clear()
    setOpen(false)
  }
  return (
    <div className={css.group}>
      {open.filter((property) => !left.has(property)).map(draw)}
      {isFolding && (hidden.size > 0 || isOpen) && (
        <div>
          <Button kind="quiet" isSmall aria-expanded={isOpen} onClick={() => (isOpen ? close() : setOpen(true))}>
            {isOpen ? 'Hide empty optional fields' : `Show ${counted(hidden.size, 'empty optional field')}`}
          </Button>
        </div>
      )}
      {empty.length > shown && (
        <div>
          <Button isSmall onClick={() => setShown(shown + STEP)}>
            {counted(empty.length - shown, 'more field')}
          </Button>
        </div>
      )}
      <FurtherNames field={field} value={object} onChange={onChange} path={path} depth={depth} />
    </div>
  )
}

/** Names that the schema does not list. Those that have a value are drawn even if the schema allows none, because they are sent. */
function FurtherNames({ field, value, onChange, path, depth }: ObjectProps & { value: Readonly<Record<string, unknown>> }): ReactNode {
  const { root, ValueField } = useForm()
  const schema = field.additional ?? true
  const listed = new Set(field.properties.map(({ name }) => name))
  const names = Object.keys(value).filter((name) => !listed.has(name))
  const add = (): void => {
    let number = names.length + 1
    while (Object.hasOwn(value, `name${number}`)) number++
    onChange(withMember(value, `name${number}`, initialValue(root, schema) ?? ''))
  }
  if (names.length === 0 && field.additional === undefined) return null
  return (
    <div className={css.group}>
      {names.length > 0 && field.additional === undefined && (
        <p className={css.help}>The schema does not list {names.length === 1 ? 'this name' : 'these names'}. What is here is sent.</p>
      )}
      {names.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what the person edits
        <div key={index} className={css.entry}>
          <NameInput
            key={name}
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
      {field.additional !== undefined && (
        <div>
          <Button isSmall onClick={add}>
            Add a name
          </Button>
        </div>
      )}
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
