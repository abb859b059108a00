/** `portico servers`: manages the configured servers. Only `enable`, `login` and `logout` connect to one. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import {
  describeSubject,
  moveSecrets,
  openVault,
  plainSecrets,
  plainSecretValue,
  readClientConfigs,
  type ServerSpec,
  serverFile,
  type Vault,
  variableWarnings,
  withoutPlainSecrets,
} from '../../host/index.ts'
import { commandName } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { describeTransport } from '../connections/configured.ts'
import { hostFolderOf, storagePath } from '../connections/host-files.ts'
import { configuredServers, withHost } from '../connections/open-host.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget, type TargetName } from '../connections/target.ts'
import { UsageError, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { printTable } from '../output/table.ts'

interface AddOptions extends TargetOptions {
  title?: string
  trusted?: true
  label: string[]
  dataFile: string[]
}

export function registerServers(program: Command, runner: CommandRunner): void {
  const servers = program
    .command('servers')
    .summary('add, import, list, remove and log in to servers')
    .description('Manage configured servers.')
  addTargetOptions(
    servers
      .command('add')
      .summary('add a server')
      .description('Adds a server: a URL, or the command that starts it. Secrets in its variables and headers are moved to the vault.')
      .argument('<name>')
      .argument('[url]')
      .usage('[options] <name> <url> | <name> -- command...'),
  )
    .option('--title <text>', 'display name')
    .option('--trusted', 'trust its data: its output is not labelled untrusted (what it claims about its tools still cannot relax a rule)')
    .option('--label <label>', 'label for its data, such as private:mail (repeatable)', (text, before: string[]) => [...before, text], [])
    .option(
      '--data-file <path>',
      'a file named in the command that the server writes to; changes to it need no new approval (repeatable)',
      (text, before: string[]) => [...before, text],
      [],
    )
    .action(runner.action(addAction, { takesCommand: true }))
  servers
    .command('import')
    .summary('import servers from other clients')
    .description(
      'Finds servers that other clients on this machine have configured, and imports them. Changes no file of another client and starts nothing.',
    )
    .argument('[name...]', 'import only these')
    .option('--all', 'import all, without asking which; secrets are not moved')
    .option('--yes', 'move secrets that can be moved to the vault without asking')
    .option('--whole', 'show values that look like secrets in full')
    .option('--json', 'write JSON; imports only with --all or names')
    .action(runner.action(importAction))
  servers
    .command('list')
    .description('Lists configured servers.')
    .option('--json', 'write JSON')
    .option('--whole', 'show values that look like secrets in full')
    .action(runner.action(listAction))
  servers.command('remove').description('Removes a server.').argument('<name>').action(runner.action(removeAction))
  servers
    .command('enable')
    .description('Asks whether a server may be started, also after a No. The answer holds until its command, files or address change.')
    .argument('<name>')
    .option('--inbox', 'without a terminal: wait until the question is answered with "portico inbox"')
    .action(
      runner.action(async (invocation: Invocation, name: string, { inbox }: { inbox?: true }) => {
        await withHost(invocation, { only: [name], parks: inbox === true }, async (host) => {
          const health = host.health()[name]
          if (health?.state === 'refused') throw health.error
          if (health?.state === 'waiting' || health?.state === 'open-circuit') throw health.lastError
        })
        invocation.screen.note(safe`${name} is enabled`)
      }),
    )
  servers
    .command('accept')
    .description('Lists the tools of a server that say they only read, and accepts them as read-only.')
    .argument('<name>')
    .argument('[tool...]', 'accept these tools')
    .option('--all', 'accept all of them; asks first')
    .option('-y, --yes', 'accept without asking')
    .option('--revoke', 'no longer accept them')
    .option('--json', 'write JSON')
    .action(runner.action(acceptAction))
  servers
    .command('login')
    .description('Logs in to a server at a URL.')
    .argument('<name>')
    .action(
      runner.action(async (invocation: Invocation, name: string) => {
        await withHost(invocation, { only: [name] }, (host) => host.login(name, { signal: invocation.signal }))
        invocation.screen.note(safe`Logged in to ${name}`)
      }),
    )
  servers
    .command('logout')
    .description('Revokes and deletes the tokens for a server.')
    .argument('<name>')
    .action(
      runner.action(async (invocation: Invocation, name: string) => {
        await withHost(invocation, { only: [name] }, (host) => host.logout(name, { signal: invocation.signal }))
        invocation.screen.note(safe`Logged out of ${name}`)
      }),
    )
}

async function addAction(invocation: Invocation, id: string, url: string | undefined, options: AddOptions): Promise<void> {
  const { io, screen } = invocation
  const { target } = parseTarget(url === undefined ? [] : [url], invocation.after)
  const tier: ServerSpec['tier'] = options.trusted ? 'trusted' : 'untrusted'
  const spec: ServerSpec = {
    id,
    transport: transportFor(target, options, io.cwd),
    tier,
    provenance: [{ client: 'portico', scope: 'ours', file: serverFile(hostFolderOf(io)).file }],
    ...(options.title !== undefined && { title: options.title }),
    ...(options.label.length > 0 && { labels: options.label }),
    ...(options.dataFile.length > 0 && { dataFiles: options.dataFile }),
    ...(options.timeout !== undefined && { timeoutMs: options.timeout * 1000 }),
  }
  // The person typed the command, so there is nothing to show first.
  const [moved = spec] = await movedSecrets(invocation, [spec], async () => true)
  await serverFile(hostFolderOf(io)).add(moved)
  screen.note(safe`Added ${id}: ${describeTransport(withoutPlainSecrets(spec))}`)
}

/** Stores the folder: relative paths in a command mean the folder in which it was typed. */
function transportFor(target: TargetName, options: AddOptions, folder: string): ServerSpec['transport'] {
  if (target.kind === 'url') return { type: 'http', url: target.url, headers: options.header }
  if (target.kind !== 'command') throw new UsageError(`${JSON.stringify(target.id)} is neither a URL nor a command after --`)
  const { command, args } = target
  return { type: 'stdio', command, args, env: options.env, cwd: resolve(folder, options.cwd ?? '.') }
}

const vaultOf = ({ io, screen }: Invocation): Promise<Vault> =>
  openVault({ folder: storagePath(io, 'secrets'), onWarning: (text) => screen.note(safe`! ${text}`) })

/** A value that could go to the vault. */
interface Movable {
  id: string
  secret: ReturnType<typeof plainSecrets>[number]
  value: string
}

/** The same servers, with movable secrets in the vault if the person agrees. Anything that a program would run stays in place. */
async function movedSecrets(
  invocation: Invocation,
  specs: readonly ServerSpec[],
  agrees: (movable: readonly Movable[]) => Promise<boolean>,
): Promise<ServerSpec[]> {
  const { screen } = invocation
  const found = specs.flatMap((spec) =>
    plainSecrets(spec).map((secret) => ({ id: spec.id, secret, value: plainSecretValue(spec, secret) })),
  )
  const movable = found.filter(({ secret }) => secret.isMovable)
  const isAgreed = movable.length > 0 && (await agrees(movable))
  for (const { id, secret } of found)
    if (secret.isMovable && isAgreed) screen.note(safe`${id}: ${secret.where} looks like a secret and was moved to the vault`)
    else if (secret.isMovable) screen.note(safe`${id}: ${secret.where} looks like a secret and was not moved; --yes moves it to the vault`)
    else
      screen.note(
        safe`${id}: ${secret.where} looks like a secret and was not moved: you must be able to read it when you are asked to start the server`,
      )
  if (!isAgreed) return [...specs]
  const vault = await vaultOf(invocation)
  const moved: ServerSpec[] = []
  for (const spec of specs) moved.push(await moveSecrets(spec, vault))
  return moved
}

/** The vault never shows a value again, so the person may look at it before it is moved. */
async function agreesToMove({ io, signal, screen }: Invocation, movable: readonly Movable[]): Promise<boolean> {
  if (!isInteractive(io) || screen.isJson) return false
  for (const { id, secret } of movable) screen.note(safe`  ${id}: ${secret.where}, ${secret.chars} characters`)
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask(async (terminal) => {
    const prompts = new Prompts({ ...io, terminal }, signal)
    // Other output waits until the question is answered.
    const here = new Screen({ ...io, terminal })
    for (let isShown = false; ; isShown = true) {
      const next = await prompts.choose(
        'These look like secrets. Move them to the vault?',
        [
          { value: 'move', label: 'Move them, and leave placeholders in the configuration' },
          ...(isShown ? [] : [{ value: 'show' as const, label: 'Show them first' }]),
          { value: 'leave', label: 'Leave them as they are' },
        ],
        'leave',
      )
      if (next !== 'show') return next === 'move'
      for (const { id, secret, value } of movable) here.note(safe`  ${id}: ${secret.where} is ${value}`)
    }
  })
}

interface ImportOptions {
  all?: true
  yes?: true
  whole?: true
}

async function importAction(invocation: Invocation, names: string[], options: ImportOptions): Promise<void> {
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
    if (servers.length === 0) return screen.note(safe`No servers of other clients were found on this machine.`)
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
  if (chosen.length === 0) return screen.note(safe`Nothing was imported. Give names, or --all.`)
  const wanted = servers.flatMap(({ spec }) => (chosen.includes(spec.id) ? [spec] : []))
  const specs = await movedSecrets(invocation, wanted, async (movable) => options.yes ?? agreesToMove(invocation, movable))
  const { added, updated } = await serverFile(hostFolderOf(io)).adopt(specs)
  const told = [countedIds('Imported', added), countedIds('Updated', updated)].filter((text) => text !== undefined)
  if (told.length === 0) return screen.note(safe`Nothing new: all of them are already imported.`)
  screen.note(safe`${told.join('. ')}. You approve each server before it starts.`)
}

const countedIds = (what: string, specs: readonly ServerSpec[]): string | undefined =>
  specs.length === 0 ? undefined : `${what} ${counted(specs.length, 'server')}: ${specs.map(({ id }) => id).join(', ')}`

async function choose({ io, signal }: Invocation, ids: readonly string[]): Promise<string[]> {
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask((terminal) =>
    new Prompts({ ...io, terminal }, signal).chooseSeveral(
      'Import which servers?',
      ids.map((id) => ({ value: id, label: id })),
      [],
    ),
  )
}

async function listAction(invocation: Invocation, { whole }: { whole?: true }): Promise<void> {
  const { io, screen } = invocation
  const servers = await configuredServers(invocation)
  if (screen.isJson)
    return screen.printJson(
      servers.map((spec) => ({ id: spec.id, title: spec.title, where: shownTransport(spec, whole), tier: spec.tier, from: fromOf(spec) })),
    )
  if (servers.length === 0)
    return screen.note(
      safe`No servers are configured yet. Add one: ${commandName(io)} servers add NAME URL, or ${commandName(io)} servers import`,
    )
  const rows = servers.map((spec) => [spec.id, spec.isDisabled ? 'disabled' : spec.tier, fromOf(spec), shownTransport(spec, whole)])
  printTable(screen, [{ title: 'SERVER', style: 'bold' }, { title: 'TRUST' }, { title: 'FROM' }, { title: 'ADDRESS' }], rows)
}

/** The command or address; values that look like secrets are replaced by their length. */
const shownTransport = (spec: ServerSpec, isWhole: boolean = false): string => {
  const shown = describeTransport(isWhole ? spec : withoutPlainSecrets(spec))
  // As it was typed: servers add NAME -- COMMAND.
  return spec.transport.type === 'stdio' ? `-- ${shown}` : shown
}

const filesOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string[] => provenance.map(({ file }) => file)

/** Movable secrets are replaced by their length, as in the command. The start question shows everything. */
function shownVariables(spec: ServerSpec, isWhole: boolean = false): Record<string, string> {
  const { transport } = isWhole ? spec : withoutPlainSecrets(spec)
  return transport.type === 'stdio' ? transport.env : {}
}

const warningsOf = ({ transport }: ServerSpec): string[] => (transport.type === 'stdio' ? variableWarnings(transport.env) : [])

const fromOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string => provenance.map(describeProvenance).join('; ')

const describeProvenance = ({ client, scope }: ServerSpec['provenance'][number]): string =>
  scope === 'ours' ? 'portico' : `${client}, ${scope}`

async function acceptAction(
  invocation: Invocation,
  server: string,
  names: string[],
  { all, revoke, yes }: { all?: true; revoke?: true; yes?: true },
): Promise<ExitName> {
  const { io, screen, signal } = invocation
  // No server is needed: the approved definitions are stored.
  return withHost(invocation, { only: [], asksNobody: true }, async (host) => {
    const claiming = host.readOnlyTools(server).map(({ name }) => name)
    const chosen = all ? claiming : names
    if (all && !revoke && !yes && claiming.length > 0) {
      if (!isInteractive(io) || screen.isJson)
        throw new UsageError('--all needs --yes without a terminal', `It accepts: ${claiming.join(', ')}`)
      screen.note(safe`  ${claiming.join(', ')}`)
      const { confirm } = await import('../terminal/confirm.ts')
      const what = claiming.length === 1 ? 'This tool only claims' : `These ${claiming.length} tools only claim`
      if (!(await confirm(io, `${what} to read. Accept all?`, 'accept', signal))) {
        screen.note(safe`Nothing was accepted.`)
        return 'denied'
      }
    }
    if (chosen.length > 0) await host.acceptReadOnly(server, chosen, { isRevoked: revoke === true })
    const tools = host.readOnlyTools(server)
    if (screen.isJson) screen.printJson(tools)
    else if (tools.length === 0) screen.note(safe`No approved tool of ${server} says that it only reads.`)
    else {
      printTable(
        screen,
        [{ title: 'TOOL', style: 'bold' }, { title: 'ACCEPTED AS READ-ONLY' }],
        tools.map(({ name, isAccepted }) => [name, isAccepted ? 'yes' : 'no']),
      )
      if (chosen.length === 0) screen.note(safe`Accept them: ${commandName(io)} servers accept ${server} TOOL..., or --all`)
    }
    return 'ok'
  })
}

async function removeAction(invocation: Invocation, name: string): Promise<void> {
  const { io, screen } = invocation
  if (!(await serverFile(hostFolderOf(io)).remove(name))) {
    const servers = await configuredServers(invocation)
    throw unknownName(
      'server',
      name,
      servers.map(({ id }) => id),
    )
  }
  screen.note(safe`Removed ${name}. Its approvals and grants stay until you revoke them.`)
}
