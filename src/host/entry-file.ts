/** Which files a command would run or read, and what is in them. */

import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { readPlainFile, withPlainFile } from '../files/plain-file.ts'
import { isObject } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { type FoundProgram, findProgram } from './launch/find-program.ts'
import { isCode, namesIn } from './launch/names-in.ts'
import { changesWhatRuns } from './launch/variables.ts'
import type { ProcessWay } from './servers/spec.ts'

export interface EntryFileLimits {
  /** Of a larger file only size and times are compared. */
  maxProgramBytes: number
  /** Of files beyond this sum only size and times are compared. */
  maxTotalBytes: number
  /** How many places are looked at for files that the command names. A command that needs more is refused. */
  maxLookups: number
  /** A larger lock file is not read; the package is then known by its name and version only. */
  maxLockBytes: number
}

export const DEFAULT_ENTRY_FILE_LIMITS: EntryFileLimits = {
  maxProgramBytes: 512 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  maxLookups: 20_000,
  maxLockBytes: 32 * 1024 * 1024,
}

export interface EntryFileFacts {
  /** Where relative paths and the program are looked for; those of this process unless given. */
  cwd?: string
  path?: string
  /** Files that the server writes to: what is in them does not count. */
  dataFiles?: readonly string[]
  limits?: Partial<EntryFileLimits>
}

export interface EntryFiles {
  /** Undefined when there is none of that name. */
  program: FoundProgram | undefined
  /** The programs that a wrapper or a shell would start, by the name that is written. */
  inner: readonly { name: string; real: string }[]
  contents: readonly { path: string; digest: string }[]
  /** The command itself holds code, which may load what no look at its words finds. */
  hasCode: boolean
}

/**
 * Programs that run what they are given. What counts is the script: a new version of the interpreter would otherwise make
 * every server another one, and reading it whole each time would cost more than starting it. Its place still counts.
 */
type Family = 'node' | 'python' | 'ruby' | 'perl' | 'php' | 'shell' | 'other'

const FAMILIES: readonly (readonly [Family, RegExp])[] = [
  ['node', /^(?:node|nodejs|bun|bunx|deno|tsx|ts-node|npm|pnpm|pnpx|yarn|npx)$/],
  ['python', /^(?:python[\d.]*|pypy[\d.]*|uv|uvx|pipx)$/],
  ['ruby', /^ruby[\d.]*$/],
  ['perl', /^perl[\d.]*$/],
  ['shell', /^(?:sh|bash|dash|zsh|ksh|fish|pwsh|powershell|cmd)$/],
  ['php', /^php[\d.]*$/],
  ['other', /^(?:java|docker|podman)$/],
]

/** Endings that an interpreter adds to a name by itself. */
const ENDINGS: Readonly<Record<Family, readonly string[]>> = {
  node: ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json'],
  python: ['.py', '/__main__.py', '/__init__.py'],
  ruby: ['.rb'],
  perl: ['.pm', '.pl'],
  php: [],
  shell: [],
  other: [],
}

/** Files that say what a name means to these, beside those that are named. */
const MANIFESTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:npm|pnpm|yarn|bun)$/, ['package.json']],
  [/^(?:uv)$/, ['pyproject.toml']],
  [/^(?:deno)$/, ['deno.json', 'deno.jsonc']],
  [/^(?:make|gmake)$/, ['GNUmakefile', 'makefile', 'Makefile']],
  [/^(?:just)$/, ['justfile', 'Justfile', '.justfile']],
  [/^(?:cargo)$/, ['Cargo.toml']],
  [/^(?:docker|podman|docker-compose)$/, ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']],
]

/** The programs that start another one which stands in their arguments. */
const WRAPPERS =
  /^(?:env|timeout|nice|ionice|nohup|stdbuf|setsid|setarch|taskset|chrt|numactl|time|xargs|parallel|watch|find|flock|sudo|doas|su|runuser|chroot|unshare|nsenter|setpriv|firejail|bwrap|systemd-run|strace|ltrace|gdb|script|unbuffer|expect|rlwrap|winpty|caffeinate|arch|busybox|toybox|tini|dumb-init|direnv|mise|asdf|nix|nix-shell|conda|poetry|pipenv|hatch|pdm|rye|bundle|dotenv|dotenvx|doppler|op|cross-env|concurrently|nodemon|command|exec|open)$/

/** Options of node whose value is a module: a file, or a package that is installed. */
const LOADING = /^(?:-r|--require|--import|--loader|--experimental-loader)$/

/** Options whose value is code. */
const CODE_OPTION = /^(?:-[a-z]*[ce]|--eval|--command|-p|--print|-r|\/c)$/i

export async function entryFilesOf(way: ProcessWay, facts: EntryFileFacts): Promise<EntryFiles> {
  return new Look(way, facts).all()
}

/** As people write it, without the ending that Windows adds. */
const nameOf = (command: string): string => {
  const name = process.platform === 'win32' ? basename(command.replaceAll('\\', '/')) : basename(command)
  return name.replace(/\.(?:exe|cmd|bat)$/i, '').toLowerCase()
}

const familyOf = (name: string): Family | undefined => FAMILIES.find(([, pattern]) => pattern.test(name))?.[0]

export const folderOf = (way: ProcessWay, { cwd = process.cwd() }: EntryFileFacts): string => resolve(cwd, way.cwd ?? '.')

/** The PATH that the process will have: its own, or that of this process. */
const pathOf = (way: ProcessWay, facts: EntryFileFacts): string | undefined => way.env.PATH ?? facts.path ?? process.env.PATH

/** The program of a command, as the system would find it. */
export const programOf = (way: ProcessWay, facts: EntryFileFacts): Promise<FoundProgram | undefined> =>
  findProgram(way.command, { folder: folderOf(way, facts), path: pathOf(way, facts) })

/** One look at everything that a command names. */
class Look {
  readonly #way: ProcessWay
  readonly #facts: EntryFileFacts
  readonly #limits: EntryFileLimits
  readonly #folder: string
  readonly #name: string
  readonly #variables: Readonly<Record<string, string | undefined>>
  /** Folders that names may be relative to: the working folder, and every folder that is named before. */
  readonly #bases: string[]
  readonly #files = new Set<string>()
  readonly #inner = new Map<string, string>()
  readonly #seen = new Set<string>()
  #families: ReadonlySet<Family> = new Set()
  #lookups = 0

  constructor(way: ProcessWay, facts: EntryFileFacts) {
    this.#way = way
    this.#facts = facts
    this.#limits = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
    this.#folder = folderOf(way, facts)
    this.#name = nameOf(way.command)
    this.#bases = [this.#folder]
    this.#variables = { HOME: process.env.HOME, ...way.env, PWD: this.#folder }
  }

  async all(): Promise<EntryFiles> {
    const { args, env } = this.#way
    const program = await programOf(this.#way, this.#facts)
    if (program && !this.#isSystemInterpreter(this.#name, program.real)) this.#files.add(program.real)
    const own = familyOf(this.#name)
    const words = args.map((arg) => namesIn(arg, this.#variables))
    const isWrapper = WRAPPERS.test(this.#name)
    const startsOthers = isWrapper || own === 'shell'
    const programNames = [this.#name, ...(own === undefined || own === 'shell' ? words.flatMap((names) => [...names].map(nameOf)) : [])]
    this.#families = new Set(programNames.flatMap((name) => familyOf(name) ?? []))
    const mainsEnd = own === 'node' ? lastPossibleScript(args) : args.length
    for (const [at, names] of words.entries()) {
      for (const name of names) {
        await this.#named(name, at <= mainsEnd)
        if (startsOthers || (own === undefined && isCode(args[at] as string))) await this.#program(name)
      }
    }
    for (const [name, value] of Object.entries(env)) await this.#variable(name, value)
    if (this.#families.has('node')) await this.#modules([...args, ...(env.NODE_OPTIONS ?? '').split(/\s+/)])
    for (const [pattern, manifests] of MANIFESTS) {
      if (!programNames.some((name) => pattern.test(name))) continue
      for (const base of [...this.#bases]) for (const manifest of manifests) await this.#plainFile(resolve(base, manifest))
    }
    for (const file of await this.#packageFiles(args)) await this.#plainFile(file)
    const isRunning = [...this.#families].some((family) => family !== 'other')
    const hasCode = args.some((arg, i) => isCode(arg) && (isWrapper || (isRunning && CODE_OPTION.test(args[i - 1] ?? ''))))
    return {
      program,
      inner: [...this.#inner].map(([name, real]) => ({ name, real })),
      contents: await this.#digests(),
      hasCode,
    }
  }

  /** An interpreter of the machine is known by its place. One in the folder of the server is as much its own as a script. */
  #isSystemInterpreter(name: string, real: string): boolean {
    return familyOf(name) !== undefined && !isInside(this.#folder, real) && !isInside(resolve(this.#facts.cwd ?? this.#folder), real)
  }

  async #named(name: string, mayBeMain: boolean): Promise<void> {
    for (const base of [...this.#bases]) {
      const path = resolve(base, name)
      if (this.#seen.has(path)) continue
      this.#seen.add(path)
      const kind = await this.#kindOf(path)
      if (kind === 'file') await this.#add(path)
      else if (kind === 'folder') this.#bases.push(path)
      if (kind !== 'file') await this.#meant(base, name, path, kind === 'folder', mayBeMain)
    }
  }

  /** `node server`, `node .` and `python -m server`: files that are named without their ending, or by their folder. */
  async #meant(base: string, name: string, path: string, isFolder: boolean, mayBeMain: boolean): Promise<void> {
    for (const family of this.#families) {
      for (const ending of ENDINGS[family]) {
        await this.#plainFile(`${path}${ending}`)
        if (family === 'python' && /^\w+(?:\.\w+)+$/.test(name))
          await this.#plainFile(`${resolve(base, name.replaceAll('.', '/'))}${ending}`)
      }
      if (family === 'node' && isFolder && mayBeMain) {
        await this.#plainFile(join(path, 'package.json'))
        const main = mainOf(path)
        if (main !== undefined) await this.#plainFile(main)
      }
    }
  }

  async #variable(name: string, value: string): Promise<void> {
    const isRun = changesWhatRuns(name)
    // Code can use any variable as the name of a file.
    if (name === 'PATH' || (!isRun && !this.#families.has('shell'))) return
    for (const each of namesIn(value, this.#variables)) {
      await this.#named(each, isRun)
      if (isRun) await this.#inLoadPath(name, each)
    }
  }

  /** PYTHONPATH and its like: a module that is named in the arguments may be in there. */
  async #inLoadPath(variable: string, folder: string): Promise<void> {
    if (!/^(?:PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB)$/.test(variable)) return
    const path = resolve(this.#folder, folder)
    if ((await this.#kindOf(path)) !== 'folder') return
    for (const arg of this.#way.args) {
      for (const name of namesIn(arg, this.#variables)) await this.#meant(path, name, resolve(path, name), false, true)
    }
  }

  /** Packages that node is told to load, as in `--import tsx`. */
  async #modules(words: readonly string[]): Promise<void> {
    for (const [at, word] of words.entries()) {
      const [option = '', inline] = word.split(/=(.*)/s)
      const name = LOADING.test(option) ? (inline ?? words[at + 1]) : undefined
      const file = name === undefined ? undefined : moduleOf(this.#folder, name)
      if (file !== undefined) await this.#plainFile(file)
    }
  }

  /** What a wrapper starts. */
  async #program(name: string): Promise<void> {
    if (!/^[\w.+@-]{1,255}$/.test(name) || name.startsWith('-') || this.#inner.has(name)) return
    const path = pathOf(this.#way, this.#facts)
    this.#count(path?.split(delimiter).length ?? 1)
    const found = await findProgram(name, { folder: this.#folder, path })
    if (!found) return
    this.#inner.set(name, found.real)
    if (!this.#isSystemInterpreter(nameOf(name), found.real)) this.#files.add(found.real)
  }

  /** The programs of a package that is installed here: npx and its like run those before they fetch any. */
  async #packageFiles(args: readonly string[]): Promise<string[]> {
    if (!/^(?:npx|bunx|pnpx|npm|pnpm|yarn)$/.test(this.#name)) return []
    const names = args.filter((arg) => /^(?:@[\w.-]+\/)?[\w.-]+(?:@.*)?$/.test(arg)).map((arg) => arg.replace(/(?<=.)@.*$/, ''))
    const files: string[] = []
    for (const name of new Set(names)) {
      const folder = join(this.#folder, 'node_modules', name)
      files.push(join(this.#folder, 'node_modules', '.bin', name.replace(/^@[^/]+\//, '')))
      files.push(...(await binFiles(folder, this.#limits.maxLockBytes)))
    }
    return files
  }

  async #plainFile(path: string): Promise<void> {
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    if ((await this.#kindOf(path)) === 'file') await this.#add(path)
  }

  async #add(path: string): Promise<void> {
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) return
    for (const data of this.#facts.dataFiles ?? []) {
      if ((await realpath(resolve(this.#folder, data)).catch(() => undefined)) === real) return
    }
    this.#files.add(real)
  }

  async #kindOf(path: string): Promise<'file' | 'folder' | undefined> {
    this.#count(1)
    try {
      const stats = await stat(path)
      if (stats.isFile()) return 'file'
      return stats.isDirectory() ? 'folder' : undefined
    } catch {
      return undefined
    }
  }

  #count(places: number): void {
    this.#lookups += places
    const { maxLookups } = this.#limits
    if (this.#lookups > maxLookups)
      throw new McpError('ERR_LIMIT', `The command names too much: at most ${maxLookups} places are looked at for its files (maxLookups)`)
  }

  async #digests(): Promise<{ path: string; digest: string }[]> {
    const { maxProgramBytes, maxTotalBytes } = this.#limits
    const digests: { path: string; digest: string }[] = []
    let left = maxTotalBytes
    for (const path of this.#files) {
      const { digest, bytes } = await contentDigest(path, Math.min(maxProgramBytes, left))
      left -= bytes
      digests.push({ path, digest })
    }
    return digests
  }
}

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * The place of the last argument that node may take for its script. A word after an option may be the value of that
 * option; one after another word is not.
 */
function lastPossibleScript(args: readonly string[]): number {
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && (i === 0 || !args[i - 1]?.startsWith('-') || args[i - 1]?.includes('=')))
  return at === -1 ? args.length : at === 0 && /^(?:run|exec|start)$/.test(args[0] ?? '') ? args.length : at
}

/** `node .`: the file that a folder means. */
const mainOf = (path: string): string | undefined => moduleOf(path, path)

/** The file of a module, as node finds it from a folder; undefined for one of its own, and where there is none. */
function moduleOf(folder: string, name: string): string | undefined {
  try {
    const file = createRequire(join(folder, 'any')).resolve(name)
    return isAbsolute(file) ? file : undefined
  } catch {
    return undefined
  }
}

async function binFiles(folder: string, maxBytes: number): Promise<string[]> {
  const file = join(folder, 'package.json')
  try {
    const found: unknown = JSON.parse((await readPlainFile(file, maxBytes)).toString('utf8'))
    const bin = isObject(found) ? found.bin : undefined
    const paths = typeof bin === 'string' ? [bin] : isObject(bin) ? Object.values(bin) : []
    return [file, ...paths.filter((path) => typeof path === 'string').map((path) => resolve(dirname(file), path))]
  } catch {
    return []
  }
}

async function contentDigest(file: string, maxBytes: number): Promise<{ digest: string; bytes: number }> {
  try {
    return await withPlainFile(file, async (handle, { size, mtimeMs, ctimeMs }) => {
      if (size > maxBytes) return { digest: `size ${size}, changed ${mtimeMs} ${ctimeMs}`, bytes: 0 }
      const hash = createHash('sha256')
      // Not further than it may be: a file may grow while it is read.
      for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false })) hash.update(chunk as Buffer)
      return { digest: hash.digest('hex'), bytes: size }
    })
  } catch {
    // Some programs may be run and not read.
    const { size, mtimeMs, ctimeMs } = await stat(file).catch(() => ({ size: -1, mtimeMs: 0, ctimeMs: 0 }))
    return { digest: `not readable, size ${size}, changed ${mtimeMs} ${ctimeMs}`, bytes: 0 }
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
  const runner = nameOf(way.command)
  const spec = /^(?:npx|bunx|uvx)$/.test(runner) ? packageSpec(way.args) : undefined
  if (spec === undefined) return undefined
  const [, name = spec, version] = /^(@?[^@=]+)(?:@|==)?(.*)$/.exec(spec) ?? []
  const integrity = runner === 'uvx' ? undefined : await lockedIntegrity(name, folderOf(way, facts), facts)
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
    const lock: unknown = JSON.parse((await readPlainFile(join(folder, 'package-lock.json'), maxLockBytes)).toString('utf8'))
    const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {}
    const key = `node_modules/${name}`
    const entry = Object.hasOwn(packages, key) ? packages[key] : undefined
    return isObject(entry) && typeof entry.integrity === 'string' ? entry.integrity : undefined
  } catch {
    return undefined
  }
}
