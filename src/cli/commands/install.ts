/** `portico install` and `uninstall`: put a server into the file of another client, and take it out again. */

import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { commandText } from '../../base/text/command-text.ts'
import { isSecretName, redactText } from '../../base/text/redact.ts'
import { Client } from '../../client/index.ts'
import { clientConfigPlaces, countOffering } from '../../host/index.ts'
import { modulePath } from '../authoring/server-module.ts'
import { readClientFile, realFile, undo, undoable, writeClientFile } from '../clients/client-file.ts'
import { entryNames, withEntry } from '../clients/edit-json.ts'
import { CLIENT_NAMES, type ClientName, type InstalledServer, KNOWN_CLIENTS, type KnownClient } from '../clients/known-clients.ts'
import { lineDiff } from '../clients/line-diff.ts'
import { commandFor, withFullPaths } from '../clients/server-command.ts'
import { isSnippetClient, SNIPPET_CLIENTS, type SnippetClient } from '../clients/snippets.ts'
import { commandName } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { connectOptions, targetFor } from '../connections/connect.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'

interface FileOptions {
  client: string
  project?: true
  yes?: true
}

interface InstallOptions extends TargetOptions, FileOptions {
  name?: string
  check: boolean
}

const addFileOptions = (command: Command): Command =>
  command
    .option('-c, --client <name>', `the client: ${ALL_CLIENTS.join(', ')}`)
    .option('--project', 'use the file of the project in this folder, not the one of the user')
    .option('-y, --yes', 'write without asking')

export function registerInstall(program: Command, runner: CommandRunner): void {
  const command = program
    .command('install')
    .summary('put a server into the file of another client')
    .description(
      'Adds a server to the file in which a client such as Claude Desktop keeps its servers: the server that a module exports, a URL,\n' +
        'or a command after --. Shows the change and asks before it writes. "portico uninstall --undo" restores the file.',
    )
    .argument('[file or url]')
    .usage('[options] <file> | <url> | -- command...')
    .addHelpText(
      'after',
      '\nExamples:\n  portico install ./server.ts --client claude-desktop\n  portico install ./server.ts --client vscode --project\n  portico install --name files --client cursor -- npx -y some-server ~/docs',
    )
  addTargetOptions(addFileOptions(command))
    .option('--name <name>', 'the name of the server in the file. Default: the name that the server gives itself')
    .option('--no-check', 'do not start the server first to see whether it works')
    .action(runner.action(installAction, { takesCommand: true }))
}

export function registerUninstall(program: Command, runner: CommandRunner): void {
  const command = program
    .command('uninstall')
    .summary('take a server out of the file of another client')
    .description('Removes a server from the file of a client, or undoes the last change that Portico made to the file.')
    .argument('[name]')
    .usage('[options] <name> | --undo')
    .addHelpText('after', '\nExamples:\n  portico uninstall greeter --client cursor\n  portico uninstall --undo --client cursor')
  addFileOptions(command).option('--undo', 'restore the file as it was before the last change').action(runner.action(uninstallAction))
}

const ALL_CLIENTS: readonly string[] = [...CLIENT_NAMES, ...Object.keys(SNIPPET_CLIENTS)]

const scopeOf = ({ project }: FileOptions): 'user' | 'project' => (project ? 'project' : 'user')

/** Where the client keeps its servers. */
async function fileOf(io: Invocation['io'], title: string, options: FileOptions): Promise<string> {
  const scope = scopeOf(options)
  const places = await clientConfigPlaces({
    home: io.home,
    project: io.cwd,
    ...(io.env.APPDATA !== undefined && { appData: io.env.APPDATA }),
  })
  const place = places.find((each) => each.client === title && each.scope === scope)
  if (!place) throw new UsageError(`${title} has no file for a ${scope}`, options.project ? 'Leave out --project' : undefined)
  return place.file
}

/** Prints what to paste, for a client whose file is not JSON. */
async function printSnippet(
  invocation: Invocation,
  given: string | undefined,
  options: InstallOptions,
  client: SnippetClient,
): Promise<ExitName> {
  const { io, screen } = invocation
  const file = await fileOf(io, client.title, options)
  const server = await serverFor(invocation, given, options, scopeOf(options))
  const ownName = await checked(invocation, server, options)
  const name = options.name ?? ownName
  if (name === undefined) throw new UsageError('Missing --name', 'Give the server a name in the file')
  screen.note(safe`Portico does not write the file of ${client.title}, because it is not JSON. ${client.where} ${file}:`)
  for (const line of client.lines(name, server)) screen.printWhole(safe`${line}`)
  return 'ok'
}

/** One file of one client. */
interface ClientFile {
  client: KnownClient
  scope: 'user' | 'project'
  file: string
  /** The file behind links. */
  real: string
  member: string
}

async function clientFile({ io }: Invocation, options: FileOptions): Promise<ClientFile> {
  if (!Object.hasOwn(KNOWN_CLIENTS, options.client)) throw unknownName('client', options.client, ALL_CLIENTS)
  const client: KnownClient = KNOWN_CLIENTS[options.client as ClientName]
  const scope = scopeOf(options)
  const file = await fileOf(io, client.title, options)
  const real = await realFile(file)
  // Other people may have written the project, and its links can point to any file.
  if (scope === 'project' && !real.startsWith(join(await realpath(io.cwd), sep)))
    throw new UsageError(`${file} is a link to ${real}, which is outside the project`, 'Remove the link, or leave out --project')
  // If only the home folder is a link, the file itself is not one.
  const isLinked =
    real !== join(await realFile(scope === 'project' ? io.cwd : io.home), relative(scope === 'project' ? io.cwd : io.home, file))
  return { client, scope, file, real: isLinked ? real : file, member: client.member }
}

/** Commander's own error for a missing option does not say which clients there are. */
function checkClient(client: string | undefined): void {
  if (client === undefined) throw new UsageError('Missing --client NAME', `Available: ${ALL_CLIENTS.join(', ')}`)
}

async function installAction(invocation: Invocation, given: string | undefined, options: InstallOptions): Promise<ExitName> {
  const { screen } = invocation
  checkClient(options.client)
  if (isSnippetClient(options.client)) return printSnippet(invocation, given, options, SNIPPET_CLIENTS[options.client])
  const place = await clientFile(invocation, options)
  const server = await serverFor(invocation, given, options, place.scope)
  const entry = place.client.entry(server)
  if (!entry) throw new UsageError(`${place.client.title} starts programs only; its file takes no URL`, 'Add the URL in its settings')
  const ownName = await checked(invocation, server, options)
  const name = options.name ?? ownName
  if (name === undefined) throw new UsageError('Missing --name', 'Give the server a name in the file')
  const before = await readClientFile(place.file)
  const after = withEntry(before ?? '', place, name, entry)
  if (after === before) {
    screen.note(safe`${place.client.title} has this server already: ${name} in ${place.file}`)
    return 'ok'
  }
  const isReplaced = entryNames(before ?? '', place).includes(name)
  if (isReplaced && options.name === undefined)
    throw new UsageError(
      `${place.file} has another server with the name ${JSON.stringify(name)}`,
      `To replace it: --name ${name}. To keep both: --name with another name`,
    )
  for (const variable of Object.keys(options.env))
    screen.note(safe`${screen.noteStyle.yellow('!')} The value of ${variable} is written to ${place.file} as plain text`)
  if (!(await isAgreed(invocation, place, before ?? '', after, options))) return notWritten(invocation)
  await writeClientFile(invocation.io, place.file, before, after)
  screen.note(
    safe`${screen.noteStyle.green('✓')} ${isReplaced ? 'Replaced' : 'Added'} ${name} ${isReplaced ? 'in' : 'to'} ${place.file}. ${place.client.then}`,
  )
  screen.note(
    safe`  ${screen.noteStyle.dim(`Undo: ${commandName(invocation.io)} uninstall --undo --client ${options.client}${options.project ? ' --project' : ''}`)}`,
  )
  return 'ok'
}

async function uninstallAction(
  invocation: Invocation,
  name: string | undefined,
  options: FileOptions & { undo?: true },
): Promise<ExitName> {
  const { io, screen } = invocation
  checkClient(options.client)
  if (isSnippetClient(options.client)) {
    const { title } = SNIPPET_CLIENTS[options.client]
    throw new UsageError(
      `Portico does not write the file of ${title}`,
      `Remove the entry from ${await fileOf(io, title, options)} yourself`,
    )
  }
  const place = await clientFile(invocation, options)
  if (options.undo) {
    if (name !== undefined) throw new UsageError('--undo takes no name')
    const { now, before } = await undoable(io, place.file)
    if (!(await isAgreed(invocation, place, now, before ?? '', options))) return notWritten(invocation)
    await undo(io, place.file)
    screen.note(safe`${screen.noteStyle.green('✓')} ${before === null ? 'Removed' : 'Restored'} ${place.file}.`)
    return 'ok'
  }
  if (name === undefined) throw new UsageError('Missing name', 'Give the name of the server, or --undo')
  const before = (await readClientFile(place.file)) ?? ''
  const names = entryNames(before, place)
  if (!names.includes(name)) throw unknownName('server', name, names, `in ${place.file}`)
  const after = withEntry(before, place, name, undefined)
  if (!(await isAgreed(invocation, place, before, after, options))) return notWritten(invocation)
  await writeClientFile(io, place.file, before, after)
  screen.note(safe`${screen.noteStyle.green('✓')} Removed ${name} from ${place.file}.`)
  return 'ok'
}

async function serverFor(
  { io, after }: Invocation,
  given: string | undefined,
  options: InstallOptions,
  scope: ClientFile['scope'],
): Promise<InstalledServer> {
  if (after !== undefined && given !== undefined) throw new UsageError(`Give ${JSON.stringify(given)} or a command after --, not both`)
  if (after === undefined && given === undefined) throw new UsageError('Missing server', 'Give a file, a URL, or a command after --')
  const { target } = parseTarget(given === undefined ? [] : [given], after)
  if (target.kind === 'url') return { kind: 'url', url: target.url, headers: options.header }
  if (target.kind === 'command') {
    // Clients start the server of a project in its folder, and other servers anywhere.
    const named = (words: readonly string[]) => (scope === 'project' ? words : withFullPaths(words, resolve(io.cwd, options.cwd ?? '')))
    const [command = target.command, ...args] = named([target.command, ...target.args])
    return { kind: 'command', command, args, env: options.env }
  }
  return commandFor(await modulePath(io.cwd, target.id), scope, io.cwd, options.env)
}

/** Starts the server as the client will, so that an error appears here and not there. Returns its own name. */
async function checked(invocation: Invocation, server: InstalledServer, options: InstallOptions): Promise<string | undefined> {
  if (server.kind === 'url' || !options.check) return undefined
  const { screen, io } = invocation
  const { command, args, env } = server
  const direct = {
    title: commandText(command, args),
    target: { kind: 'command' as const, command, args },
    options: { ...options, env: { ...env }, cwd: options.cwd ?? io.cwd },
    scrub: (text: string) => text,
  }
  const client = await Client.connect(await targetFor(invocation, direct), connectOptions(invocation, options))
  try {
    const { info } = client.server
    screen.note(safe`${screen.noteStyle.green('✓')} It works: ${info.title ?? info.name} ${info.version}, ${await countOffering(client)}`)
    return info.name
  } finally {
    await client.close()
  }
}

/** Shows the change and asks, unless `--yes` was given. */
async function isAgreed(invocation: Invocation, place: ClientFile, before: string, after: string, { yes }: FileOptions): Promise<boolean> {
  const { io, screen, signal } = invocation
  screen.note(safe`${screen.noteStyle.bold(place.file)}${place.real === place.file ? '' : ` (a link to ${place.real})`}`)
  for (const { sign, text } of lineDiff(before, after)) {
    const style = sign === '+' ? screen.noteStyle.green : sign === '-' ? screen.noteStyle.red : screen.noteStyle.dim
    // The lines around may contain keys of other servers.
    screen.noteWhole(safe`${style(`${sign} ${withoutSecrets(text)}`)}`)
  }
  if (yes) return true
  if (!isInteractive(io)) return false
  const { confirm } = await import('../terminal/confirm.ts')
  return confirm(io, 'Write this change?', 'write it', signal)
}

function notWritten({ io, screen }: Invocation): ExitName {
  if (isInteractive(io)) {
    screen.note(safe`Nothing was written.`)
    return 'denied'
  }
  screen.note(safe`Nothing was written: use --yes to write without asking.`)
  return 'consent'
}

/** Hides the value of a member with the name of a secret, and whatever else looks like one. */
const withoutSecrets = (line: string): string =>
  redactText(line).replaceAll(/"([^"\\]+)"(\s*:\s*)"(?:[^"\\]|\\.)*"/g, (whole, name: string, colon: string) =>
    isSecretName(name) ? `"${name}"${colon}"[redacted]"` : whole,
  )
