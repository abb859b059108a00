/** The host at a prompt: its servers as one, and a model to talk to. */

import { join } from 'node:path'
import type { Host, Talk } from '../../host/host.ts'
import { STORAGE_PATHS } from '../../host/services/open-storage.ts'
import { verifyAudit } from '../../host/storage/audit/verify.ts'
import { UsageError } from '../faults.ts'
import type { Invocation } from '../frame.ts'
import { oneTurn } from '../hosting/talk.ts'
import { words } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { splitWords } from '../split-words.ts'
import { isWithheld, type Session } from '../target/session.ts'
import { printVerdict } from './audit.ts'
import { firstLine } from './tools.ts'
import { obeySession, printCommands, SESSION_COMMANDS } from './typed.ts'

const HOST_COMMANDS: typeof SESSION_COMMANDS = [
  ['servers', 'which there are, and how they are'],
  ['search WORDS', 'find a tool'],
  ...SESSION_COMMANDS,
  ['approve SERVER', 'look at what of it is not in use'],
  ['audit', 'is the log of all this whole?'],
  ['say TEXT', 'to the model; so is anything that is no command'],
  ['quit', 'or q, or Ctrl-D'],
]

export async function obeyHost(invocation: Invocation, host: Host, talk: Talk, line: string): Promise<void> {
  const { screen, signal } = invocation
  const [verb = '', rest = ''] = [/^\s*\S+/.exec(line)?.[0].trim(), line.replace(/^\s*\S+\s*/, '')]
  switch (verb) {
    case 'help':
    case '?':
      return printCommands(invocation, HOST_COMMANDS)
    case 'servers':
      return printHealth(invocation, host)
    case 'search': {
      const rows = host.search(rest).map(({ entry }) => [entry.exposed, firstLine(entry.definition.description)])
      if (rows.length === 0) return screen.note(words`Nothing was found.`)
      return screen.print(table([{ title: 'TOOL', style: 'bold' }, { title: 'WHAT IT DOES' }], rows, screen.style, screen.columns))
    }
    case 'approve':
      if (rest === '') throw new UsageError('approve needs a server', 'servers lists them')
      if (!host.review(rest)) return screen.note(words`Everything of ${rest} is in use.`)
      return host.approve(rest, { signal })
    case 'audit':
      return printVerdict(screen, await verifyAudit(join(host.folder, STORAGE_PATHS.audit)))
    case 'say':
      return void (await oneTurn(invocation, host, talk, rest))
  }
  // Words for the model may have a quote in them that is never closed; only commands are taken apart.
  if (
    SESSION_COMMANDS.some(([usage]) => usage.split(' ', 1)[0] === verb) &&
    (await obeySession(invocation, catalogOf(host), splitWords(line)))
  )
    return
  await oneTurn(invocation, host, talk, line)
}

function printHealth({ screen }: Invocation, host: Host): void {
  const rows = Object.entries(host.health()).map(([id, { state }]) => {
    const waiting = host.review(id)?.items.length ?? 0
    const tools = host.tools().filter(({ server }) => server === id).length
    return [id, state, String(tools), waiting === 0 ? '' : `${waiting} not in use until you agree: approve ${id}`]
  })
  const columns = [{ title: 'SERVER', style: 'bold' as const }, { title: 'STATE' }, { title: 'TOOLS' }, { title: '' }]
  screen.print(table(columns, rows, screen.style, screen.columns))
}

/** All servers as one, by the names of the catalog. */
const catalogOf = (host: Host): Session => ({
  title: 'any server',
  tools: async () => host.tools().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  // By the name it would most likely have: what is not in use has none yet.
  isWithheld: (name) =>
    Object.keys(host.health()).some((id) => name.startsWith(`${id}__`) && isWithheld(host, id, name.slice(id.length + 2))),
  resources: async () => ({
    resources: host.resources().map(({ exposed, definition }) => ({ ...definition, uri: exposed })),
    resourceTemplates: host.templates().map(({ exposed, definition }) => ({ ...definition, uriTemplate: exposed })),
  }),
  prompts: async () => host.prompts().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  call: (name, args, options) => host.call(name, args, options),
  read: (uri, options) => host.read(uri, options),
  prompt: (name, args, options) => host.prompt(name, args, options),
})
