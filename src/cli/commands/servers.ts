/** `portico servers`: the list of servers of this person. Nothing here starts one, but `login`. */

import type { Command } from 'commander'
import {
  describeSubject,
  moveSecrets,
  openVault,
  type PlainSecret,
  type Provenance,
  plainSecrets,
  plainSecretValue,
  readClientConfigs,
  type ServerSpec,
  type ServerTransport,
  serverFile,
  type TrustTier,
  type Vault,
  variableWarnings,
  withoutPlainSecrets,
} from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { table } from '../output/table.ts'
import { describeTransport } from '../server/configured.ts'
import { hostFolderOf, storagePath } from '../server/host-files.ts'
import { configuredServers, withHost } from '../server/open-host.ts'
import { addTargetOptions, type TargetOptions } from '../server/options.ts'
import { parseTarget, type TargetName } from '../server/target.ts'

interface AddOptions extends TargetOptions {
  title?: string
  trusted?: true
  label: string[]
  dataFile: string[]
}

export function registerServers(program: Command, runner: CommandRunner): void {
  const servers = program
    .command('servers')
    .summary('add, import, list, remove, log in to servers')
    .description('The servers that are known by a name.')
  addTargetOptions(
    servers
      .command('add')
      .summary('add a server')
      .description(
        'Adds a server under a name: a URL, or the command that starts it. Secrets in its variables and headers go to the vault.',
      )
      .argument('<name>')
      .argument('[url]')
      .usage('[options] <name> <url> | <name> -- command...'),
  )
    .option('--title <text>', 'what people see')
    .option('--trusted', 'its data is not taken for that of strangers; what it says of itself is still not believed')
    .option(
      '--label <label>',
      'what its data is, such as private:mail; may be given several times',
      (text, before: string[]) => [...before, text],
      [],
    )
    .option(
      '--data-file <path>',
      'a file in the command that the server writes to, so that its content does not count; may be given several times',
      (text, before: string[]) => [...before, text],
      [],
    )
    .action(runner.action(addAction, { takesCommand: true }))
  servers
    .command('import')
    .summary('take over servers of other clients')
    .description('Finds the servers of other clients on this machine. Their files are read and not changed, and nothing is started.')
    .argument('[name...]', 'only these')
    .option('--all', 'take over all of them without asking which; secrets stay where they are')
    .option('--yes', 'move what looks like a secret, and is the value of a known option, to the vault without asking')
    .option('--whole', 'show values that look like secrets, not only how long they are')
    .option('--json', 'write JSON, and take nothing over unless --all or names are given')
    .action(runner.action(importAction))
  servers
    .command('list')
    .description('Lists them.')
    .option('--json', 'write JSON')
    .option('--whole', 'show values that look like secrets, not only how long they are')
    .action(runner.action(listAction))
  servers.command('remove').description('Removes one from the list.').argument('<name>').action(runner.action(removeAction))
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
    .description('Gives the tokens for a server back and forgets them.')
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
  const tier: TrustTier = options.trusted ? 'trusted' : 'untrusted'
  const spec: ServerSpec = {
    id,
    transport: transportFor(target, options),
    tier,
    provenance: [{ client: 'portico', scope: 'ours', file: serverFile(hostFolderOf(io)).file }],
    ...(options.title !== undefined && { title: options.title }),
    ...(options.label.length > 0 && { labels: options.label }),
    ...(options.dataFile.length > 0 && { dataFiles: options.dataFile }),
    ...(options.timeout !== undefined && { timeoutMs: options.timeout * 1000 }),
  }
  // The person wrote the command themselves, so there is nothing to show them first.
  const [moved = spec] = await movedSecrets(invocation, [spec], async () => true)
  await serverFile(hostFolderOf(io)).add(moved)
  screen.note(safe`Added ${id}: ${shownTransport(spec)}`)
}

function transportFor(target: TargetName, options: AddOptions): ServerTransport {
  if (target.kind === 'url') return { type: 'http', url: target.url, headers: options.header }
  if (target.kind !== 'command') throw new UsageError(`${JSON.stringify(target.id)} is neither a URL nor a command after --`)
  const { command, args } = target
  return { type: 'stdio', command, args, env: options.env, ...(options.cwd !== undefined && { cwd: options.cwd }) }
}

const vaultOf = ({ io, screen }: Invocation): Promise<Vault> =>
  openVault({ folder: storagePath(io, 'secrets'), onWarning: (text) => screen.note(safe`! ${text}`) })

/** A value that could go to the vault. */
interface Movable {
  id: string
  secret: PlainSecret
  value: string
}

/** The same servers, with what looks like a secret in the vault if that is agreed to. What a program would run stays where it is. */
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
    if (secret.isMovable && isAgreed) screen.note(safe`${id}: ${secret.where} looks like a secret, and is in the vault now`)
    else if (secret.isMovable)
      screen.note(safe`${id}: ${secret.where} looks like a secret, and stays as it is; --yes moves it to the vault`)
    else
      screen.note(safe`${id}: ${secret.where} looks like a secret, and stays as it is: you must be able to read it in the start question`)
  if (!isAgreed) return [...specs]
  const vault = await vaultOf(invocation)
  const moved: ServerSpec[] = []
  for (const spec of specs) moved.push(await moveSecrets(spec, vault))
  return moved
}

/** Whatever goes to the vault is not seen again, so the person may look at it first. */
async function agreesToMove({ io, signal, screen }: Invocation, movable: readonly Movable[]): Promise<boolean> {
  if (!isInteractive(io) || screen.isJson) return false
  for (const { id, secret } of movable) screen.note(safe`  ${id}: ${secret.where}, ${secret.chars} characters`)
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask(async (terminal) => {
    const prompts = new Prompts({ ...io, terminal }, signal)
    // What is written elsewhere waits until the question is answered.
    const here = new Screen({ ...io, terminal })
    for (let isShown = false; ; isShown = true) {
      const next = await prompts.choose(
        'These look like secrets. Move them to the vault?',
        [
          { value: 'move', label: 'Move them; placeholders take their place in the list of servers' },
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
    // Not as a table: a command is shown to its end.
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
  if (chosen.length === 0) return screen.note(safe`Nothing was taken over. Give names, or --all.`)
  const wanted = servers.flatMap(({ spec }) => (chosen.includes(spec.id) ? [spec] : []))
  const specs = await movedSecrets(invocation, wanted, async (movable) => options.yes ?? agreesToMove(invocation, movable))
  const { added, updated } = await serverFile(hostFolderOf(io)).adopt(specs)
  const told = [countedIds('taken over', added), countedIds('updated', updated)].filter((text) => text !== undefined)
  if (told.length === 0) return screen.note(safe`Nothing is new: all of them were taken over before, as they are now.`)
  screen.note(safe`${told.join('; ')}. Each is asked about before it is started.`)
}

const countedIds = (what: string, specs: readonly ServerSpec[]): string | undefined =>
  specs.length === 0 ? undefined : `${specs.length} ${what}: ${specs.map(({ id }) => id).join(', ')}`

async function choose({ io, signal }: Invocation, ids: readonly string[]): Promise<string[]> {
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask((terminal) =>
    new Prompts({ ...io, terminal }, signal).chooseSeveral(
      'Take over',
      ids.map((id) => ({ value: id, label: id })),
      [],
    ),
  )
}

async function listAction(invocation: Invocation, { whole }: { whole?: true }): Promise<void> {
  const { screen } = invocation
  const servers = await configuredServers(invocation)
  if (screen.isJson)
    return screen.printJson(
      servers.map((spec) => ({ id: spec.id, title: spec.title, where: shownTransport(spec, whole), tier: spec.tier, from: fromOf(spec) })),
    )
  if (servers.length === 0) return screen.note(safe`There are none yet: portico servers add NAME URL, or portico servers import`)
  const rows = servers.map((spec) => [spec.id, spec.isDisabled ? 'disabled' : spec.tier, fromOf(spec), shownTransport(spec, whole)])
  screen.print(
    table(
      [{ title: 'SERVER', style: 'bold' }, { title: 'TRUST' }, { title: 'FROM' }, { title: 'HOW' }],
      rows,
      screen.style,
      screen.columns,
    ),
  )
}

/** Whole but for the values of options that take a secret, of which the length is shown. */
const shownTransport = (spec: ServerSpec, isWhole: boolean = false): string => describeTransport(isWhole ? spec : withoutPlainSecrets(spec))

const filesOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string[] => provenance.map(({ file }) => file)

/** What could go to the vault is folded to its length, as in the command. The question about the start shows all of it. */
function shownVariables(spec: ServerSpec, isWhole: boolean = false): Record<string, string> {
  const { transport } = isWhole ? spec : withoutPlainSecrets(spec)
  return transport.type === 'stdio' ? transport.env : {}
}

const warningsOf = ({ transport }: ServerSpec): string[] => (transport.type === 'stdio' ? variableWarnings(transport.env) : [])

const fromOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string => provenance.map(describeProvenance).join('; ')

const describeProvenance = ({ client, scope }: Provenance): string => (scope === 'ours' ? 'here' : `${client}, ${scope}`)

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
  screen.note(safe`Removed ${name}. What was approved and granted for it stays until you take it back.`)
}
