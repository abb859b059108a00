/** Arguments of a call against the schema of its tool, before a person is bothered with them. */

import { prototypeKeyIn } from '../../base/prototype-keys.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { Validate } from '../../protocol/schema/compile.ts'
import { compileForeign } from '../../protocol/schema/foreign.ts'
import { describeIssues } from '../../protocol/schema/json-schema.ts'

const compiled = new WeakMap<object, Promise<Validate | undefined>>()

/** In words: what was expected and what came. Undefined when they fit. */
async function argumentFault(
  { inputSchema }: Pick<Tool, 'inputSchema'>,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const reaching = prototypeFault(args)
  if (reaching !== undefined) return reaching
  // A schema that cannot be judged here is judged by the server, which must do so in any case.
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
  const fault = await argumentFault(tool, args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of tool ${JSON.stringify(tool.name)}: ${fault}`)
}

/** @throws McpError ERR_INVALID_PARAMS for arguments that have no schema */
export function checkNames(what: string, args: Readonly<Record<string, unknown>>): void {
  const fault = prototypeFault(args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of ${what}: ${fault}`)
}

/** What a careless program would take for the prototype of an object. No server has to take it. */
function prototypeFault(args: Readonly<Record<string, unknown>>): string | undefined {
  const pointer = prototypeKeyIn(args)
  return pointer === undefined
    ? undefined
    : `the keys "__proto__" and "constructor"."prototype" are not accepted, and one stands at ${JSON.stringify(pointer)}`
}
