/** What a schema asks for, as one field of a form. The fields inside it are read when they are drawn, so that no schema takes long. */

import { isObject, namesIn, numberOf, resolve, type Schema, textOf } from './schema.ts'

interface Common {
  /** Without one the name of the property is shown. */
  title?: string
  help?: string
  /** Null is a possible value. */
  isNullable: boolean
  isReadOnly: boolean
  default?: unknown
  examples: readonly unknown[]
}

export type Field = Common &
  (
    | { kind: 'text'; format?: string; isLong: boolean; isSecret: boolean; minLength?: number; maxLength?: number; pattern?: string }
    | { kind: 'number'; isInteger: boolean; min?: number; max?: number }
    | { kind: 'boolean' }
    | { kind: 'choice'; options: readonly Option[] }
    /** Several of a few values. */
    | { kind: 'choices'; options: readonly Option[]; minItems?: number; maxItems?: number }
    | { kind: 'const'; value: unknown }
    | { kind: 'object'; properties: readonly Property[] /** Undefined: no further names are allowed. */; additional: unknown }
    | { kind: 'array'; itemAt(index: number): unknown; minItems: number; maxItems: number }
    | { kind: 'union'; variants: readonly Variant[] }
    /** Anything: raw JSON. `reason` says why there is no better field. */
    | { kind: 'any'; reason?: string }
  )

export interface Option {
  value: unknown
  label: string
}

export interface Property {
  name: string
  schema: unknown
  isRequired: boolean
}

export interface Variant {
  label: string
  schema: unknown
}

/** Choices and variants that are drawn. The rest can be written as raw JSON. */
const MAX_OPTIONS = 1_000
const MAX_VARIANTS = 50

export function fieldOf(root: Schema, given: unknown): Field {
  const { schema, isUnclear } = resolve(root, given)
  const common = commonOf(schema)
  if (given === false) return { ...common, kind: 'any', reason: 'No value is allowed here.' }
  if (isUnclear) return { ...common, kind: 'any', reason: 'The schema of this value refers to something that is not in it, or to itself.' }
  const { field, isNullable } = kindOf(root, schema)
  return { ...common, ...field, isNullable }
}

type Kind = Field extends infer Each ? (Each extends Field ? Omit<Each, keyof Common> : never) : never

interface Found {
  field: Kind
  isNullable: boolean
}

function commonOf(schema: Schema): Omit<Common, 'isNullable'> & { isNullable: boolean } {
  const [title, help] = [textOf(schema.title), textOf(schema.description)]
  return {
    ...(title !== undefined && { title }),
    ...(help !== undefined && { help }),
    ...(Object.hasOwn(schema, 'default') && { default: schema.default }),
    examples: Array.isArray(schema.examples) ? schema.examples.slice(0, 5) : [],
    isReadOnly: schema.readOnly === true,
    isNullable: false,
  }
}

function kindOf(root: Schema, schema: Schema): Found {
  if (Object.hasOwn(schema, 'const')) return { field: { kind: 'const', value: schema.const }, isNullable: false }
  if (Array.isArray(schema.enum)) return choiceOf(schema.enum, namesIn(schema.enumNames))
  const alternatives = Array.isArray(schema.oneOf) ? schema.oneOf : Array.isArray(schema.anyOf) ? schema.anyOf : undefined
  if (alternatives) return unionOf(root, schema, alternatives)
  const types = typeof schema.type === 'string' ? [schema.type] : namesIn(schema.type)
  const isNullable = types.includes('null')
  const others = types.filter((type) => type !== 'null')
  if (others.length > 1) {
    const { type: _, ...rest } = schema
    const variants = types.map(
      (type): Variant => ({ label: TYPE_WORDS[type] ?? type, schema: { ...rest, type, title: undefined, description: undefined } }),
    )
    return { field: { kind: 'union', variants }, isNullable: false }
  }
  if (others.length === 0 && isNullable) return { field: { kind: 'const', value: null }, isNullable: false }
  return { field: plainKind(schema, others[0] ?? guessedType(schema)), isNullable }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  object: 'group',
  array: 'list',
  null: 'nothing (null)',
}

const guessedType = (schema: Schema): string | undefined =>
  isObject(schema.properties) || isObject(schema.additionalProperties)
    ? 'object'
    : schema.items !== undefined || Array.isArray(schema.prefixItems)
      ? 'array'
      : undefined

function plainKind(schema: Schema, type: string | undefined): Kind {
  switch (type) {
    case 'string':
      return textField(schema)
    case 'number':
    case 'integer': {
      const [min, max] = [
        numberOf(schema.minimum) ?? numberOf(schema.exclusiveMinimum),
        numberOf(schema.maximum) ?? numberOf(schema.exclusiveMaximum),
      ]
      return { kind: 'number', isInteger: type === 'integer', ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
    }
    case 'boolean':
      return { kind: 'boolean' }
    case 'object':
      return objectField(schema)
    case 'array':
      return arrayField(schema)
    default:
      return { kind: 'any' }
  }
}

/** Names of formats that mean a secret or several lines. */
const LONG_FORMATS = new Set(['textarea', 'multiline', 'markdown'])

function textField(schema: Schema): Kind {
  const [format, pattern] = [textOf(schema.format), textOf(schema.pattern)]
  const [minLength, maxLength] = [numberOf(schema.minLength), numberOf(schema.maxLength)]
  return {
    kind: 'text',
    isLong:
      LONG_FORMATS.has(format ?? '') ||
      typeof schema.contentMediaType === 'string' ||
      (format === undefined && pattern === undefined && (maxLength ?? 1_000) > 100),
    isSecret: format === 'password' || schema.writeOnly === true,
    ...(format !== undefined && { format }),
    ...(pattern !== undefined && { pattern }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  }
}

function objectField(schema: Schema): Kind {
  const required = new Set(namesIn(schema.required))
  const given = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const properties = given.map(([name, each]): Property => ({ name, schema: each, isRequired: required.has(name) }))
  const listed = new Set(given.map(([name]) => name))
  for (const name of required) if (!listed.has(name)) properties.push({ name, schema: {}, isRequired: true })
  const rest = schema.additionalProperties
  // Without any word about further names, a field for them would only confuse.
  const additional = rest === false || (rest === undefined && properties.length > 0) ? undefined : (rest ?? true)
  return { kind: 'object', properties, additional }
}

function arrayField(schema: Schema): Kind {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : []
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  const minItems = Math.max(0, numberOf(schema.minItems) ?? 0)
  const maxItems = rest === false ? first.length : (numberOf(schema.maxItems) ?? Number.POSITIVE_INFINITY)
  const options = first.length === 0 && isObject(rest) ? fewOptions(rest) : undefined
  if (options) {
    const [min, max] = [numberOf(schema.minItems), numberOf(schema.maxItems)]
    return { kind: 'choices', options, ...(min !== undefined && { minItems: min }), ...(max !== undefined && { maxItems: max }) }
  }
  return { kind: 'array', itemAt: (index) => first[index] ?? rest ?? true, minItems, maxItems }
}

function fewOptions(items: Schema): Option[] | undefined {
  if (Array.isArray(items.enum)) return items.enum.slice(0, MAX_OPTIONS).map((value) => ({ value, label: labelOf(value) }))
  const titled = items.anyOf ?? items.oneOf
  return Array.isArray(titled) ? constOptions(titled) : undefined
}

function choiceOf(values: readonly unknown[], names: readonly string[]): Found {
  const options = values.slice(0, MAX_OPTIONS).map((value, index) => ({ value, label: names[index] ?? labelOf(value) }))
  return { field: { kind: 'choice', options }, isNullable: false }
}

/** Alternatives that are constants are options of one choice. */
function constOptions(alternatives: readonly unknown[]): Option[] | undefined {
  if (alternatives.length === 0 || !alternatives.every((each) => isObject(each) && Object.hasOwn(each, 'const'))) return undefined
  return (alternatives as Schema[])
    .slice(0, MAX_OPTIONS)
    .map((each) => ({ value: each.const, label: textOf(each.title) ?? labelOf(each.const) }))
}

function unionOf(root: Schema, schema: Schema, alternatives: readonly unknown[]): Found {
  const options = constOptions(alternatives)
  if (options) return { field: { kind: 'choice', options }, isNullable: false }
  const isNull = (each: unknown): boolean => isObject(each) && each.type === 'null'
  const others = alternatives.filter((each) => !isNull(each))
  const { oneOf: _one, anyOf: _any, title: _title, description: _about, default: _default, ...shared } = schema
  // What stands beside the alternatives holds for each of them.
  const whole = (each: unknown): unknown => (Object.keys(shared).length === 0 ? each : { allOf: [shared, each] })
  if (others.length === 1) {
    const only = fieldOf(root, whole(others[0]))
    return { field: only, isNullable: only.isNullable || others.length < alternatives.length }
  }
  const variants = alternatives
    .slice(0, MAX_VARIANTS)
    .map((each, index): Variant => ({ label: variantLabel(root, each, index), schema: whole(each) }))
  return { field: { kind: 'union', variants }, isNullable: false }
}

function variantLabel(root: Schema, given: unknown, index: number): string {
  const { schema } = resolve(root, given)
  const title = textOf(schema.title)
  if (title) return title
  const mark =
    isObject(schema.properties) && Object.values(schema.properties).find((each) => isObject(each) && typeof each.const === 'string')
  if (isObject(mark)) return String(mark.const)
  if (Object.hasOwn(schema, 'const')) return labelOf(schema.const)
  const type = typeof schema.type === 'string' ? TYPE_WORDS[schema.type] : undefined
  return type ?? `variant ${index + 1}`
}

/** A value in a list of choices. */
export const labelOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing').slice(0, 200))

/** A value as it is sent, whole. */
export const sentText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'))
