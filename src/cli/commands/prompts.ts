/** `portico prompts` and `portico get`: templates of a server for people. */

import type { Command } from 'commander'
import { asText } from '../../base/as-text.ts'
import type { GetPromptResult, Prompt } from '../../protocol/model/prompts.ts'
import type { JsonSchema } from '../../protocol/schema/json-schema.ts'
import { assign } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import { unknownName } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { printBlock } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import type { Screen } from '../output/screen.ts'
import { words } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { type Session, withSession } from '../target/session.ts'
import { takeTarget, takeTargetAndName } from '../target/target.ts'
import { firstLine } from './tools.ts'

export function registerPrompts(program: Command, frame: Frame): void {
  addTargetOptions(
    program.command('prompts').summary('list the prompts of a server').description('Lists the prompts of a server.').argument('[server]'),
  )
    .usage('[options] <server> | -- command...')
    .option('--json', 'write JSON')
    .action(frame.action(promptsAction, { takesCommand: true }))
}

export function registerGet(program: Command, frame: Frame): void {
  addTargetOptions(
    program
      .command('get')
      .summary('get a prompt')
      .description('Gets a prompt, filled with its arguments.')
      .argument('<server/prompt>')
      .argument('[key=value...]')
      .usage('[options] <server/prompt> [key=value...] [-- command...]'),
  )
    .option('--save <folder>', 'save pictures and sounds there')
    .option('--json', 'write JSON')
    .action(frame.action(getAction, { takesCommand: true }))
}

async function promptsAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<void> {
  const { target } = takeTarget(server === undefined ? [] : [server], invocation.after)
  await withSession(invocation, target, options, async (session) => printPrompts(invocation.screen, await session.prompts()))
}

export function printPrompts(screen: Screen, prompts: readonly Prompt[]): void {
  if (screen.isJson) return screen.printJson(prompts)
  if (prompts.length === 0) return screen.note(words`It has no prompts.`)
  const rows = prompts.map(({ name, title, description, arguments: args = [] }) => [
    name,
    args.map((each) => (each.required ? each.name : `[${each.name}]`)).join(' '),
    firstLine(description ?? title),
  ])
  screen.print(
    table([{ title: 'PROMPT', style: 'bold' }, { title: 'ARGUMENTS' }, { title: 'WHAT IT IS FOR' }], rows, screen.style, screen.columns),
  )
}

interface GetOptions extends TargetOptions {
  save?: string
}

async function getAction(invocation: Invocation, first: string, others: string[], options: GetOptions): Promise<void> {
  const { target, name, rest } = takeTargetAndName([first, ...others], invocation.after, 'prompt')
  await withSession(invocation, target, options, (session) =>
    getPrompt(invocation, session, name, rest, new MediaFolder(invocation.io, { folder: options.save })),
  )
}

/** @param pairs `key=value` for each argument */
export async function getPrompt(
  invocation: Invocation,
  session: Session,
  name: string,
  pairs: readonly string[],
  media: MediaFolder,
): Promise<void> {
  const prompts = await session.prompts()
  const prompt = prompts.find((each) => each.name === name)
  if (!prompt)
    throw unknownName(
      'prompt',
      name,
      prompts.map((each) => each.name),
    )
  const inputSchema = schemaOf(prompt)
  const args = await assign(pairs, { schema: inputSchema, cwd: invocation.io.cwd })
  await checkArguments({ name, inputSchema }, args, () => {})
  const result = await session.prompt(name, args as Record<string, string>, { signal: invocation.signal })
  await printPrompt(invocation, result, media)
}

/** Arguments of a prompt are texts. */
const schemaOf = ({ arguments: args = [] }: Prompt): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(args.map(({ name }) => [name, { type: 'string' }])),
  required: args.filter(({ required }) => required).map(({ name }) => name),
  additionalProperties: false,
})

async function printPrompt({ io, screen }: Invocation, result: GetPromptResult, media: MediaFolder): Promise<void> {
  if (screen.isJson) return screen.printJson(result)
  for (const { role, content } of result.messages) {
    screen.print(words`${screen.style.bold(asText(role))}`)
    await printBlock({ io, screen }, content, media, 'prompt')
  }
}
