/** `portico tools`: lists the tools of a server, or shows one in full. */

import type { Command } from 'commander'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { printTool, printTools } from '../connections/listings.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { withSession } from '../connections/session.ts'
import { parseTarget } from '../connections/target.ts'
import { findTool } from '../connections/tool-call.ts'

export function registerTools(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('tools')
      .summary('list the tools of a server, or show one')
      .description('Lists the tools of a server, or shows one tool with its full description and schemas.')
      .argument('[server]')
      .argument('[tool]')
      .usage('[options] <server> [tool] | [tool] -- command...'),
  )
    .option('--json', 'write JSON')
    .action(runner.action(toolsAction, { takesCommand: true }))
}

async function toolsAction(
  invocation: Invocation,
  first: string | undefined,
  second: string | undefined,
  options: TargetOptions,
): Promise<void> {
  const given = [first, second].filter((word) => word !== undefined)
  const { target, rest } = parseTarget(given, invocation.after)
  await withSession(invocation, target, options, async (session) => {
    const [name] = rest
    if (name === undefined) return printTools(invocation.screen, await session.tools())
    const tool = await findTool(session, name)
    if (invocation.screen.isJson) return invocation.screen.printJson(tool)
    printTool(invocation.screen, tool)
  })
}
