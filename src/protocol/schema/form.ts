/** Converts a JSON Schema of a flat object to the subset that forms may use. */

import { asText } from '../../base/as-text.ts'
import type { Choice, Field, FormSchema, MultiSelectField, SelectField } from '../model/elicitation.ts'
import { isSchemaObject, refused } from './document.ts'
import type { JsonSchema } from './json-schema.ts'

type Loose = Record<string, unknown>

/** Drops keywords that only a validator reads. Throws ERR_SCHEMA for fields that a form cannot have. */
export function toFormSchema(schema: JsonSchema): FormSchema {
  const { type, properties, required } = schema
  if (type !== 'object' || !isSchemaObject(properties)) throw refused('a form is an object with "properties"')
  const fields: Record<string, Field> = {}
  for (const [name, field] of Object.entries(properties)) fields[name] = toField(name, field)
  const form: FormSchema = { type: 'object', properties: fields }
  if (Array.isArray(required) && required.length > 0) form.required = required.filter((name) => Object.hasOwn(fields, name as string))
  return form
}

function toField(name: string, raw: unknown): Field {
  if (!isSchemaObject(raw)) throw refused(`form field "${name}" has no schema`)
  const schema = raw as Loose
  const choices = choicesOf(schema)
  if (choices) return { type: 'string', ...texts(schema), ...choices, ...pick(schema, ['default', 'enumNames']) } as SelectField
  switch (schema.type) {
    case 'string':
      if (schema.format === 'password' || SECRET.test(name) || SECRET.test(asText(schema.title)))
        throw refused(`form field "${name}" asks for a secret, which is not allowed in forms; use a page of your own instead (elicitUrl)`)
      // A format is easier to explain to a person than the pattern that a library derives from it.
      return {
        type: 'string',
        ...texts(schema),
        ...pick(schema, FORM_FORMATS.has(schema.format) ? STRING_KEYWORDS_WITH_FORMAT : STRING_KEYWORDS),
      }
    case 'number':
    case 'integer':
      return { type: schema.type, ...texts(schema), ...pick(schema, ['default']), ...rangeOf(schema) }
    case 'boolean':
      return { type: 'boolean', ...texts(schema), ...pick(schema, ['default']) }
    case 'array':
      return toMultiSelect(name, schema)
    default:
      throw refused(
        `form field "${name}" has ${schema.type === undefined ? 'no type' : `type ${JSON.stringify(schema.type)}`}; a form allows only strings, numbers, booleans and choices`,
      )
  }
}

// Names of secret fields. Words that are often harmless, such as "token", count only together with another word.
const SECRET =
  /pass[-_ ]?(?:word|wd|phrase|code)|secret(?!ar)|credential|(?:api|access|private|signing)[-_ ]?key|(?:api|access|auth|bearer|refresh)[-_ ]?token|^(?:pin|otp|cvv|cvc)$/i

const FORM_FORMATS = new Set<unknown>(['email', 'uri', 'date', 'date-time'])
const STRING_KEYWORDS = ['minLength', 'maxLength', 'pattern', 'default']
const STRING_KEYWORDS_WITH_FORMAT = ['minLength', 'maxLength', 'format', 'default']

function toMultiSelect(name: string, schema: Loose): MultiSelectField {
  const items = schema.items
  const choices = isSchemaObject(items) ? choicesOf(items as Loose) : undefined
  if (!choices) throw refused(`form field "${name}" is a list; a list in a form must offer fixed choices (\`items.enum\`)`)
  const field = 'enum' in choices ? { type: 'string' as const, enum: choices.enum } : { anyOf: choices.oneOf }
  return { type: 'array', ...texts(schema), ...pick(schema, ['minItems', 'maxItems', 'default']), items: field } as MultiSelectField
}

/** The choices of `enum`, or of alternatives that are all constants. They have titles if each one has a title. */
function choicesOf(schema: Loose): { enum: string[] } | { oneOf: Choice[] } | undefined {
  const { enum: list, const: only } = schema
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return { enum: list as string[] }
  if (typeof only === 'string') return { enum: [only] }
  const alternatives = schema.oneOf ?? schema.anyOf
  if (!Array.isArray(alternatives) || !alternatives.every((each) => isSchemaObject(each) && typeof each.const === 'string'))
    return undefined
  const choices = alternatives as { const: string; title?: string }[]
  if (choices.some(({ title }) => title === undefined)) return { enum: choices.map((choice) => choice.const) }
  return { oneOf: choices.map((choice) => ({ const: choice.const, title: choice.title as string })) }
}

const texts = (schema: Loose): Loose => pick(schema, ['title', 'description'])

/** Drops the limits of safe integers, which libraries add and authors do not mean. */
function rangeOf(schema: Loose): Loose {
  const range = pick(schema, ['minimum', 'maximum'])
  if (range.minimum === Number.MIN_SAFE_INTEGER) delete range.minimum
  if (range.maximum === Number.MAX_SAFE_INTEGER) delete range.maximum
  const { exclusiveMinimum, exclusiveMaximum } = schema
  if (schema.type === 'integer' && typeof exclusiveMinimum === 'number') range.minimum = Math.floor(exclusiveMinimum) + 1
  if (schema.type === 'integer' && typeof exclusiveMaximum === 'number') range.maximum = Math.ceil(exclusiveMaximum) - 1
  return range
}

function pick(schema: Loose, keywords: readonly string[]): Loose {
  const picked: Loose = {}
  for (const keyword of keywords) if (schema[keyword] !== undefined) picked[keyword] = schema[keyword]
  return picked
}
