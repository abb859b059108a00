/** `portico run -- COMMAND`: try a server. Says who it is and what it has; on a terminal one can go on from there. */

import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { assign } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import { explain, UsageError } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { isInteractive } from '../io.ts'
import { printContents } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import { untrustedLines, words } from '../output/shown.ts'
import { splitWords } from '../split-words.ts'
import { withClient } from '../target/connect.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { type Session, sessionOf } from '../target/session.ts'
import { takeTarget } from '../target/target.ts'
import { personalAnswers } from '../terminal/answers.ts'
import { LineTerminal } from '../terminal/line-terminal.ts'
import { callTool, findTool } from './call.ts'
import { printPrompts } from './prompts.ts'
import { printResources } from './resources.ts'
import { printTool, printTools } from './tools.ts'

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

async function runAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<void> {
  const { target } = takeTarget(server === undefined ? [] : [server], invocation.after)
  const { screen, io } = invocation
  await withClient(
    invocation,
    target,
    options,
    async (client) => {
      const session = sessionOf(client)
      const [tools, offered, prompts] = [await session.tools(), await session.resources(), await session.prompts()]
      if (screen.isJson) return screen.printJson({ revision: client.revision, ...client.server, tools, ...offered, prompts })
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
      if (isInteractive(io)) await converse(invocation, session)
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

const HELP = 'call TOOL key=value ... · tools [TOOL] · resources · read URI · prompts · quit'

/** Commands one after another, until the person has enough. */
async function converse(invocation: Invocation, session: Session): Promise<void> {
  const { screen } = invocation
  screen.note(words`\n${screen.noteStyle.dim(HELP)}`)
  const terminal = new LineTerminal(invocation.io, '> ')
  for (;;) {
    const line = await terminal.read(invocation.signal)
    if (line === undefined || /^\s*(?:quit|exit|q)\s*$/.test(line)) return
    await obey(invocation, session, line).catch((error: unknown) => {
      const { message, hint } = explain(error)
      screen.note(words`${screen.noteStyle.red('✗')} ${message}`)
      if (hint) screen.note(words`  ${screen.noteStyle.dim(hint)}`)
    })
  }
}

async function obey(invocation: Invocation, session: Session, line: string): Promise<void> {
  const { io, screen, signal } = invocation
  const [verb, first, ...rest] = splitWords(line)
  switch (verb) {
    case undefined:
      return
    case 'tools':
      return first === undefined ? printTools(screen, await session.tools()) : printTool(screen, await findTool(session, first))
    case 'resources':
      return printResources(screen, await session.resources())
    case 'prompts':
      return printPrompts(screen, await session.prompts())
    case 'read': {
      if (first === undefined) throw new UsageError('read needs a URI')
      const { contents } = await session.read(first, { signal })
      for (const each of contents) await printContents(invocation, each, new MediaFolder(io), 'resource')
      return
    }
    case 'call': {
      if (first === undefined) throw new UsageError('call needs a tool')
      const tool = await findTool(session, first)
      const args = await assign(rest, { schema: tool.inputSchema, cwd: io.cwd })
      await checkArguments(tool, args, () => {})
      await callTool(invocation, session, tool.name, args, {})
      return
    }
    default:
      throw new UsageError(`There is no command ${JSON.stringify(verb)}`, HELP)
  }
}
