/** `portico call`: one tool, with arguments that are checked before they are sent. */

import type { Command } from 'commander'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import { assign, parseJson } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import type { ExitName } from '../exit-codes.ts'
import { Interrupted, UsageError, unknownName } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { printResult } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import { ProgressBar } from '../output/progress.ts'
import { words } from '../output/shown.ts'
import { readAll } from '../read-all.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { type Session, withSession } from '../target/session.ts'
import { takeTargetAndName } from '../target/target.ts'

interface CallCommandOptions extends TargetOptions {
  args?: string
  save?: string
  loose?: true
  progress: boolean
}

export function registerCall(program: Command, frame: Frame): void {
  addTargetOptions(
    program
      .command('call')
      .summary('call a tool')
      .description(
        'Calls a tool. Write SERVER/TOOL for a configured server, URL TOOL for a server at a URL, or TOOL ... -- COMMAND for a program.\n' +
          'Arguments: key=value (by the schema: text, number, true/false, one of a choice; repeat it for a list), a.b=value for a member,\n' +
          "key:=JSON for any value, key=@FILE for what is in a file. --json '{...}' or --args gives them as a whole.",
      )
      .argument('<server/tool>')
      .argument('[key=value...]')
      .usage('[options] <server/tool> [key=value...] [-- command...]'),
  )
    .option('--args <json>', 'arguments as JSON; @FILE for a file, - for standard input')
    .option('--save <folder>', 'save pictures and sounds there')
    .option('--loose', 'send arguments that do not fit the schema')
    .option('--no-progress', 'show no progress')
    .option('--json', 'write the result as JSON; followed by {...}, those are the arguments')
    .action(frame.action(callAction, { takesCommand: true }))
}

async function callAction(invocation: Invocation, first: string, others: string[], options: CallCommandOptions): Promise<ExitName> {
  const { target, name, rest } = takeTargetAndName([first, ...others], invocation.after, 'tool')
  return withSession(invocation, target, options, async (session) => {
    const tool = await findTool(session, name)
    const start = await wholeArguments(invocation, options.args)
    const args = await assign(rest, { schema: tool.inputSchema, cwd: invocation.io.cwd, isLoose: options.loose === true }, start)
    if (!options.loose) await checkArguments(tool, args, (why) => invocation.screen.note(words`The arguments are sent unchecked: ${why}`))
    return callTool(invocation, session, tool.name, args, options)
  })
}

/** Calls it, shows how far it is, and prints what came. Ctrl-C tells the server. */
export async function callTool(
  invocation: Invocation,
  session: Pick<Session, 'call'>,
  name: string,
  args: Record<string, unknown>,
  options: { save?: string; progress?: boolean },
): Promise<ExitName> {
  const { io, screen, signal } = invocation
  const bar = new ProgressBar(screen, name, { isQuiet: options.progress === false || screen.isJson })
  try {
    const result = await session.call(name, args, { signal, onProgress: bar.onProgress })
    bar.end()
    if (screen.isJson) screen.printJson(result)
    else await printResult({ io, screen }, result, new MediaFolder(io, { folder: options.save }), name)
    if (result.isError !== true) return 'ok'
    screen.note(words`${screen.noteStyle.red('✗')} The tool ${name} failed`)
    return 'failed'
  } catch (error) {
    bar.end()
    if (signal.aborted) throw new Interrupted(`Cancelled: ${name} was told to stop`)
    throw error
  }
}

export async function findTool(session: Pick<Session, 'title' | 'tools' | 'isWithheld'>, name: string): Promise<Tool> {
  const tools = await session.tools()
  const tool = tools.find((each) => each.name === name)
  if (tool) return tool
  if (session.isWithheld?.(name)) throw new McpError('ERR_QUARANTINED', `${name} is not in use: it is new, or not what was approved`)
  throw unknownName(
    'tool',
    name,
    tools.map((each) => each.name),
    `at ${session.title}`,
  )
}

async function wholeArguments({ io }: Invocation, text: string | undefined): Promise<Record<string, unknown>> {
  if (text === undefined) return {}
  const json = text === '-' ? await readAll(io.stdin) : text
  const whole = json.startsWith('@') ? (await assign([`args:=${json}`], { schema: {}, cwd: io.cwd })).args : parseJson('arguments', json)
  if (!isObject(whole)) throw new UsageError(`The arguments must be a JSON object, not ${json.slice(0, 60)}`)
  return whole
}
