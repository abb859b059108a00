/** `portico run -- COMMAND`: shows what a server offers, then takes commands in a terminal. */

import type { Command } from 'commander'
import type { Client } from '../../client/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { withClient } from '../connections/connect.ts'
import { withDirect } from '../connections/direct.ts'
import { printPrompts, printResources, printTools } from '../connections/listings.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { clientSession, type Session } from '../connections/session.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import { printCommands, readCommands, runSessionCommand, SESSION_COMMANDS } from '../shell/session-commands.ts'
import { splitWords } from '../split-words.ts'
import { personalAnswers } from '../terminal/answers.ts'

export function registerRun(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('run')
      .summary('try a server interactively')
      .description('Connects to a server, shows its name and what it offers, and takes commands in a terminal.')
      .argument('[server]')
      .usage('[options] -- command... | <url> | <name>'),
  )
    .option('--json', 'write JSON, and take no commands')
    .action(runner.action(runAction, { takesCommand: true }))
}

async function runAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<ExitName> {
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  const { screen, io } = invocation
  return withDirect(invocation, target, options, async (direct) =>
    withClient<ExitName>(
      invocation,
      direct,
      async (client) => {
        const session = clientSession(client)
        const [tools, offered, prompts] = [await session.tools(), await session.resources(), await session.prompts()]
        if (screen.isJson) {
          screen.printJson({ revision: client.revision, ...client.server, tools, ...offered, prompts })
          return 'ok'
        }
        printServer(invocation, client)
        printTools(screen, tools)
        if (offered.resources.length + offered.resourceTemplates.length > 0) {
          screen.print()
          printResources(screen, offered)
        }
        if (prompts.length > 0) {
          screen.print()
          printPrompts(screen, prompts)
        }
        return isInteractive(io) ? converse(invocation, session) : 'ok'
      },
      { answer: await personalAnswers(invocation, direct.title) },
    ),
  )
}

function printServer({ screen }: Invocation, client: Client): void {
  const { info, instructions } = client.server
  const { style } = screen
  screen.print(safe`${style.green('✓')} ${style.bold(info.title ?? info.name)} ${info.version} ${style.dim(`revision ${client.revision}`)}`)
  if (info.description !== undefined) screen.print(untrustedLines(info.description).indented(2))
  if (instructions !== undefined)
    screen.print(safe`${style.dim('instructions for the model:')}\n${untrustedLines(instructions).indented(2)}`)
  screen.print()
}

const COMMANDS: typeof SESSION_COMMANDS = [...SESSION_COMMANDS, ['quit', 'leave (also: q, Ctrl-D)']]

async function converse(invocation: Invocation, session: Session): Promise<ExitName> {
  const { screen } = invocation
  screen.note(safe`\n${screen.noteStyle.dim('Type "help" for a list of commands, "q" to quit.')}`)
  return readCommands(invocation, async (step, line) => {
    const typed = splitWords(line)
    if (typed[0] === 'help' || typed[0] === '?') return printCommands(invocation, COMMANDS)
    if (await runSessionCommand(step, session, typed)) return
    // The name of a tool alone calls it.
    const isTool = (await session.tools()).some(({ name }) => name === typed[0])
    if (!isTool || !(await runSessionCommand(step, session, ['call', ...typed])))
      throw new UsageError(`Unknown command ${JSON.stringify(typed[0])}`, 'Type "help" for a list of commands')
  })
}
