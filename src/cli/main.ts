/** `portico`: from the words of a command line to an exit code. */

import { CommanderError } from 'commander'
import { CommandRunner } from './command-runner.ts'
import { exitCode } from './exit-codes.ts'
import type { Io } from './io.ts'
import { programFor } from './program.ts'

/** @param argv the words after the name of the program */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const { words, after } = splitAtDashes(argv)
  const runner = new CommandRunner(io, after)
  const typed = words.length === 0 && !after ? ['up'] : argumentsApart(words)
  try {
    const program = await programFor(typed, runner, io)
    await program.parseAsync(typed, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) runner.fail(error)
    // Help and the version were asked for; anything else was a mistake that commander has told of.
    else runner.exit = error.exitCode === 0 ? exitCode('ok') : exitCode('usage')
  }
  return runner.exit
}

/** What follows the first `--` is a command for a server and none of our business. */
function splitAtDashes(argv: readonly string[]): { words: string[]; after: string[] | undefined } {
  const at = argv[0] === '__complete' ? -1 : argv.indexOf('--')
  return at < 0 ? { words: [...argv], after: undefined } : { words: argv.slice(0, at), after: argv.slice(at + 1) }
}

/** `--json` alone is about what comes out; `--json {...}` is about what goes in. */
function argumentsApart(words: readonly string[]): string[] {
  return words.map((word, i) => (word === '--json' && /^\s*\{/.test(words[i + 1] ?? '') ? '--args' : word))
}
