/** Runs a command line and returns its exit code. */

import { CommanderError } from 'commander'
import { CommandRunner, type Commands } from './command-runner.ts'
import { exitCode, exitCodeTable } from './exit-codes.ts'
import type { Io } from './io.ts'
import { fitted } from './output/fitted.ts'
import { columnsOf } from './output/screen.ts'
import { isCommand, programFor } from './program.ts'

/** @param argv the words after the name of the program */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { words, after } = splitAtDashes(argv)
  const commands: Commands = {
    // Only the shell takes command lines.
    run: (line) => main(line, { ...io, isShell: true }),
    program: (line) => programFor(line, new CommandRunner(io, undefined, commands), io),
  }
  const runner = new CommandRunner(io, after, commands)
  const typed = isForDefault(words, after) ? ['up', ...words] : helpAsOption(argumentsApart(words))
  if (typed[0] === 'help' && typed[1] === 'exit-codes') {
    io.stdout.stream.write(fitted(exitCodeTable(), columnsOf(io.stdout)))
    return exitCode('ok')
  }
  try {
    const program = await programFor(typed, runner, io)
    await program.parseAsync(typed, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) runner.fail(error)
    // Help and version end with 0. Commander has already printed any other error.
    else runner.exit = error.exitCode === 0 ? exitCode('ok') : exitCode('usage')
  }
  return runner.exit
}

/** `portico` alone, or with options only: `portico --port 8080`. Help and version are about the whole command. */
const isForDefault = ([first]: readonly string[], after: readonly string[] | undefined): boolean =>
  first === undefined ? !after : first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first)

/** Words after the first `--` are the command that starts a server. */
function splitAtDashes(argv: readonly string[]): { words: string[]; after: string[] | undefined } {
  const at = argv[0] === '__complete' ? -1 : argv.indexOf('--')
  return at < 0 ? { words: [...argv], after: undefined } : { words: argv.slice(0, at), after: argv.slice(at + 1) }
}

/** `help servers import` -> `servers import --help`: commander's own help command takes only one word. */
const helpAsOption = ([first, ...rest]: readonly string[]): string[] =>
  first === 'help' && rest.length > 1 && isCommand(rest[0]) ? [...rest, '--help'] : [...(first === undefined ? [] : [first]), ...rest]

/** `--json` formats the output; `--json {...}` gives the arguments, as `--args` does. */
function argumentsApart(words: readonly string[]): string[] {
  return words.map((word, i) => (word === '--json' && /^\s*\{/.test(words[i + 1] ?? '') ? '--args' : word))
}
