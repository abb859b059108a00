/** Commands typed at the prompt: tools, resources and prompts of one server or all. */

import { assign } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import { asTyped, ownWords } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { printPrompts, printResources, printTool, printTools } from '../connections/listings.ts'
import { getPrompt } from '../connections/prompt.ts'
import type { Session } from '../connections/session.ts'
import { callTool, findTool } from '../connections/tool-call.ts'
import { explainError, UsageError } from '../errors.ts'
import { printContents } from '../output/content.ts'
import { MediaFolder } from '../output/media.ts'
import { safe } from '../output/safe-text.ts'
import { LineTerminal, type LineTerminalOptions } from '../terminal/line-editor.ts'
import type { ShellHistory } from './history.ts'

export const SESSION_COMMANDS: readonly (readonly [usage: string, what: string])[] = [
  ['tools [TOOL]', 'list tools, or show one'],
  ['call TOOL key=value ...', 'call a tool; Ctrl-C stops it'],
  ['resources', 'list resources'],
  ['read URI', 'read a resource'],
  ['prompts', 'list prompts'],
  ['get PROMPT key=value ...', 'get a prompt'],
]

/** Resolves with false if the line is not one of these commands. */
export async function runSessionCommand(invocation: Invocation, session: Session, typed: readonly string[]): Promise<boolean> {
  const { io, screen, signal } = invocation
  const [verb, first, ...rest] = typed
  switch (verb) {
    case 'tools':
      if (first === undefined) printTools(screen, await session.tools())
      else printTool(screen, await findTool(session, first))
      return true
    case 'resources':
      printResources(screen, await session.resources())
      return true
    case 'prompts':
      printPrompts(screen, await session.prompts())
      return true
    case 'read': {
      if (first === undefined) throw new UsageError('Missing URI', 'Type "resources" for a list')
      const { contents } = await session.read(first, { signal })
      for (const each of contents) await printContents(invocation, each, new MediaFolder(io), 'resource')
      return true
    }
    case 'get':
      if (first === undefined) throw new UsageError('Missing prompt', 'Type "prompts" for a list')
      await getPrompt(invocation, session, first, rest, new MediaFolder(io))
      return true
    case 'call': {
      if (first === undefined) throw new UsageError('Missing tool', 'Type "tools" for a list')
      const tool = await findTool(session, first)
      const args = await assign(rest, { schema: tool.inputSchema, cwd: io.cwd })
      await checkArguments(tool, args, () => {})
      await callTool(invocation, session, tool.name, args, {})
      return true
    }
    default:
      return false
  }
}

export function printCommands({ screen }: Pick<Invocation, 'screen'>, commands: typeof SESSION_COMMANDS): void {
  const widest = Math.max(...commands.map(([usage]) => usage.length))
  for (const [usage, what] of commands) screen.note(safe`  ${screen.noteStyle.bold(usage.padEnd(widest))}  ${screen.noteStyle.dim(what)}`)
}

export interface ReadOptions extends Pick<LineTerminalOptions, 'complete'> {
  /** Lines of earlier runs. Each new line is added. */
  history?: ShellHistory
}

/** Reads and runs commands until the person quits. A failed or stopped command is reported, and the next one can be typed. */
export async function readCommands(
  invocation: Invocation,
  run: (step: Invocation, line: string) => Promise<unknown>,
  { history, complete }: ReadOptions = {},
): Promise<'ok' | 'interrupted'> {
  const { io, screen, signal } = invocation
  const terminal = new LineTerminal(io, '> ', { ...(history && { history: history.lines }), ...(complete && { complete }) })
  for (;;) {
    const line = await terminal.read(signal)
    if (line === undefined || /^\s*(?:quit|exit|q)\s*$/.test(line)) return signal.aborted ? 'interrupted' : 'ok'
    if (line.trim() === '') continue
    history?.add(line)
    await invocation
      .interruptibleStep((step) => run({ ...step, io }, line))
      .catch((error: unknown) => {
        const { exit, message, hint } = explainError(error, { hasInbox: false, isParking: false, isShell: io.isShell === true })
        screen.note(safe`${screen.noteStyle.red(exit === 'interrupted' ? '■' : '✗')} ${ownWords(io, error, message)}`)
        if (hint) screen.note(safe`  ${screen.noteStyle.dim(asTyped(io, hint))}`)
      })
    if (signal.aborted) return 'interrupted'
  }
}
