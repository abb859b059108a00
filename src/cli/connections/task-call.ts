/** Starting a task, and waiting for one. */

import type { Tool } from '../../client/index.ts'
import type { HostTask } from '../../host/index.ts'
import { typedCommand } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { Interrupted, UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { printResult } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import { ProgressBar } from '../output/progress.ts'
import { safe } from '../output/safe-text.ts'
import { runningConsole } from '../up/running-console.ts'
import { hostFolderOf } from './host-files.ts'
import { configuredServers } from './open-host.ts'
import type { Session } from './session.ts'
import { shownTask } from './shown-task.ts'

interface WaitOptions {
  save?: string
  progress?: boolean
  inbox?: true
}

/** Calls the tool as a task. Without `wait` it prints the id and returns. */
export async function startTask(
  invocation: Invocation,
  session: Session,
  tool: Tool,
  args: Record<string, unknown>,
  options: WaitOptions & { wait?: true },
): Promise<ExitName> {
  const { io, screen, signal } = invocation
  if (!session.callTask) throw new UsageError('--task needs a configured server', 'Add it with "portico servers add"')
  const bar = new ProgressBar(screen, tool.name, { isQuiet: options.progress === false || screen.isJson })
  const task = await session.callTask(tool.name, args, { signal, onProgress: bar.onProgress }).finally(() => bar.end())
  if (task.state.taskId === undefined) screen.note(safe`${tool.name} answered at once, without a task`)
  if (options.wait || task.state.taskId === undefined) return waitForTask(invocation, task, options)
  // The command ends now, and with it the following.
  if (screen.isJson) screen.printJson(shownTask(task.state, false))
  else screen.print(safe`${task.id}`)
  screen.note(safe`Result: ${typedCommand(io, `tasks wait ${task.id}`)}`)
  await noteEnd(invocation, task.server)
  return 'ok'
}

/** A server that the command started ends with it. */
async function noteEnd(invocation: Invocation, server: string): Promise<void> {
  const { io, screen } = invocation
  const spec = (await configuredServers(invocation)).find(({ id }) => id === server)
  if (spec?.transport.type === 'http') return
  const isUp = (await runningConsole(hostFolderOf(io), 'who')) !== undefined
  const next = isUp ? '"portico up" goes on with the task' : 'The task goes on when a command or "portico up" starts the server again'
  screen.note(
    safe`${screen.noteStyle.yellow('!')} ${server} ends with this command. ${next}, if the server stores its tasks. If it does not, the task is lost: use --wait`,
  )
}

/** Shows the progress of a task until it ends, then its result. Ctrl-C ends the waiting, not the task. */
export async function waitForTask(invocation: Invocation, task: HostTask, options: WaitOptions): Promise<ExitName> {
  const { io, screen, signal } = invocation
  const bar = new ProgressBar(screen, task.tool, { isQuiet: options.progress === false || screen.isJson })
  const cannotAsk = !isInteractive(io) && options.inbox !== true
  const showing = showChanges(task, bar, () => {
    if (cannotAsk)
      screen.note(
        safe`${screen.noteStyle.yellow('!')} The task asks a question, and there is no terminal. It waits for an answer: run ${typedCommand(io, `tasks wait ${task.id}`)} in a terminal, or with --inbox`,
      )
  })
  try {
    const result = await task.result({ signal })
    await showing
    bar.end()
    if (screen.isJson) screen.printJson(result)
    else await printResult({ io, screen }, result, new MediaFolder(io, { folder: options.save }), task.tool)
    if (result.isError !== true) return 'ok'
    screen.note(safe`${screen.noteStyle.red('✗')} The tool ${task.tool} failed`)
    return 'failed'
  } catch (error) {
    bar.end()
    if (signal.aborted) throw new Interrupted(`No longer waiting. ${typedCommand(io, `tasks wait ${task.id}`)} waits again`)
    throw error
  }
}

async function showChanges(task: HostTask, bar: ProgressBar, onQuestion: () => void): Promise<void> {
  let isAsking = false
  for await (const { progress, statusMessage, status } of task) {
    if (task.isOver) return
    const wasAsking = isAsking
    isAsking = status === 'input_required'
    if (isAsking && !wasAsking) onQuestion()
    const message = isAsking ? 'waits for an answer' : (statusMessage ?? progress?.message ?? 'works')
    // Without a total the number only counts the messages.
    if (progress?.total === undefined) bar.say(message)
    else bar.onProgress({ ...progress, message })
  }
}
