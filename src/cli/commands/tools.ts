/** `portico tools`: what a server can do, or everything about one tool. */

import type { Command } from 'commander'
import type { Tool } from '../../protocol/model/tools.ts'
import { usageOf } from '../arguments/check.ts'
import type { Frame, Invocation } from '../frame.ts'
import { printValue } from '../output/content.ts'
import type { Screen } from '../output/screen.ts'
import { untrustedLines, words } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { withSession } from '../target/session.ts'
import { takeTarget } from '../target/target.ts'
import { findTool } from './call.ts'

export function registerTools(program: Command, frame: Frame): void {
  addTargetOptions(
    program
      .command('tools')
      .summary('list the tools of a server, or show one')
      .description('Lists the tools of a server, or shows everything about one: its whole description and its schemas.')
      .argument('[server]')
      .argument('[tool]')
      .usage('[options] <server> [tool] | [tool] -- command...'),
  )
    .option('--json', 'write JSON')
    .action(frame.action(toolsAction, { takesCommand: true }))
}

async function toolsAction(
  invocation: Invocation,
  first: string | undefined,
  second: string | undefined,
  options: TargetOptions,
): Promise<void> {
  const given = [first, second].filter((word) => word !== undefined)
  const { target, rest } = takeTarget(given, invocation.after)
  await withSession(invocation, target, options, async (session) => {
    const [name] = rest
    if (name === undefined) return printTools(invocation.screen, await session.tools())
    const tool = await findTool(session, name)
    if (invocation.screen.isJson) return invocation.screen.printJson(tool)
    printTool(invocation.screen, tool)
  })
}

export function printTools(screen: Screen, tools: readonly Tool[]): void {
  if (screen.isJson) return screen.printJson(tools)
  if (tools.length === 0) return screen.note(words`It has no tools.`)
  const rows = tools.map((tool) => [tool.name, hintsOf(tool), firstLine(tool.description ?? tool.title)])
  screen.print(table([{ title: 'TOOL', style: 'bold' }, { title: 'SAYS' }, { title: 'WHAT IT DOES' }], rows, screen.style, screen.columns))
}

export function printTool(screen: Screen, tool: Tool): void {
  const { style } = screen
  screen.print(words`${style.bold(tool.name)}${tool.title === undefined ? '' : words` ${style.dim(tool.title)}`}`)
  if (tool.description !== undefined) screen.print(untrustedLines(tool.description))
  screen.print(words`\n${style.dim('usage')} ${usageOf(tool)}`)
  const hints = hintsOf(tool)
  if (hints !== '') screen.print(words`${style.dim('says of itself')} ${hints}`)
  screen.print(words`\n${style.dim('input')}`)
  printValue(screen, tool.inputSchema)
  if (tool.outputSchema === undefined) return
  screen.print(words`\n${style.dim('output')}`)
  printValue(screen, tool.outputSchema)
}

/** Hints of the server about itself. */
const hintsOf = ({ annotations = {} }: Tool): string =>
  [
    annotations.readOnlyHint === true ? 'reads only' : '',
    annotations.destructiveHint === true && annotations.readOnlyHint !== true ? 'destroys' : '',
    annotations.openWorldHint === true ? 'goes outside' : '',
  ]
    .filter((hint) => hint !== '')
    .join(', ')

export const firstLine = (text: unknown): string => (typeof text === 'string' ? (text.trim().split('\n', 1)[0] ?? '') : '')
