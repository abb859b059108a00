/** Gives the arguments of a tool other names, fixed values or defaults. */

import { isObject } from '../base/json.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError, ToolError } from '../protocol/errors.ts'
import { schemaPort } from '../protocol/schema/any-schema.ts'
import { describeIssues, type JsonSchema } from '../protocol/schema/json-schema.ts'
import type { Context, DefinedTool } from '../server/index.ts'

/** What to change about one argument of a tool. */
export interface ArgumentChange {
  /** Its new name. */
  name?: string
  /** Its new description. */
  description?: string
  /** Its value if the caller leaves it out. The argument becomes optional. */
  default?: unknown
  /** Its value in every call. The caller does not see the argument and cannot set it. */
  fixed?: unknown
}

/** Keywords that can mention arguments by name. They would have to be rewritten as well. */
const UNCHANGEABLE = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  '$ref',
]

type Arguments = Record<string, unknown>

/** @returns the tool with a schema that has the changes, and a handler that undoes them */
export function changeArguments(tool: DefinedTool, changes: Readonly<Record<string, ArgumentChange>>): DefinedTool {
  const where = `Tool ${JSON.stringify(tool.name)}`
  const port = schemaPort(tool.definition.input ?? { type: 'object' }, 'input', `${where} input`)
  const input = changedSchema(where, port.json, changes)

  const handler = async (given: unknown, context: Context): Promise<unknown> => {
    const checked = await port.check(originalArguments(given as Arguments, changes))
    // The caller's arguments match the changed schema. What fails now is a rule that the schema does not show.
    if (!checked.ok) throw new ToolError(`${where} arguments: ${describeIssues(checked.issues)}`)
    return tool.handler(checked.value, context)
  }
  return { ...tool, definition: { ...tool.definition, input }, handler }
}

function originalArguments(given: Arguments, changes: Readonly<Record<string, ArgumentChange>>): Arguments {
  const original: Arguments = { ...given }
  // A renamed argument has only its new name.
  for (const [argument, { name }] of Object.entries(changes)) {
    delete original[argument]
    if (name !== undefined) delete original[name]
  }
  for (const [argument, change] of Object.entries(changes)) {
    const { name = argument } = change
    if ('fixed' in change) original[argument] = change.fixed
    else if (Object.hasOwn(given, name)) original[argument] = given[name]
    else if ('default' in change) original[argument] = change.default
  }
  return original
}

function changedSchema(where: string, json: JsonSchema, changes: Readonly<Record<string, ArgumentChange>>): JsonSchema {
  const fail = (why: string): never => {
    throw new McpError('ERR_DEFINITION', `${where}: ${why}`)
  }
  const keyword = UNCHANGEABLE.find((each) => Object.hasOwn(json, each))
  if (keyword !== undefined) fail(`its arguments cannot be changed, because its input schema has the keyword ${keyword}`)
  const properties: Record<string, unknown> = {}
  const required = new Set(Array.isArray(json.required) ? (json.required as string[]) : [])
  const before = isObject(json.properties) ? json.properties : {}
  const unknown = Object.keys(changes).find((argument) => !Object.hasOwn(before, argument))
  if (unknown !== undefined)
    fail(`there is no argument ${JSON.stringify(unknown)} to change; it has ${Object.keys(before).join(', ') || 'none'}`)

  for (const [argument, schema] of Object.entries(before)) {
    const change = Object.hasOwn(changes, argument) ? (changes[argument] as ArgumentChange) : {}
    const { name = argument, description } = change
    checkMembers(`${where}: the change of ${JSON.stringify(argument)}`, change, { name: 1, description: 1, default: 1, fixed: 1 })
    if ('fixed' in change && 'default' in change)
      fail(`the argument ${JSON.stringify(argument)} can have a fixed value or a default, not both`)
    for (const member of ['fixed', 'default'] as const)
      if (member in change && change[member] === undefined)
        fail(
          `the ${member === 'fixed' ? 'fixed value' : 'default'} of the argument ${JSON.stringify(argument)} is undefined; is its variable set?`,
        )
    checkValue(where, argument, { $defs: json.$defs, ...(schema as JsonSchema) }, change)
    const wasRequired = required.delete(argument)
    if ('fixed' in change) continue
    if (Object.hasOwn(properties, name)) fail(`two arguments would be named ${JSON.stringify(name)}`)
    properties[name] = {
      ...(schema as JsonSchema),
      ...(description !== undefined && { description }),
      ...('default' in change && { default: change.default }),
    }
    if (wasRequired && !('default' in change)) required.add(name)
  }
  const { required: _before, ...rest } = json
  return { ...rest, properties, ...(required.size > 0 && { required: [...required] }) }
}

/** Checks a fixed value or a default when the author writes it, and not at the first call. */
function checkValue(where: string, argument: string, schema: JsonSchema, change: ArgumentChange): void {
  const given = 'fixed' in change ? change.fixed : change.default
  if (given === undefined) return
  const checked = schemaPort(withoutUndefined(schema), 'input', `${where} argument ${JSON.stringify(argument)}`).check(given)
  if (checked instanceof Promise || checked.ok) return
  throw new McpError('ERR_DEFINITION', `${where} argument ${JSON.stringify(argument)}: ${describeIssues(checked.issues)}`)
}

const withoutUndefined = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined)) as JsonSchema
