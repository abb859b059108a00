/** Recognizes interpreters and how they find the files they run. */

import { basename } from 'node:path'
import { isCode } from './file-names.ts'
import { shellWords } from './split-words.ts'

/**
 * Programs that run other files. The script counts, not the interpreter: otherwise every update of the interpreter would change every
 * server, and reading it each time would cost more than starting it. The path of the interpreter still counts.
 */
export type Family = 'node' | 'python' | 'ruby' | 'perl' | 'php' | 'shell' | 'java' | 'other'

const FAMILIES: readonly (readonly [Family, RegExp])[] = [
  ['node', /^(?:node|nodejs|bun|bunx|deno|tsx|ts-node|npm|pnpm|pnpx|yarn|npx)$/],
  ['python', /^(?:python[\d.]*|pypy[\d.]*|uv|uvx|pipx)$/],
  ['ruby', /^ruby[\d.]*$/],
  ['perl', /^perl[\d.]*$/],
  ['shell', /^(?:sh|bash|dash|zsh|ksh|fish|pwsh|powershell|cmd)$/],
  ['php', /^php[\d.]*$/],
  ['java', /^java$/],
  ['other', /^(?:docker|podman)$/],
]

/** File name endings that an interpreter adds to a name. */
export const ENDINGS: Readonly<Record<Family, readonly string[]>> = {
  node: ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.node'],
  python: ['.py', '/__main__.py', '/__init__.py'],
  ruby: ['.rb'],
  perl: ['.pm', '.pl'],
  php: [],
  shell: [],
  java: ['.class', '.java'],
  other: [],
}

/** Options whose value is code. */
export const CODE_OPTION = /^(?:-[a-z]*[ce]|--eval|--command|-p|--print|-r|\/c)$/i

/** The name of a program without its folder, and without the ending that Windows adds. */
export const programName = (command: string): string => {
  const name = process.platform === 'win32' ? basename(command.replaceAll('\\', '/')) : basename(command)
  return name.replace(/\.(?:exe|cmd|bat)$/i, '').toLowerCase()
}

export const familyOf = (name: string): Family | undefined => FAMILIES.find(([, pattern]) => pattern.test(name))?.[0]

/** The words of all arguments, with code split into its words. */
export const splitArguments = (args: readonly string[]): string[] => args.flatMap((arg) => (isCode(arg) ? shellWords(arg) : [arg]))

/**
 * The index of the last argument that node may use as its script. A word after an option may be the value of that option; a word after
 * another word is not.
 */
export function lastPossibleScript(args: readonly string[]): number {
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && (i === 0 || !args[i - 1]?.startsWith('-') || args[i - 1]?.includes('=')))
  return at === -1 ? args.length : at === 0 && /^(?:run|exec|start)$/.test(args[0] ?? '') ? args.length : at
}

/** Whether the command runs a module (`python -m server`, `java -cp lib Main`) whose file is not among `files`. */
export function runsUnfoundModule(words: readonly string[], families: ReadonlySet<Family>, files: ReadonlySet<string>): boolean {
  const all = [...files]
  if (families.has('python')) {
    const at = words.findIndex((word) => /^-[a-zA-Z]*m/.test(word))
    const name = at === -1 ? undefined : /^-[a-zA-Z]*m$/.test(words[at] as string) ? words[at + 1] : words[at]?.replace(/^-[a-zA-Z]*?m/, '')
    const tail = name?.replaceAll('.', '/')
    if (tail !== undefined && !all.some((file) => [`/${tail}.py`, `/${tail}/__main__.py`].some((end) => file.endsWith(end)))) return true
  }
  return families.has('java') && !all.some((file) => /\.(?:jar|class|java)$/.test(file)) && !words.includes('-jar')
}
