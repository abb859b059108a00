/** `portico completion`, and the hidden command that its scripts call. */

import type { Command } from 'commander'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { candidates } from '../completion/candidates.ts'
import { knownNames } from '../completion/known-names.ts'
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts'
import { unknownName } from '../errors.ts'
import { untrustedLines } from '../output/safe-text.ts'
import { splitWords } from '../split-words.ts'
import { BUNDLED_SERVERS } from './serve.ts'

export function registerCompletion(program: Command, runner: CommandRunner): void {
  program
    .command('completion')
    .summary('print a completion script for your shell')
    .description('Prints a completion script for bash, zsh or fish. For bash: source <(portico completion bash)')
    .argument('<shell>')
    .action(
      runner.action(async ({ screen }: Invocation, shell: string) => {
        if (!isShell(shell)) throw unknownName('completion script for', shell, SHELLS)
        screen.printWhole(untrustedLines(COMPLETION_SCRIPTS[shell].trimEnd()))
      }),
    )
  program
    .command('__complete', { hidden: true })
    .argument('<shell>')
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(
      runner.action(async ({ io, screen }: Invocation, shell: string, given: string[]) => {
        const words = shell === 'bash' ? wordsOfLine(given[0] ?? '') : given
        const found = await candidates(program, words, knownNames(io, BUNDLED_SERVERS))
        const prefix = shell === 'bash' ? (/^.*[=:]/.exec(words.at(-1) ?? '')?.[0].length ?? 0) : 0
        if (found.length > 0) screen.printWhole(untrustedLines(found.map((each) => each.slice(prefix)).join('\n')))
      }),
    )
}

const isShell = (text: string): text is Shell => (SHELLS as readonly string[]).includes(text)

/** The words after `portico`. The last one is empty when the line ends with a space. */
function wordsOfLine(line: string): string[] {
  try {
    const words = splitWords(line).slice(1)
    return /\s$/.test(line) ? [...words, ''] : words
  } catch {
    // Inside an open quote nothing is completed.
    return ['--', '']
  }
}
