/** `portico run -- COMMAND`: try a server. Says who it is and what it has; on a terminal one can go on from there. */

import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { ExitName } from '../exit-codes.ts'
import { UsageError } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { isInteractive } from '../io.ts'
import { untrustedLines, words } from '../output/shown.ts'
import { splitWords } from '../split-words.ts'
import { withClient } from '../target/connect.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { type Session, sessionOf } from '../target/session.ts'
import { takeTarget } from '../target/target.ts'
import { personalAnswers } from '../terminal/answers.ts'
import { printPrompts } from './prompts.ts'
import { printResources } from './resources.ts'
import { printTools } from './tools.ts'
import { obeySession, printCommands, SESSION_COMMANDS, takeCommands } from './typed.ts'

export function registerRun(program: Command, frame: Frame): void {
  addTargetOptions(
    program
      .command('run')
      .summary('try a server: who it is, what it has, and a prompt to use it')
      .description('Connects to a server, says who it is, lists what it has, and on a terminal takes commands.')
      .argument('[server]')
      .usage('[options] -- command... | <url>'),
  )
    .option('--json', 'write JSON, and take no commands')
    .action(frame.action(runAction, { takesCommand: true }))
}

async function runAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<ExitName> {
  const { target } = takeTarget(server === undefined ? [] : [server], invocation.after)
  const { screen, io } = invocation
  return withClient<ExitName>(
    invocation,
    target,
    options,
    async (client) => {
      const session = sessionOf(client)
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
    { answer: await personalAnswers(invocation, target) },
  )
}

function printServer({ screen }: Invocation, client: Client): void {
  const { info, instructions } = client.server
  const { style } = screen
  screen.print(words`${style.green('✓')} ${style.bold(info.title ?? info.name)} ${info.version} ${style.dim(`speaks ${client.revision}`)}`)
  if (info.description !== undefined) screen.print(untrustedLines(info.description).indented(2))
  if (instructions !== undefined)
    screen.print(words`${style.dim('instructions for the model:')}\n${untrustedLines(instructions).indented(2)}`)
  screen.print()
}

const COMMANDS: typeof SESSION_COMMANDS = [...SESSION_COMMANDS, ['quit', 'or q, or Ctrl-D']]

async function converse(invocation: Invocation, session: Session): Promise<ExitName> {
  const { screen } = invocation
  screen.note(words`\n${screen.noteStyle.dim('help lists what can be typed, q quits')}`)
  return takeCommands(invocation, async (step, line) => {
    const typed = splitWords(line)
    if (typed[0] === 'help' || typed[0] === '?') return printCommands(invocation, COMMANDS)
    if (!(await obeySession(step, session, typed)))
      throw new UsageError(`There is no command ${JSON.stringify(typed[0])}`, 'help lists them')
  })
}
