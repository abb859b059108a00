/** `portico console`: a new link to the console that runs. */

import type { Command } from 'commander'
import { McpError } from '../../client/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { UsageError } from '../errors.ts'
import { safe } from '../output/safe-text.ts'
import { runningConsole, socketOf } from '../up/running-console.ts'

export function registerConsole(program: Command, runner: CommandRunner): void {
  program
    .command('console')
    .summary('print a new link to the running console')
    .description('Prints a new link to the console of the portico that runs. A link works once, within 5 minutes.')
    .option('--json', 'write the link, the address and the process as JSON')
    .action(runner.action((invocation: Invocation) => printLink(invocation)))
}

async function printLink({ io, screen }: Invocation): Promise<void> {
  const folder = hostFolderOf(io)
  if (socketOf(folder) === undefined)
    throw new UsageError(`The folder of the host has a path that is too long for a socket: ${folder}`, 'Set PORTICO_HOME to a shorter one')
  const running = await runningConsole(folder, 'link')
  if (running?.link === undefined) throw new McpError('ERR_CLOSED', 'No console is running. Start one with "portico"')
  if (screen.isJson) screen.printJson(running)
  else screen.print(safe`${running.link}`)
}
