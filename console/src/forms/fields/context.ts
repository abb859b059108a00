/** What every field of a form knows. */

import { type ComponentType, createContext, useContext } from 'react'
import type { Field } from '../model/field.ts'
import type { Schema } from '../model/schema.ts'
import type { Path } from '../model/value.ts'
import { type Issues, NO_ISSUES } from '../validate.ts'

/** Suggests values for the text at a path. */
export type Suggest = (path: Path, text: string, signal: AbortSignal) => Promise<readonly string[]>

export interface FormContextValue {
  root: Schema
  issues: Issues
  suggest: Suggest | undefined
  hidden: ReadonlySet<string>
  /** The field for any value. Groups and lists get it here, because it is made of them. */
  ValueField: ComponentType<ValueProps>
}

export const FormContext = createContext<FormContextValue>({
  root: {},
  issues: NO_ISSUES,
  suggest: undefined,
  hidden: new Set(),
  ValueField: () => null,
})

export const useForm = (): FormContextValue => useContext(FormContext)

/** What a field gets. */
export interface ValueProps {
  name: string
  schema: unknown
  value: unknown
  /** Undefined removes the value. */
  onChange(value: unknown): void
  path: Path
  /** Groups around it. */
  depth: number
  isRequired: boolean
}

/** Deeper groups are raw JSON. */
export const MAX_DEPTH = 24

/** What the field of one kind gets. */
export interface LeafProps<Kind extends Field['kind'] = Field['kind']> extends ValueProps {
  field: Extract<Field, { kind: Kind }>
  label: string
  help: string | undefined
  fault: string | undefined
}

/** Joins the issues into one line. Undefined: the value is valid. */
export const join = (...texts: readonly (string | undefined)[]): string | undefined => {
  const given = texts.filter((text) => text !== undefined && text !== '')
  return given.length === 0 ? undefined : given.join(' · ')
}
