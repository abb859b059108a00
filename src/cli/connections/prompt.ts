/** Getting one prompt, with its arguments filled in. */

import { asText } from '../../base/as-text.ts'
import type { GetPromptResult, Prompt, Tool } from '../../client/index.ts'
import { assign } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import type { Invocation } from '../command-runner.ts'
import { unknownName } from '../errors.ts'
import { printBlock } from '../output/content.ts'
import type { MediaFolder } from '../output/media.ts'
import { safe } from '../output/safe-text.ts'
import type { Session } from './session.ts'

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

/** Arguments of a prompt are strings. */
const schemaOf = ({ arguments: args = [] }: Prompt): Tool['inputSchema'] => ({
  type: 'object',
  properties: Object.fromEntries(args.map(({ name }) => [name, { type: 'string' }])),
  required: args.filter(({ required }) => required).map(({ name }) => name),
  additionalProperties: false,
})

async function printPrompt({ io, screen }: Invocation, result: GetPromptResult, media: MediaFolder): Promise<void> {
  if (screen.isJson) return screen.printJson(result)
  for (const { role, content } of result.messages) {
    screen.print(safe`${screen.style.bold(asText(role))}`)
    await printBlock({ io, screen }, content, media, 'prompt')
  }
}
