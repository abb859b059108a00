/**
 * How Windows starts a command: finds it through PATH and PATHEXT, and runs scripts such as `npx.cmd` with cmd.exe.
 *
 * Node refuses to start scripts without a shell, and `shell: true` escapes nothing. A library that escapes with carets only is not enough:
 * a script that passes on `%*` is read twice, and a quote in an argument would end the string the second time.
 */

import { statSync } from 'node:fs'
import { win32 } from 'node:path'

export interface WindowsCommand {
  command: string
  args: string[]
  /** For scripts: Node must not quote the line again. */
  windowsVerbatimArguments: boolean
}

interface Place {
  cwd?: string | undefined
  /** The environment of the new process. Its PATH and PATHEXT count. */
  env: Readonly<Record<string, string>>
  /** The folder of Windows, from this process: a server must not choose which cmd.exe runs. Default: SystemRoot. */
  systemRoot?: string | undefined
  /** Only tests set it. */
  isFile?: (path: string) => boolean
}

/** cmd.exe cuts longer lines off. */
const MAX_LINE_CHARS = 8191
const STARTABLE = ['.com', '.exe', '.bat', '.cmd']

/** Throws an error with a code, as `spawn` does: ENOENT without such a command, EINVAL for arguments that a script cannot get safely. */
export function windowsCommand(command: string, args: readonly string[], place: Place): WindowsCommand {
  const file = fileOf(command, place)
  if (file === undefined) throw Object.assign(new Error(`spawn ${command} ENOENT`), { code: 'ENOENT' })
  // Windows ignores dots and spaces at the end of a name: `run.bat. .` is a script, too.
  if (!/\.(?:bat|cmd)[. ]*$/i.test(file)) return { command: file, args: [...args], windowsVerbatimArguments: false }
  // The path is always quoted. /s removes only the first and the last quote; /d: no AutoRun; /v:off: `!` means nothing.
  const line = `"${[quoted(file, 'The path of a script'), ...args.map((arg) => argument(arg))].join(' ')}"`
  const shell = systemProgram('cmd.exe', place.systemRoot)
  if (shell.length + line.length + 30 > MAX_LINE_CHARS)
    throw invalid(`the line for cmd.exe has ${line.length} characters, and at most ${MAX_LINE_CHARS} are allowed with the options`)
  return { command: shell, args: ['/d', '/e:on', '/v:off', '/s', '/c', line], windowsVerbatimArguments: true }
}

/** A program in System32 by its whole path, because Windows also looks for programs in the working directory. */
export function systemProgram(name: string, systemRoot = process.env.SystemRoot): string {
  return win32.join(systemRoot || 'C:\\Windows', 'System32', name)
}

/** Looks in the folders of PATH only, not in the working directory: a file in a downloaded folder must not replace `npx`. */
function fileOf(command: string, { cwd = process.cwd(), env, isFile = isRealFile }: Place): string | undefined {
  if (command.includes('"') || command.includes('\0')) return undefined
  const folders = /[\\/]|^[a-z]:/i.test(command) ? [cwd] : foldersIn(variable(env, 'PATH'))
  const endings = (variable(env, 'PATHEXT') ?? '')
    .toLowerCase()
    .split(';')
    .filter((ending) => STARTABLE.includes(ending))
  if (endings.length === 0) endings.push(...STARTABLE)
  // Without an ending, `npx` would find the script for Unix shells that lies next to `npx.cmd`.
  if (win32.extname(command) !== '') endings.unshift('')
  for (const folder of folders)
    for (const ending of endings) {
      const file = win32.resolve(folder, command + ending)
      if (isFile(file)) return file
    }
  return undefined
}

/** A relative folder in PATH would mean another folder for every working directory. */
const foldersIn = (path = ''): string[] =>
  path
    .split(';')
    .map((folder) => folder.trim().replace(/^"(.*)"$/, '$1'))
    .filter((folder) => /^(?:[a-z]:[\\/]|\\\\)/i.test(folder))

const isRealFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/** Names of variables have no case on Windows. The last one counts, because declared variables come last. */
function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(env).findLast(([each]) => each.toUpperCase() === name)?.[1]
}

/** Characters without a meaning for cmd.exe need no quotes. A script can compare them as they are (`if %1==start`). */
const argument = (text: string): string => (/^[\w\-./:@+\\]*[\w\-./:@+]$/.test(text) ? text : quoted(text, 'An argument for a script'))

/**
 * Everything stays inside of quotes, where `& | < > ^ ( )` mean nothing, also when the script passes its arguments on.
 *
 * - `"` becomes `""`: for cmd.exe the string ends and begins again, and for a program this is a quote.
 * - Backslashes before a quote are doubled, because programs read them as escapes.
 * - `%` has a meaning inside of quotes. `%cd:~,%` is an empty part of a variable that always exists, so that no `%NAME%` is left to expand.
 * - No form of a line break is safe.
 */
function quoted(text: string, what: string): string {
  if (/[\0\r\n]/.test(text)) throw invalid(`${what} must not contain a line break or NUL; got ${JSON.stringify(text.slice(0, 80))}`)
  const escaped = text
    .replace(/(\\*)("|$)/g, '$1$1$2')
    .replaceAll('"', '""')
    .replaceAll('%', '%%cd:~,%')
  return `"${escaped}"`
}

const invalid = (message: string): Error => Object.assign(new Error(message), { code: 'EINVAL' })
