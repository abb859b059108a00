/** The command that starts the server of a module, as the file of a client has it. */

import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { programPath } from '../program-path.ts'
import { VERSION } from '../version.ts'
import type { InstalledServer } from './known-clients.ts'

/**
 * A project's file is shared, so it names nothing of this machine. A user's file is read by programs without the PATH of a shell, so
 * it names everything in full.
 */
export function commandFor(
  file: string,
  scope: 'user' | 'project',
  cwd: string,
  env: Record<string, string>,
): Extract<InstalledServer, { kind: 'command' }> {
  if (scope === 'project') {
    const path = `./${relative(cwd, file).split(sep).join('/')}`
    return { kind: 'command', command: 'npx', args: ['portico', 'serve', path], env }
  }
  const program = localProgram(file) ?? programPath()
  // The cache of npx may be emptied at any time.
  if (program.includes(`${sep}_npx${sep}`))
    return { kind: 'command', command: 'npx', args: ['-y', `portico@${VERSION}`, 'serve', file], env }
  return { kind: 'command', command: process.execPath, args: [program, 'serve', file], env }
}

/** The words of a command, with the files of this folder named in full. Other words stay as they are. */
export const withFullPaths = (words: readonly string[], cwd: string): string[] =>
  words.map((word, at) => {
    // Without a slash, a program is looked up in PATH, and a word without a dot is more likely the name of a package or a command.
    const isPath = at === 0 ? /[/\\]/.test(word) : /[/\\.]/.test(word)
    if (!isPath || word.startsWith('-') || isAbsolute(word)) return word
    const file = resolve(cwd, word)
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : word
  })

/** The command of the project that the file belongs to. */
function localProgram(file: string): string | undefined {
  try {
    const program = join(dirname(createRequire(file).resolve('portico/package.json')), 'dist', 'cli', 'index.js')
    return existsSync(program) ? program : undefined
  } catch {
    return undefined
  }
}
