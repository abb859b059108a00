/** Elicitation: a server asks the person for input, with a form or with a web page. */

import type { Result } from './base.ts'
import { methodRows } from './method.ts'

interface FieldText {
  title?: string
  description?: string
}

export interface StringField extends FieldText {
  type: 'string'
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: 'email' | 'uri' | 'date' | 'date-time'
  default?: string
}

export interface NumberField extends FieldText {
  type: 'number' | 'integer'
  minimum?: number
  maximum?: number
  default?: number
}

export interface BooleanField extends FieldText {
  type: 'boolean'
  default?: boolean
}

export interface Choice {
  const: string
  title: string
}

/** A choice of one string. `oneOf` gives the choices titles; `enumNames` is the old way to do that. */
export interface SelectField extends FieldText {
  type: 'string'
  enum?: string[]
  enumNames?: string[]
  oneOf?: Choice[]
  default?: string
}

/** A choice of several strings. */
export interface MultiSelectField extends FieldText {
  type: 'array'
  items: { type?: 'string'; enum?: string[]; anyOf?: Choice[] }
  minItems?: number
  maxItems?: number
  default?: string[]
}

export type Field = StringField | NumberField | BooleanField | SelectField | MultiSelectField

/** The schema of a form: a flat object without nested fields. */
export interface FormSchema {
  $schema?: string
  type: 'object'
  properties: Record<string, Field>
  required?: string[]
}

export interface FormElicitParams {
  mode?: 'form'
  message: string
  requestedSchema: FormSchema
}

export interface UrlElicitParams {
  mode: 'url'
  message: string
  url: string
  /** Set only if the server can send a notice of completion. */
  elicitationId?: string
}

export type ElicitParams = FormElicitParams | UrlElicitParams

export type FieldValue = string | number | boolean | string[]

/** The person's answer. `content` is set when the action is `accept`. */
export interface ElicitResult extends Result {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, FieldValue>
}

export interface ElicitationCompleteParams {
  elicitationId: string
}

export const elicitationMethods = methodRows([
  { method: 'elicitation/create', kind: 'request', from: 'server', capability: 'elicitation' },
  { method: 'notifications/elicitation/complete', kind: 'notification', from: 'server' },
])
