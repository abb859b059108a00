/** One interface for all kinds of schemas: Standard Schema (zod, valibot, arktype) and JSON Schema (typebox). */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { McpError } from '../errors.ts'
import { checkSchema } from './check-schema.ts'
import { compile, type Validate } from './compile.ts'
import type { Checked, FromJsonSchema, Issue, JsonSchema } from './json-schema.ts'

/** A TypeBox schema. At run time it is JSON Schema, but its type is an interface that is not assignable to `JsonSchema`. */
interface TypeBoxSchema {
  readonly '~kind': string
}

/** Any schema that an author may use: zod, valibot, arktype, typebox or JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchema | TypeBoxSchema

/**
 * The type `unknown` for a schema that can be used, and an explanation for one that cannot: the fields of a schema instead of a schema,
 * or a schema that has no JSON Schema form. The compiler shows the explanation.
 */
export type UsableSchema<S> = S extends StandardSchemaV1
  ? S['~standard'] extends StandardJSONSchemaV1.Props
    ? unknown
    : 'This schema has no JSON Schema form. For valibot: wrap it in toStandardJsonSchema() of @valibot/to-json-schema'
  : StandardSchemaV1 extends S[keyof S]
    ? unknown
    : Extract<S[keyof S], StandardSchemaV1> extends never
      ? unknown
      : 'Expected a schema, got an object of schemas: wrap it in z.object({ ... })'

/** The type of a value before validation. */
export type InputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : FromJsonSchema<S>

/** The type of a value after validation. */
export type OutputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : FromJsonSchema<S>

/** Like `OutputOf`, for schemas of objects. A schema without a readable type gives `Record<string, unknown>`. */
export type ObjectOf<S> = unknown extends OutputOf<S> ? Record<string, unknown> : OutputOf<S>

export interface SchemaPort {
  /** The schema as JSON Schema 2020-12, for the wire. */
  json: JsonSchema
  check(value: unknown): Checked | Promise<Checked>
}

/** @param side for a schema that transforms values: whether the wire has its input or its output */
export function schemaPort(schema: AnySchema, side: 'input' | 'output', where: string): SchemaPort {
  if (isStandard(schema)) return { json: convert(schema, side, where), check: (value) => checkStandard(schema, value) }
  if (typeof schema !== 'object' || schema === null) {
    throw new McpError('ERR_SCHEMA', `${where}: expected a Standard Schema or a JSON Schema object, got ${typeof schema}`)
  }
  if (Object.values(schema).some(isStandard))
    throw new McpError('ERR_SCHEMA', `${where}: expected a schema, got an object of schemas; wrap it in z.object({...})`)
  const fault = checkSchema(schema)
  if (fault !== undefined) throw new McpError('ERR_SCHEMA', `${where}: the schema is not valid: ${fault}`)
  // Compiled on first use, because most tools of a large server are never called.
  let validate: Validate | undefined
  return {
    json: schema as JsonSchema,
    check: (value) => {
      validate ??= compile(schema, { assertsFormats: true })
      return validate(value)
    },
  }
}

// Schemas of arktype are functions.
const isStandard = (schema: unknown): schema is StandardSchemaV1 =>
  ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema

function convert(schema: StandardSchemaV1, side: 'input' | 'output', where: string): JsonSchema {
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  const converter = standard.jsonSchema
  if (!converter) {
    const hint =
      standard.vendor === 'valibot'
        ? 'wrap it in toStandardJsonSchema() of @valibot/to-json-schema'
        : 'use a version that has one, or give a JSON Schema'
    throw new McpError('ERR_SCHEMA', `${where}: this ${standard.vendor} schema has no JSON Schema form; ${hint}`)
  }
  try {
    const { $schema: _, ...json } = converter[side]({ target: 'draft-2020-12' })
    return json
  } catch (cause) {
    throw new McpError(
      'ERR_SCHEMA',
      `${where}: the ${standard.vendor} schema cannot be written as JSON Schema (${(cause as Error).message})`,
      { cause },
    )
  }
}

function checkStandard(schema: StandardSchemaV1, value: unknown): Checked | Promise<Checked> {
  const result = schema['~standard'].validate(value)
  return result instanceof Promise ? result.then(toChecked) : toChecked(result)
}

function toChecked(result: StandardSchemaV1.Result<unknown>): Checked {
  if (!result.issues) return { ok: true, value: result.value }
  return { ok: false, issues: result.issues.map(toIssue) }
}

const toIssue = (issue: StandardSchemaV1.Issue): Issue => ({
  // arktype has its own array class for paths, and its `map` returns that class.
  path: Array.from(issue.path ?? [], (step) => {
    const key = typeof step === 'object' ? step.key : step
    return typeof key === 'number' ? key : String(key)
  }),
  message: issue.message,
})
