/** Calling one tool: find it, check its arguments, show progress, print the result. */

import { McpError, type Tool } from '../../client/index.ts'
import type { Invocation } from '../command-runner.ts'
import { Interrupted, unknownName } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { printResult } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import { ProgressBar } from '../output/progress.ts'
import { safe } from '../output/safe-text.ts'
import type { Session } from './session.ts'

export async function findTool(session: Pick<Session, 'title' | 'tools' | 'withheldBy'>, name: string): Promise<Tool> {
  const tools = await session.tools()
  const tool = tools.find((each) => each.name === name)
  if (tool) return tool
  const server = session.withheldBy?.(name)
  if (server !== undefined)
    throw new McpError('ERR_QUARANTINED', `The tool ${JSON.stringify(name)} is new or changed, and waits for your approval`, {
      data: { server },
    })
  throw unknownName(
    'tool',
    name,
    tools.map((each) => each.name),
    `at ${session.title}`,
  )
}

/** Ctrl-C cancels the call at the server. */
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
    screen.note(safe`${screen.noteStyle.red('✗')} The tool ${name} failed`)
    return 'failed'
  } catch (error) {
    bar.end()
    if (signal.aborted) throw new Interrupted(`Cancelled: ${name} was told to stop`)
    throw error
  }
}
