/** `portico servers`: manages the configured servers. Only `enable`, `import` at a terminal, `login` and `logout` connect to one. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openGrants, type ServerSpec, serverFile, withoutPlainSecrets } from '../../host/index.ts'
import { typedCommand } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { describeTransport } from '../connections/configured.ts'
import { knownRevisions } from '../connections/connect.ts'
import { hostFolderOf, storagePath } from '../connections/host-files.ts'
import { configuredServers, withHost } from '../connections/open-host.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { fromOf, shownTransport } from '../connections/shown-server.ts'
import { parseTarget, type TargetName } from '../connections/target.ts'
import { UsageError, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'
import { enableAction } from './enable-action.ts'
import { importAction } from './import-action.ts'
import { movedSecrets } from './move-secrets.ts'
import { registerProtocol } from './servers-protocol.ts'

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
      'Finds servers that other clients on this machine have configured, and imports them. Changes no file of another client. At a terminal it then asks which of them to enable.',
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
  registerProtocol(servers, runner)
  servers.command('remove').description('Removes a server.').argument('<name>').action(runner.action(removeAction))
  servers
    .command('enable')
    .summary('start servers, after your approval')
    .description(
      'Asks whether servers may be started, also after a No; several are asked about on one screen. The answer holds until the command, the files or the address change.',
    )
    .argument('[name...]', 'Default: all that are not enabled yet')
    .option('--inbox', 'without a terminal: wait until the questions are answered with "portico inbox"')
    .action(runner.action(enableAction))
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
    ...(options.revision.length > 0 && { revisions: knownRevisions(options.revision) }),
    ...(options.transport && target.kind === 'url' && { httpTransport: options.transport }),
  }
  // The person typed the command, so there is nothing to show first.
  const [moved = spec] = await movedSecrets(invocation, [spec], async () => true)
  await serverFile(hostFolderOf(io)).add(moved)
  screen.note(safe`Added ${id}: ${describeTransport(withoutPlainSecrets(spec))}`)
  screen.note(safe`It is not started yet. To start it, after your approval: ${typedCommand(io, `servers enable ${id}`)}`)
}

/** Stores the folder: relative paths in a command mean the folder in which it was typed. */
function transportFor(target: TargetName, options: AddOptions, folder: string): ServerSpec['transport'] {
  if (target.kind === 'url') return { type: 'http', url: target.url, headers: options.header }
  if (target.kind !== 'command') throw new UsageError(`${JSON.stringify(target.id)} is neither a URL nor a command after --`)
  const { command, args } = target
  return { type: 'stdio', command, args, env: options.env, cwd: resolve(folder, options.cwd ?? '.') }
}

async function listAction(invocation: Invocation, { whole }: { whole?: true }): Promise<void> {
  const { io, screen } = invocation
  const servers = await configuredServers(invocation)
  const enabled = await enabledServers(invocation)
  const stateOf = ({ id, isDisabled }: ServerSpec): string => (isDisabled ? 'disabled' : enabled.has(id) ? 'enabled' : 'not enabled')
  if (screen.isJson)
    return screen.printJson(
      servers.map((spec) => ({
        id: spec.id,
        title: spec.title,
        state: stateOf(spec),
        where: shownTransport(spec, whole),
        tier: spec.tier,
        ...(spec.revisions && { revisions: spec.revisions }),
        ...(spec.httpTransport && { transport: spec.httpTransport }),
        from: fromOf(spec),
      })),
    )
  if (servers.length === 0)
    return screen.note(
      safe`No servers are configured yet. Add one: ${typedCommand(io, 'servers add NAME URL')}, or ${typedCommand(io, 'servers import')}`,
    )
  // The last columns give way first, so the address is not among them.
  const rows = servers.map((spec) => [spec.id, stateOf(spec), shownTransport(spec, whole), spec.tier, fromOf(spec)])
  const columns = [
    { title: 'SERVER', style: 'bold' as const },
    { title: 'STATE' },
    { title: 'ADDRESS' },
    { title: 'TRUST' },
    { title: 'FROM' },
  ]
  printTable(screen, columns, rows)
}

/** The servers whose start the person has approved for good. Nothing is started to find out. */
async function enabledServers({ io }: Invocation): Promise<ReadonlySet<string>> {
  const grants = await (await openGrants({ file: storagePath(io, 'grants') })).live(Date.now())
  return new Set(grants.filter(({ action }) => action === 'server.launch' || action === 'server.connect').map(({ bind }) => bind.server))
}

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
      if (chosen.length === 0) screen.note(safe`Accept them: ${typedCommand(io, `servers accept ${server} TOOL...`)}, or --all`)
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
