/** Which files a command would run, and what is in them. */

import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { access, readFile, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'
import { isObject } from '../jsonrpc/message.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import type { ProcessWay } from './servers/spec.ts'

export interface EntryFileLimits {
  /** Of a larger program only size and times are compared. */
  maxProgramBytes: number
  /** A larger lock file is not read; the package is then known by its name and version only. */
  maxLockBytes: number
}

const DEFAULT_ENTRY_FILE_LIMITS: EntryFileLimits = { maxProgramBytes: 512 * 1024 * 1024, maxLockBytes: 32 * 1024 * 1024 }

export interface EntryFileFacts {
  /** Where relative paths and the program are looked for; those of this process unless given. */
  cwd?: string
  path?: string
  limits?: Partial<EntryFileLimits>
}

export interface EntryFiles {
  /** The real path of the program; undefined when there is none of that name. */
  program: string | undefined
  contents: readonly { path: string; digest: string }[]
}

/**
 * Programs that run what they are given. What counts is the script: a new version of the interpreter would otherwise make
 * every server another one, and reading it whole each time would cost more than starting it. Its place still counts.
 */
const INTERPRETERS =
  /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|pypy[\d.]*|ruby|perl|php|java|sh|bash|zsh|pwsh|powershell|npm|pnpm|yarn|uv)(?:\.exe|\.cmd)?$/i

/** Programs that run a package or an image, which is no file here: what they are given after it is data. */
const RUNNERS = /^(?:npx|bunx|uvx|pipx|docker|podman)(?:\.exe|\.cmd)?$/i

/** Options whose value is run as well. */
const LOADING = new Set(['-r', '--require', '--import', '--loader', '--experimental-loader', '-jar'])

/** Options after which no script comes: the program stands in the arguments themselves. */
const SCRIPTLESS = new Set(['-m', '-c', '-e', '--eval', '-p', '--print'])

/** Words between an interpreter and its script, as in `deno run x.ts`. */
const SUBCOMMANDS = new Set(['run', 'exec'])

export async function entryFilesOf(way: ProcessWay, facts: EntryFileFacts): Promise<EntryFiles> {
  const limits = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
  const program = await programOf(way, facts)
  const files = await filesRun(way, program, facts)
  const contents = await Promise.all(files.map(async (path) => ({ path, digest: await contentDigest(path, limits) })))
  return { program, contents }
}

async function filesRun(way: ProcessWay, program: string | undefined, facts: EntryFileFacts): Promise<string[]> {
  const name = nameOf(way)
  if (RUNNERS.test(name)) return []
  if (INTERPRETERS.test(name)) return scriptsOf(way, facts)
  return program === undefined ? [] : [program]
}

const nameOf = ({ command }: ProcessWay): string => basename(command.replaceAll('\\', '/'))

const folderOf = (way: ProcessWay, { cwd = process.cwd() }: EntryFileFacts): string => resolve(cwd, way.cwd ?? '.')

/** As the system looks for it: a name on the path, anything else from the working folder. */
async function programOf(way: ProcessWay, facts: EntryFileFacts): Promise<string | undefined> {
  const { command } = way
  const isPath = isAbsolute(command) || /[/\\]/.test(command)
  // A server may be given a path of its own, and is looked for on that one.
  const path = way.env.PATH ?? facts.path ?? process.env.PATH ?? ''
  const folders = isPath ? [folderOf(way, facts)] : path.split(delimiter).filter((folder) => folder !== '')
  for (const folder of folders) {
    for (const ending of ENDINGS) {
      const found = await runnable(resolve(folder, `${command}${ending}`))
      if (found !== undefined) return found
    }
  }
  return undefined
}

const ENDINGS = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat', '.com'] : ['']

async function runnable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile() ? await realpath(file) : undefined
  } catch {
    return undefined
  }
}

/** Files that the interpreter is told to load, up to the script; what comes after is for the script. */
async function scriptsOf(way: ProcessWay, facts: EntryFileFacts): Promise<string[]> {
  const folder = folderOf(way, facts)
  const files: string[] = []
  for (let at = 0; at < way.args.length; at++) {
    const arg = way.args[at] as string
    const [option = '', inline] = arg.split(/=(.*)/s)
    if (SCRIPTLESS.has(arg)) break
    if (LOADING.has(option)) {
      const file = await existing(folder, inline ?? way.args[++at] ?? '')
      if (file !== undefined) files.push(file)
      // The archive is the script.
      if (option === '-jar') break
    } else if (!arg.startsWith('-') && !(at === 0 && SUBCOMMANDS.has(arg))) {
      const file = await existing(folder, arg)
      // An option of the interpreter may have had a value that is no file; the script may still come.
      if (file === undefined) continue
      files.push(file)
      break
    }
  }
  return [...new Set(files)]
}

async function existing(folder: string, name: string): Promise<string | undefined> {
  if (name === '') return undefined
  try {
    const file = await realpath(resolve(folder, name))
    return (await stat(file)).isFile() ? file : mainOf(file)
  } catch {
    return mainOf(resolve(folder, name))
  }
}

/** `node .` and `node server`, which mean a file that they do not name. */
function mainOf(path: string): string | undefined {
  try {
    return createRequire(path).resolve(path)
  } catch {
    return undefined
  }
}

async function contentDigest(file: string, { maxProgramBytes }: EntryFileLimits): Promise<string> {
  const { size, mtimeMs, ctimeMs } = await stat(file)
  if (size > maxProgramBytes) return `size ${size}, changed ${mtimeMs} ${ctimeMs}`
  const hash = createHash('sha256')
  try {
    // Not further than it may be: a file may grow while it is read.
    for await (const chunk of createReadStream(file, { end: maxProgramBytes })) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch {
    // Some programs may be run and not read.
    return `not readable, size ${size}, changed ${mtimeMs} ${ctimeMs}`
  }
}

export interface RunPackage {
  /** As it is written, such as `some-server@1.2.3`. */
  spec: string
  name: string
  /** One version is named, or a lock file says which. */
  isPinned: boolean
  integrity: string | undefined
}

/** The package that npx, uvx and their like would fetch and run; undefined for other commands. */
export async function packageOf(way: ProcessWay, facts: EntryFileFacts): Promise<RunPackage | undefined> {
  const [runner] = /^(?:npx|bunx|uvx)(?=\.|$)/i.exec(nameOf(way)) ?? []
  const spec = runner === undefined ? undefined : packageSpec(way.args)
  if (spec === undefined) return undefined
  const [, name = spec, version] = /^(@?[^@=]+)(?:@|==)?(.*)$/.exec(spec) ?? []
  const integrity = runner?.toLowerCase() === 'uvx' ? undefined : await lockedIntegrity(name, folderOf(way, facts), facts)
  return { spec, name, isPinned: integrity !== undefined || /^\d+\.\d+\.\d+/.test(version ?? ''), integrity }
}

function packageSpec(args: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg === '-p' || arg === '--package' || arg === '--from') return args[at + 1]
    const [, inline] = /^--(?:package|from)=(.+)$/.exec(arg) ?? []
    if (inline !== undefined) return inline
    if (!arg.startsWith('-')) return arg
  }
  return undefined
}

/** What npm wrote down when the package was installed in this folder. */
async function lockedIntegrity(name: string, folder: string, facts: EntryFileFacts): Promise<string | undefined> {
  const { maxLockBytes } = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
  try {
    const file = join(folder, 'package-lock.json')
    if ((await stat(file)).size > maxLockBytes) return undefined
    const lock: unknown = JSON.parse(await readFile(file, 'utf8'))
    const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {}
    const key = `node_modules/${name}`
    const entry = Object.hasOwn(packages, key) ? packages[key] : undefined
    return isObject(entry) && typeof entry.integrity === 'string' ? entry.integrity : undefined
  } catch {
    return undefined
  }
}
