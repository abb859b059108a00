/** Servers of other programs, in one sentence. */

import type { EnabledServer, ImportableServer } from '../../../src/console/api.ts'
import { foreignName } from './foreign-text.ts'
import { counted } from './format.ts'

type Found = Pick<ImportableServer, 'from' | 'isImported'>

/** Those that were not imported yet. */
export const notImported = <Server extends Found>(servers: readonly Server[]): Server[] => servers.filter(({ isImported }) => !isImported)

/** `Found 6 in Claude Desktop, VS Code and Cursor`. Undefined: no server is left to import. */
export function foundText(servers: readonly Found[]): string | undefined {
  const left = notImported(servers)
  if (left.length === 0) return undefined
  const programs = [...new Set(left.flatMap(({ from }) => from.map(({ client }) => client)))]
  const last = programs.at(-1)
  const names = programs.length < 2 ? last : `${programs.slice(0, -1).join(', ')} and ${last}`
  return `Found ${left.length} in ${names ?? 'other programs'}. Nothing of them was started.`
}

/** How enabling several servers ended, in one sentence. The cards of the servers say why one failed. */
export function enabledText(servers: readonly Pick<EnabledServer, 'server' | 'error'>[]): { tone: 'fine' | 'waiting'; text: string } {
  const failed = servers.filter(({ error }) => error).map(({ server }) => foreignName(server))
  if (failed.length === 0) return { tone: 'fine', text: `${counted(servers.length, 'server')} enabled.` }
  return {
    tone: 'waiting',
    text: `${servers.length - failed.length} of ${counted(servers.length, 'server')} enabled. Not enabled: ${failed.join(', ')}.`,
  }
}
