/** `portico prompts` and `portico get`: lists prompts, and gets one. */

import type { Command } from 'commander'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { printPrompts } from '../connections/listings.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { getPrompt } from '../connections/prompt.ts'
import { withSession } from '../connections/session.ts'
import { parseTarget, parseTargetAndName } from '../connections/target.ts'
import { MediaFolder } from '../output/media.ts'

export function registerPrompts(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program.command('prompts').summary('list the prompts of a server').description('Lists the prompts of a server.').argument('[server]'),
  )
    .usage('[options] <server> | -- command...')
    .option('--json', 'write JSON')
    .action(runner.action(promptsAction, { takesCommand: true }))
}

export function registerGet(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('get')
      .summary('get a prompt')
      .description('Gets a prompt with its arguments filled in.')
      .argument('<server/prompt>')
      .argument('[key=value...]')
      .usage('[options] <server/prompt> [key=value...] [-- command...]'),
  )
    .option('--save <folder>', 'save images and audio in this folder')
    .option('--json', 'write JSON')
    .action(runner.action(getAction, { takesCommand: true }))
}

async function promptsAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<void> {
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  await withSession(invocation, target, options, async (session) => printPrompts(invocation.screen, await session.prompts()))
}

interface GetOptions extends TargetOptions {
  save?: string
}

async function getAction(invocation: Invocation, first: string, others: string[], options: GetOptions): Promise<void> {
  const { target, name, rest } = parseTargetAndName([first, ...others], invocation.after, 'prompt')
  await withSession(invocation, target, options, (session) =>
    getPrompt(invocation, session, name, rest, new MediaFolder(invocation.io, { folder: options.save })),
  )
}
