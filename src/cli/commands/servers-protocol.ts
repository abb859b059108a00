/** `portico servers protocol`: shows and sets the protocol revisions and the HTTP transport of a configured server. */

import { type Command, Option } from 'commander'
import { type ServerSpec, serverFile } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { knownRevisions } from '../connections/connect.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { UsageError, unknownName } from '../errors.ts'
import { safe } from '../output/safe-text.ts'

const AUTOMATIC = 'automatic'
const TRANSPORTS = [AUTOMATIC, 'streamable-http', 'sse'] as const

interface ProtocolOptions {
  revision: string[]
  transport?: (typeof TRANSPORTS)[number]
}

export function registerProtocol(servers: Command, runner: CommandRunner): void {
  servers
    .command('protocol')
    .summary('show or set the protocol revision and the HTTP transport of a server')
    .description(
      'Shows the protocol revisions and the HTTP transport that a server is used with, or sets them. They are used at its next start.',
    )
    .argument('<name>')
    .option(
      '--revision <date>',
      `use only this protocol revision (repeatable), or ${AUTOMATIC}`,
      (text, before: string[]) => [...before, text],
      [],
    )
    .addOption(new Option('--transport <kind>', 'HTTP transport of a server at a URL').choices([...TRANSPORTS]))
    .option('--json', 'write JSON')
    .action(runner.action(protocolAction))
}

async function protocolAction({ io, screen }: Invocation, name: string, { revision, transport }: ProtocolOptions): Promise<void> {
  const file = serverFile(hostFolderOf(io))
  const { servers } = await file.list()
  const found = servers.find(({ id }) => id === name)
  if (!found)
    throw unknownName(
      'server',
      name,
      servers.map(({ id }) => id),
    )
  if (transport !== undefined && found.transport.type !== 'http') throw new UsageError(`${name} is a command: it has no HTTP transport`)
  const wanted = revision.includes(AUTOMATIC) ? [] : knownRevisions(revision)
  const isChanged = revision.length > 0 || transport !== undefined
  const spec = isChanged ? await file.update(name, (before) => changed(before, revision.length > 0 ? wanted : undefined, transport)) : found
  const shown = {
    revision: spec.revisions ?? AUTOMATIC,
    ...(spec.transport.type === 'http' && { transport: spec.httpTransport ?? AUTOMATIC }),
  }
  if (screen.isJson) return screen.printJson({ server: name, ...shown })
  screen.print(safe`revision   ${[shown.revision].flat().join(', ')}`)
  if (shown.transport) screen.print(safe`transport  ${shown.transport}`)
}

/** @param revisions undefined: as before. Empty: all. */
function changed(
  { revisions: former, httpTransport: before, ...spec }: ServerSpec,
  revisions: readonly string[] | undefined,
  transport: ProtocolOptions['transport'],
): ServerSpec {
  const next = revisions ?? former ?? []
  const httpTransport = transport === undefined ? before : transport === AUTOMATIC ? undefined : transport
  return { ...spec, ...(next.length > 0 && { revisions: next }), ...(httpTransport && { httpTransport }) }
}
