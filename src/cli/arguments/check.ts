/** Checks arguments against the tool's schema before they are sent: all issues at once, with the usage of the tool. */

import type { Tool } from '../../client/index.ts'
import { argumentChecker } from '../../host/index.ts'
import { UsageError } from '../errors.ts'
import { requiredNames } from './schema-view.ts'
import { usageOf } from './usage.ts'

/** Throws UsageError. @param onUnchecked called when the schema itself cannot be used */
export async function checkArguments(tool: Tool, args: Record<string, unknown>, onUnchecked: (reason: string) => void): Promise<void> {
  const missing = requiredNames(tool.inputSchema, tool.inputSchema).filter((name) => !Object.hasOwn(args, name) || args[name] === undefined)
  if (missing.length > 0)
    throw new UsageError(`${tool.name} needs ${missing.map((name) => JSON.stringify(name)).join(', ')}`, `Usage: ${usageOf(tool)}`)
  const issues = (await argumentChecker(tool, onUnchecked))(args)
  if (issues !== undefined)
    throw new UsageError(
      `The arguments do not match the schema of ${tool.name}: ${issues}`,
      `Usage: ${usageOf(tool)}. Use --no-validate to send them anyway.`,
    )
}
