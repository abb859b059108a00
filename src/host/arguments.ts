/** Arguments of a call against the schema of its tool, before a person is bothered with them. */

import { McpError } from '../protocol/errors.ts'
import { compileForeign } from '../protocol/schema/foreign.ts'
import { describeIssues } from '../protocol/schema/json-schema.ts'
import type { Tool } from '../protocol/tools.ts'

type Validate = Awaited<ReturnType<typeof compileForeign>>

const compiled = new WeakMap<object, Promise<Validate | undefined>>()

/** @throws McpError ERR_INVALID_PARAMS that says what was expected and what came */
export async function checkArguments({ name, inputSchema }: Tool, args: Readonly<Record<string, unknown>>): Promise<void> {
  // A schema that cannot be judged here is judged by the server, which must do so in any case.
  const validating = compiled.get(inputSchema) ?? compileForeign(inputSchema).catch(() => undefined)
  compiled.set(inputSchema, validating)
  const checked = (await validating)?.(args)
  if (checked && !checked.ok)
    throw new McpError('ERR_INVALID_PARAMS', `Arguments of tool ${JSON.stringify(name)}: ${describeIssues(checked.issues)}`)
}
