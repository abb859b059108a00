/** Arguments against the tool's schema, before they are sent: every mistake at once, and how the tool is called. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import { compileForeign } from '../../protocol/schema/foreign.ts'
import { describePath } from '../../protocol/schema/json-schema.ts'
import { UsageError } from '../faults.ts'
import { choicesOf, propertyNames, propertyOf, requiredNames, typesOf } from './schema-view.ts'

const MAX_ISSUES = 8

/** Throws UsageError. @param onUnchecked called when the schema itself cannot be used */
export async function checkArguments(tool: Tool, args: Record<string, unknown>, onUnchecked: (why: string) => void): Promise<void> {
  const missing = requiredNames(tool.inputSchema, tool.inputSchema).filter((name) => !Object.hasOwn(args, name) || args[name] === undefined)
  if (missing.length > 0)
    throw new UsageError(`${tool.name} needs ${missing.map((name) => JSON.stringify(name)).join(', ')}`, `Usage: ${usageOf(tool)}`)
  let validate: Awaited<ReturnType<typeof compileForeign>>
  try {
    validate = await compileForeign(tool.inputSchema)
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    return onUnchecked(error.message)
  }
  const checked = validate(args)
  if (checked.ok) return
  const issues = checked.issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `  ${path.length === 0 ? '' : `${describePath(path)}: `}${message}`)
  throw new UsageError(
    `The arguments do not fit ${tool.name}:\n${issues.join('\n')}`,
    `Usage: ${usageOf(tool)}. --loose sends them all the same.`,
  )
}

/** `add title=TEXT [tags=TEXT ...]` */
export function usageOf({ name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>): string {
  const required = new Set(requiredNames(inputSchema, inputSchema))
  const parts = propertyNames(inputSchema, inputSchema).map((property) => {
    const form = formOf(property, propertyOf(inputSchema, property, inputSchema), inputSchema)
    return required.has(property) ? form : `[${form}]`
  })
  return [name, ...parts].join(' ')
}

function formOf(name: string, schema: unknown, root: unknown): string {
  const choices = choicesOf(schema, root)
  if (choices.length > 0 && choices.length <= 8)
    return `${name}=${choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))).join('|')}`
  const types = typesOf(schema, root)
  if (types.has('array')) return `${name}=... ...`
  if (types.has('integer') || types.has('number')) return `${name}=NUMBER`
  if (types.has('boolean')) return `${name}=true|false`
  if (types.has('object')) return `${name}:=JSON`
  return `${name}=${isObject(schema) && typeof schema.format === 'string' ? schema.format.toUpperCase() : 'TEXT'}`
}
