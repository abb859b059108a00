/** `portico call`: one tool, with arguments that are checked before they are sent. */

import type { Command } from 'commander'
import { isObject } from '../../base/json.ts'
import { assign, parseJson } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { readAll } from '../read-all.ts'
import { addTargetOptions, type TargetOptions } from '../server/options.ts'
import { withSession } from '../server/session.ts'
import { parseTargetAndName } from '../server/target.ts'
import { callTool, findTool } from '../server/tool-call.ts'

interface CallCommandOptions extends TargetOptions {
  args?: string
  save?: string
  loose?: true
  progress: boolean
}

export function registerCall(program: Command, runner: CommandRunner): void {
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
    .action(runner.action(callAction, { takesCommand: true }))
}

async function callAction(invocation: Invocation, first: string, others: string[], options: CallCommandOptions): Promise<ExitName> {
  const { target, name, rest } = parseTargetAndName([first, ...others], invocation.after, 'tool')
  return withSession(invocation, target, options, async (session) => {
    const tool = await findTool(session, name)
    const start = await wholeArguments(invocation, options.args)
    const args = await assign(rest, { schema: tool.inputSchema, cwd: invocation.io.cwd, isLoose: options.loose === true }, start)
    if (!options.loose) await checkArguments(tool, args, (why) => invocation.screen.note(safe`The arguments are sent unchecked: ${why}`))
    return callTool(invocation, session, tool.name, args, options)
  })
}

async function wholeArguments({ io }: Invocation, text: string | undefined): Promise<Record<string, unknown>> {
  if (text === undefined) return {}
  const json = text === '-' ? await readAll(io.stdin) : text
  const whole = json.startsWith('@') ? (await assign([`args:=${json}`], { schema: {}, cwd: io.cwd })).args : parseJson('arguments', json)
  if (!isObject(whole)) throw new UsageError(`The arguments must be a JSON object, not ${json.slice(0, 60)}`)
  return whole
}
