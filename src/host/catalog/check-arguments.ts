/** Checks the arguments of a call against the schema of its tool, before a person is asked about it. */

import { asText } from '../../base/as-text.ts'
import { prototypeKeyIn } from '../../base/prototype-keys.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { Validate } from '../../protocol/schema/compile.ts'
import { compileForeign } from '../../protocol/schema/foreign.ts'
import { describeIssues } from '../../protocol/schema/json-schema.ts'

const compiled = new WeakMap<object, Promise<Validate | undefined>>()

/**
 * Makes a check for the arguments of a tool. The check returns the issues in words (expected and actual), or undefined when there are
 * none. A schema that cannot be used here passes everything: the server validates in any case.
 *
 * @param onUnchecked called with the reason when the schema cannot be used
 * @example
 * const check = await argumentChecker(tool)
 * check({ city: 7 }) // 'city: expected string, received number'
 */
export async function argumentChecker(
  { inputSchema }: Pick<Tool, 'inputSchema'>,
  onUnchecked: (reason: string) => void = () => {},
): Promise<(args: Readonly<Record<string, unknown>>) => string | undefined> {
  const compiling =
    compiled.get(inputSchema) ??
    compileForeign(inputSchema).catch((error: unknown) => {
      onUnchecked(error instanceof Error ? error.message : asText(error))
      return undefined
    })
  compiled.set(inputSchema, compiling)
  const validate = await compiling
  return (args) => prototypeFault(args) ?? issuesIn(args, validate)
}

function issuesIn(args: Readonly<Record<string, unknown>>, validate: Validate | undefined): string | undefined {
  try {
    const checked = validate?.(args)
    return checked && !checked.ok ? describeIssues(checked.issues) : undefined
  } catch {
    return undefined
  }
}

/** @throws McpError ERR_INVALID_PARAMS */
export async function checkArguments(tool: Tool, args: Readonly<Record<string, unknown>>): Promise<void> {
  const fault = (await argumentChecker(tool))(args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of tool ${JSON.stringify(tool.name)}: ${fault}`)
}

/** Checks the names of arguments that have no schema. @throws McpError ERR_INVALID_PARAMS if a name is not accepted */
export function checkNames(what: string, args: Readonly<Record<string, unknown>>): void {
  const fault = prototypeFault(args)
  if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Arguments of ${what}: ${fault}`)
}

/** Refuses `__proto__` and `constructor.prototype`: careless code in a server would change an object's prototype. */
function prototypeFault(args: Readonly<Record<string, unknown>>): string | undefined {
  const pointer = prototypeKeyIn(args)
  return pointer === undefined
    ? undefined
    : `the keys "__proto__" and "constructor"."prototype" are not accepted: found one at ${JSON.stringify(pointer)}`
}
