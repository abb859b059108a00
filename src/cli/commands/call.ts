/** `portico call`: calls a tool, after checking its arguments. */

import type { Command } from 'commander'
import { isObject } from '../../base/json.ts'
import { openPins } from '../../host/index.ts'
import { assign, parseJson } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { withSession } from '../connections/session.ts'
import { isAssignment, parseTargetAndName } from '../connections/target.ts'
import { callTool, findTool } from '../connections/tool-call.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { readAll } from '../read-all.ts'

interface CallCommandOptions extends TargetOptions {
  args?: string
  save?: string
  validate: boolean
  progress: boolean
  task?: true
  wait?: true
}

export function registerCall(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('call')
      .summary('call a tool')
      .description(
        'Calls a tool: SERVER/TOOL of a configured server, URL TOOL, or TOOL ... -- COMMAND.\n' +
          'Arguments: key=value (converted to the type in the schema; repeat the key for a list), a.b=value for a member of an object,\n' +
          "key:=JSON for any value, key=@FILE for the content of a file. --args '{...}' gives all arguments as one object.",
      )
      .argument('<server/tool>')
      .argument('[key=value...]')
      .usage('[options] <server/tool> [key=value...] [-- command...]'),
  )
    .option('--args <json>', 'all arguments as JSON; @FILE reads a file, - standard input')
    .option('--save <folder>', 'save images and audio in this folder')
    .option('--no-validate', 'skip schema validation of the arguments')
    .option('--no-progress', 'do not show progress')
    .option('--task', 'run the call of a configured server as a task: print its id and end ("portico tasks")')
    .option('--wait', 'with --task: wait for the result')
    .option('--json', 'write the result as JSON')
    .action(runner.action(callAction, { takesCommand: true }))
}

async function callAction(invocation: Invocation, first: string, others: string[], options: CallCommandOptions): Promise<ExitName> {
  if (options.wait && !options.task) throw new UsageError('--wait needs --task', 'Without --task the command waits anyway')
  const { target, name, rest } = parseTargetAndName([await withServer(invocation, first, others), ...others], invocation.after, 'tool')
  return withSession(invocation, target, options, async (session) => {
    const tool = await findTool(session, name)
    const start = await wholeArguments(invocation, options.args)
    const args = await assign(rest, { schema: tool.inputSchema, cwd: invocation.io.cwd, allowsUnknown: !options.validate }, start)
    if (options.validate)
      await checkArguments(tool, args, (why) => invocation.screen.note(safe`The arguments are sent without validation: ${why}`))
    if (!options.task) return callTool(invocation, session, tool.name, args, options)
    const { startTask } = await import('../connections/task-call.ts')
    return startTask(invocation, session, tool, args, options)
  })
}

/** `SERVER/TOOL` for the name of a tool alone, if one server has an approved tool of this name. */
async function withServer({ io, after }: Invocation, first: string, [next]: readonly string[]): Promise<string> {
  if (after !== undefined || /[/:]|__/.test(first) || (next !== undefined && !isAssignment(next))) return first
  const pins = (await openPins({ file: storagePath(io, 'pins') })).list()
  const having = pins.flatMap(({ server, items }) => (items.some(({ kind, name }) => kind === 'tool' && name === first) ? [server] : []))
  if (having.length > 1)
    throw new UsageError(`Several servers have a tool ${first}`, `Write one of: ${having.map((id) => `${id}/${first}`).join(', ')}`)
  return having.length === 1 ? `${having[0]}/${first}` : first
}

async function wholeArguments({ io }: Invocation, text: string | undefined): Promise<Record<string, unknown>> {
  if (text === undefined) return {}
  const json = text === '-' ? await readAll(io.stdin) : text
  const whole = json.startsWith('@') ? (await assign([`args:=${json}`], { schema: {}, cwd: io.cwd })).args : parseJson('arguments', json)
  if (!isObject(whole)) throw new UsageError(`Expected the arguments as a JSON object, got ${json.slice(0, 60)}`)
  return whole
}
