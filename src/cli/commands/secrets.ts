/** `portico secrets`: stores secrets that configurations refer to by name. */

import type { Command } from 'commander'
import { openVault, type Vault } from '../../host/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { unknownName } from '../errors.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { readAll } from '../read-all.ts'

export function registerSecrets(program: Command, runner: CommandRunner): void {
  const secrets = program
    .command('secrets')
    .summary('store secrets')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how it is written in a configuration
    .description('Stores secrets. A configuration refers to one as ${secret:NAME}.')
  secrets
    .command('set')
    .description('Stores a secret. It is typed without being shown, or read from standard input, never from the command line.')
    .argument('<name>')
    .action(runner.action(setAction))
  secrets.command('list').description('Lists the names of stored secrets.').option('--json', 'write JSON').action(runner.action(listAction))
  secrets.command('remove').description('Deletes a secret.').argument('<name>').action(runner.action(removeAction))
}

const vaultOf = ({ io, screen }: Invocation): Promise<Vault> =>
  openVault({ folder: storagePath(io, 'secrets'), onWarning: (text) => screen.note(safe`${screen.noteStyle.yellow('!')} ${text}`) })

async function setAction(invocation: Invocation, name: string): Promise<void> {
  const { io, screen, signal } = invocation
  const vault = await vaultOf(invocation)
  const { Prompts } = await import('../terminal/prompts.ts')
  const value = isInteractive(io)
    ? await io.terminal.ask((terminal) => new Prompts({ ...io, terminal }, signal).hidden(`Value of ${name}`))
    : (await readAll(io.stdin)).replace(/\r?\n$/, '')
  await vault.set(name, value)
  screen.note(safe`Stored ${name}`)
}

async function listAction(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const names = await (await vaultOf(invocation)).list()
  if (screen.isJson) return screen.printJson(names)
  for (const name of names) screen.print(safe`${name}`)
  if (names.length === 0) screen.note(safe`No secrets.`)
}

async function removeAction(invocation: Invocation, name: string): Promise<void> {
  const vault = await vaultOf(invocation)
  const names = await vault.list()
  if (!names.includes(name)) throw unknownName('secret', name, names)
  await vault.delete(name)
  invocation.screen.note(safe`Deleted ${name}`)
}
