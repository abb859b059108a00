/** Checks the arguments of a call against the schema of its tool, before a person is asked about it. */

import { prototypeKeyIn } from '../../base/prototype-keys.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { Validate } from '../../protocol/schema/compile.ts'
import { compileForeign } from '../../protocol/schema/foreign.ts'
import { describeIssues } from '../../protocol/schema/json-schema.ts'

const compiled = new WeakMap<object, Promise<Validate | undefined>>()

/** Describes what is wrong with the arguments. Undefined: they are valid. */
export async function describeArgumentFault(
  { inputSchema }: Pick<Tool, 'inputSchema'>,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const reaching = prototypeFault(args)
  if (reaching !== undefined) return reaching
  // If the schema cannot be evaluated here, the server checks the arguments, as it must anyway.
  const validating = compiled.get(inputSchema) ?? compileForeign(inputSchema).catch(() => undefined)
  compiled.set(inputSchema, validating)
  const validate = await validating
  try {
    const checked = validate?.(args)
    return checked && !checked.ok ? describeIssues(checked.issues) : undefined
  } catch {
    return undefined
  }
}

/** @throws McpError ERR_INVALID_PARAMS */
export async function checkArguments(tool: Tool, args: Readonly<Record<string, unknown>>): Promise<void> {
  const fault = await describeArgumentFault(tool, args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of tool ${JSON.stringify(tool.name)}: ${fault}`)
}

/** @throws McpError ERR_INVALID_PARAMS for arguments that have no schema */
export function checkNames(what: string, args: Readonly<Record<string, unknown>>): void {
  const fault = prototypeFault(args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of ${what}: ${fault}`)
}

/** Refuses `__proto__` as a name: careless code in a server would change an object's prototype. */
function prototypeFault(args: Readonly<Record<string, unknown>>): string | undefined {
  const pointer = prototypeKeyIn(args)
  return pointer === undefined
    ? undefined
    : `the keys "__proto__" and "constructor"."prototype" are not accepted: found one at ${JSON.stringify(pointer)}`
}
