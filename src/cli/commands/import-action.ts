/** `portico servers import`: takes over the servers of other clients, and asks which of them to enable. */

import { describeSubject, readClientConfigs, type ServerSpec, serverFile, variableWarnings, withoutPlainSecrets } from '../../host/index.ts'
import { typedCommand } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { describeProvenance, fromOf, shownTransport } from '../connections/shown-server.ts'
import { unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { type Io, isInteractive } from '../io.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import { enableAction } from './enable-action.ts'
import { agreesToMove, movedSecrets } from './move-secrets.ts'

interface ImportOptions {
  all?: true
  yes?: true
  whole?: true
}

export async function importAction(invocation: Invocation, names: string[], options: ImportOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const { found, servers, problems } = await readClientConfigs({ home: io.home, project: io.cwd })
  for (const { file, where, text } of problems) screen.note(safe`${screen.noteStyle.yellow('!')} ${file}, ${where}: ${text}`)
  const ids = servers.map(({ spec }) => spec.id)
  for (const name of names) if (!ids.includes(name)) throw unknownName('server', name, ids, 'in the files of other clients')
  if (screen.isJson)
    screen.printJson({
      files: found.map(({ file }) => file),
      servers: servers.map(({ spec, plainSecrets: plain }) => ({
        id: spec.id,
        where: shownTransport(spec, options.whole),
        from: fromOf(spec),
        fromFiles: filesOf(spec),
        ...(spec.transport.type === 'stdio' && { env: shownVariables(spec, options.whole) }),
        warnings: warningsOf(spec),
        plainSecrets: plain.map(({ where }) => where),
      })),
    })
  else {
    if (servers.length === 0) {
      screen.note(safe`No servers of other clients were found on this machine.`)
      return 'ok'
    }
    const { printLines } = await import('../terminal/show-question.ts')
    // Not a table: a command must be shown in full.
    printLines(
      screen,
      describeSubject({
        kind: 'import',
        servers: servers.map(({ spec, plainSecrets: plain }) => ({
          id: spec.id,
          where: shownTransport(spec, options.whole),
          from: spec.provenance.map((from) => `${describeProvenance(from)}: ${from.file}`).join('; '),
          env: shownVariables(spec, options.whole),
          headerNames: spec.transport.type === 'http' ? Object.keys(spec.transport.headers) : [],
          warnings: [
            ...warningsOf(spec),
            ...(plain.length === 0 ? [] : [`secret in plain text: ${plain.map(({ where }) => where).join(', ')}`]),
          ],
        })),
      }),
    )
  }
  const chosen = options.all ? ids : names.length > 0 ? names : isInteractive(io) && !screen.isJson ? await choose(invocation, ids) : []
  if (chosen.length === 0) {
    screen.note(safe`Nothing was imported. Give names, or --all.`)
    return 'ok'
  }
  const wanted = servers.flatMap(({ spec }) => (chosen.includes(spec.id) ? [inOwnFolder(spec, io)] : []))
  const specs = await movedSecrets(invocation, wanted, async (movable) => options.yes ?? agreesToMove(invocation, movable))
  const { added, updated } = await serverFile(hostFolderOf(io)).adopt(specs)
  const told = [countedIds('Imported', added), countedIds('Updated', updated)].filter((text) => text !== undefined)
  if (told.length === 0) {
    screen.note(safe`Nothing new: all of them are already imported.`)
    return 'ok'
  }
  screen.note(safe`${told.join('. ')}. You approve each server before it starts.`)
  const imported = [...added, ...updated].flatMap(({ id, isDisabled }) => (isDisabled ? [] : [id]))
  if (imported.length === 0) return 'ok'
  if (isInteractive(io) && !screen.isJson) {
    const exit = await enableAction(invocation, imported, {})
    // They are imported in any case, and a No is an answer.
    return exit === 'denied' ? 'ok' : exit
  }
  screen.note(safe`To enable them: ${typedCommand(io, `servers enable ${imported.join(' ')}`)}`)
  return 'ok'
}

/**
 * A server without a folder would start in the folder of each command, and what you agreed to in one folder does not hold in another.
 * Servers of a project start in the project, all others in your home folder.
 */
function inOwnFolder(spec: ServerSpec, { home, cwd }: Pick<Io, 'home' | 'cwd'>): ServerSpec {
  const { transport, provenance } = spec
  if (transport.type !== 'stdio' || transport.cwd !== undefined) return spec
  return { ...spec, transport: { ...transport, cwd: provenance[0]?.scope === 'project' ? cwd : home } }
}

const countedIds = (what: string, specs: readonly ServerSpec[]): string | undefined =>
  specs.length === 0 ? undefined : `${what} ${counted(specs.length, 'server')}: ${specs.map(({ id }) => id).join(', ')}`

async function choose({ io, signal }: Invocation, ids: readonly string[]): Promise<string[]> {
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask((terminal) =>
    new Prompts({ ...io, terminal }, signal).chooseSeveral(
      'Import which servers? Space selects, a selects all.',
      ids.map((id) => ({ value: id, label: id })),
      [],
    ),
  )
}

const filesOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string[] => provenance.map(({ file }) => file)

/** Movable secrets are replaced by their length, as in the command. The start question shows everything. */
function shownVariables(spec: ServerSpec, isWhole: boolean = false): Record<string, string> {
  const { transport } = isWhole ? spec : withoutPlainSecrets(spec)
  return transport.type === 'stdio' ? transport.env : {}
}

const warningsOf = ({ transport }: ServerSpec): string[] => (transport.type === 'stdio' ? variableWarnings(transport.env) : [])
