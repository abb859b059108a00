/** The first lines of `portico` without a command: what runs, and the link to the console. At most six. */

import { commandName } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { type Io, isInteractive } from '../io.ts'
import { type SafeText, safe, untrusted } from '../output/safe-text.ts'
import type { RunningConsole } from './running-console.ts'

export interface WelcomeFacts {
  /** The ids of the configured servers. */
  configured: readonly string[]
  samples: readonly string[]
  /** The name of the model. Undefined: none. */
  model: string | undefined
  /** The link to the console. Undefined: the console is switched off. */
  link: string | undefined
  /** A browser opens the link. */
  isOpening: boolean
  /** A console of another process with the same folder. */
  other: RunningConsole | undefined
}

const MAX_NAMED = 3

/** On a terminal to standard error, as everything of the shell. Otherwise to standard output, for a log or a program that reads the link. */
export function welcome({ io, screen }: Invocation, { configured, samples, model, link, isOpening, other }: WelcomeFacts): void {
  const isShell = isInteractive(io)
  const say = (line: SafeText): void => (isShell ? screen.note(line) : screen.print(line))
  const { bold, dim, cyan } = isShell ? screen.noteStyle : screen.style
  const yours = configured.length === 0 ? 'none yet' : configured.length > MAX_NAMED ? `${configured.length}` : configured.join(', ')
  const about = `Your servers: ${yours}. Samples: ${samples.join(', ')}. Model: ${model ?? 'a script'}.`
  say(bold('Portico: many MCP servers, one policy, your approval first'))
  say(dim(untrusted(about).cut((isShell && screen.noteColumns) || about.length)))
  if (other) say(safe`Another Portico is running: ${other.origin} (process ${other.pid}).`)
  if (link !== undefined) {
    say(safe`${isOpening ? 'The console opens in your browser' : 'The console is a page for your browser'}${howAgain(io, other)}:`)
    say(isShell ? screen.noteLink(link) : safe`${link}`)
  }
  if (isShell) say(safe`Type ${cyan('tour')} for a guided tour (2 minutes), ${cyan('help')} for commands, ${cyan('q')} to quit.`)
  else say(safe`It runs until it is stopped: Ctrl-C, or the signal SIGTERM.`)
}

/** How to get a new link. `portico console` asks the process that was started first. */
function howAgain(io: Io, other: RunningConsole | undefined): string {
  if (isInteractive(io)) return ' (type console for a new link)'
  return other ? '' : ` (for a new link: ${commandName(io)} console)`
}
