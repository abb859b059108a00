/** Refuses options that would be ignored. */

import { type Members, unknownMember } from '../base/unknown-member.ts'
import { McpError } from './errors.ts'

export type { Members }

/**
 * Refuses a name that is not known: with `authentcate` a server would be public, and with `input_schema` a tool would take anything.
 *
 * @param what the function or definition, for the error
 */
export function checkMembers<Options extends object>(
  what: string,
  given: Options | undefined,
  members: Readonly<Record<keyof NoInfer<Options>, unknown>>,
): void {
  const fault = unknownMember(given, members)
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', `${what}: ${fault}`)
}
