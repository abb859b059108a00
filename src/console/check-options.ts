/** Refuses options of the console that would be ignored. The console may not import from `protocol/`, which has the same for other parts. */

import { type Members, unknownMember } from '../base/unknown-member.ts'
import { McpError } from '../host/index.ts'

export type { Members }

/** @param what the function, for the error */
export function checkOptions<Options extends object>(
  what: string,
  given: Options | undefined,
  members: Readonly<Record<keyof NoInfer<Options>, unknown>>,
): void {
  const fault = unknownMember(given, members)
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', `${what}: ${fault}`)
}
