/** `portico completion`, and the hidden command that its scripts ask. */

import type { Command } from 'commander'
import { candidates } from '../completion/candidates.ts'
import { knownNames } from '../completion/known-names.ts'
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts'
import { unknownName } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { untrustedLines } from '../output/shown.ts'
import { splitWords } from '../split-words.ts'

export function registerCompletion(program: Command, frame: Frame): void {
  program
    .command('completion')
    .summary('a script that teaches your shell to complete portico')
    .description('Writes a script for bash, zsh or fish. For bash: source <(portico completion bash)')
    .argument('<shell>')
    .action(
      frame.action(async ({ screen }: Invocation, shell: string) => {
        if (!isShell(shell)) throw unknownName('completion for', shell, SHELLS)
        screen.print(untrustedLines(COMPLETION_SCRIPTS[shell].trimEnd()))
      }),
    )
  program
    .command('__complete', { hidden: true })
    .argument('<shell>')
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(
      frame.action(async ({ io, screen }: Invocation, shell: string, given: string[]) => {
        const words = shell === 'bash' ? wordsOfLine(given[0] ?? '') : given
        const found = await candidates(program, words, knownNames(io))
        const prefix = shell === 'bash' ? (/^.*[=:]/.exec(words.at(-1) ?? '')?.[0].length ?? 0) : 0
        if (found.length > 0) screen.print(untrustedLines(found.map((each) => each.slice(prefix)).join('\n')))
      }),
    )
}

const isShell = (text: string): text is Shell => (SHELLS as readonly string[]).includes(text)

/** The words after the name of the program; the last one is empty where a new one begins. */
function wordsOfLine(line: string): string[] {
  try {
    const words = splitWords(line).slice(1)
    return /\s$/.test(line) ? [...words, ''] : words
  } catch {
    // A quote is open: what is in it is nobody's name.
    return ['--', '']
  }
}
