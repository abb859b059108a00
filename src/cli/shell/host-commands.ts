/** The commands of the interactive host: all servers together, and a model to talk to. */

import { join } from 'node:path'
import { type Conversation, type Host, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'
import { runTurn } from '../chat/turn.ts'
import type { Invocation } from '../command-runner.ts'
import { firstLine } from '../connections/listings.ts'
import { isWithheld, type Session } from '../connections/session.ts'
import { UsageError } from '../errors.ts'
import { printVerdict } from '../output/audit-verdict.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { splitWords } from '../split-words.ts'
import { printCommands, runSessionCommand, SESSION_COMMANDS } from './session-commands.ts'

const HOST_COMMANDS: typeof SESSION_COMMANDS = [
  ['servers', 'list servers and their state'],
  ['search WORDS', 'search tools'],
  ...SESSION_COMMANDS,
  ['approve SERVER', 'review and approve what a server offers'],
  ['audit', 'check that the audit log is intact'],
  ['say TEXT', 'talk to the model (as does any line that is not a command)'],
  ['quit', 'leave (also: q, Ctrl-D)'],
]

export async function runHostCommand(invocation: Invocation, host: Host, conversation: Conversation, line: string): Promise<void> {
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
      if (rows.length === 0) return screen.note(safe`No tool found.`)
      return screen.print(table([{ title: 'TOOL', style: 'bold' }, { title: 'DESCRIPTION' }], rows, screen.style, screen.columns))
    }
    case 'approve':
      if (rest === '') throw new UsageError('Missing server', 'Type "servers" for a list')
      if (!host.review(rest)) return screen.note(safe`${rest}: everything is approved.`)
      return host.approve(rest, { signal })
    case 'audit':
      return printVerdict(screen, await verifyAudit(join(host.folder, STORAGE_PATHS.audit)))
    case 'say':
      return void (await runTurn(invocation, host, conversation, rest))
  }
  // Text for the model may have an unclosed quote, so only commands are split into words.
  if (
    SESSION_COMMANDS.some(([usage]) => usage.split(' ', 1)[0] === verb) &&
    (await runSessionCommand(invocation, catalogOf(host), splitWords(line)))
  )
    return
  await runTurn(invocation, host, conversation, line)
}

function printHealth({ screen }: Invocation, host: Host): void {
  const rows = Object.entries(host.health()).map(([id, { state }]) => {
    const waiting = host.review(id)?.items.length ?? 0
    const tools = host.tools().filter(({ server }) => server === id).length
    return [
      id,
      state,
      String(tools),
      waiting === 0 ? '' : `${counted(waiting, 'item')} ${waiting === 1 ? 'awaits' : 'await'} approval: approve ${id}`,
    ]
  })
  const columns = [{ title: 'SERVER', style: 'bold' as const }, { title: 'STATE' }, { title: 'TOOLS' }, { title: '' }]
  screen.print(table(columns, rows, screen.style, screen.columns))
}

/** All servers as one, by their catalog names. */
const catalogOf = (host: Host): Session => ({
  title: 'the connected servers',
  tools: async () => host.tools().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  // A tool that awaits approval has no catalog name yet, so its likely name is compared.
  isWithheld: (name) =>
    Object.keys(host.health()).some((id) => name.startsWith(`${id}__`) && isWithheld(host, id, name.slice(id.length + 2))),
  resources: async () => ({
    resources: host.resources().map(({ exposed, definition }) => ({ ...definition, uri: exposed })),
    resourceTemplates: host.templates().map(({ exposed, definition }) => ({ ...definition, uriTemplate: exposed })),
  }),
  prompts: async () => host.prompts().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  call: (name, args, options) => host.call(name, args, { ...options, as: 'person' }),
  read: (uri, options) => host.read(uri, { ...options, as: 'person' }),
  prompt: (name, args, options) => host.prompt(name, args, { ...options, as: 'person' }),
})
