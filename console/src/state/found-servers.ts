/** Servers of other programs, in one sentence. */

import type { ImportableServer } from '../../../src/console/api.ts'

/** `Found 6 in Claude Desktop, VS Code and Cursor`. Undefined: no server was found. */
export function foundText(servers: readonly Pick<ImportableServer, 'from'>[]): string | undefined {
  if (servers.length === 0) return undefined
  const programs = [...new Set(servers.flatMap(({ from }) => from.map(({ client }) => client)))]
  const last = programs.at(-1)
  const names = programs.length < 2 ? last : `${programs.slice(0, -1).join(', ')} and ${last}`
  return `Found ${servers.length} in ${names ?? 'other programs'}. Nothing of them was started.`
}
