/** Which files a command would run or read, and what is in them. */

import { createHash } from 'node:crypto'
import { readdir, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isObject } from '../../base/json.ts'
import { readPlainFile, withPlainFile } from '../../files/plain-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { StdioTransport } from '../model/server-spec.ts'
import { type FoundProgram, findProgram } from './find-program.ts'
import { isCode, namesIn } from './names-in.ts'
import { manifestsOf, NODE_RUNNER, packageRuns, runsUnnamed } from './runners.ts'
import { changesWhatRuns } from './variables.ts'
import { assignmentsIn, nodeOptionWords, shebangWords, shellWords } from './words.ts'
import { WRAPPERS } from './wrappers.ts'

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
  /** The command runs files, packages or modules that it does not name, so that their content cannot be compared. */
  runsUnnamed: boolean
}

/**
 * Programs that run what they are given. What counts is the script: a new version of the interpreter would otherwise make
 * every server another one, and reading it whole each time would cost more than starting it. Its place still counts.
 */
type Family = 'node' | 'python' | 'ruby' | 'perl' | 'php' | 'shell' | 'java' | 'other'

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

/** Endings that an interpreter adds to a name by itself. */
const ENDINGS: Readonly<Record<Family, readonly string[]>> = {
  node: ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.node'],
  python: ['.py', '/__main__.py', '/__init__.py'],
  ruby: ['.rb'],
  perl: ['.pm', '.pl'],
  php: [],
  shell: [],
  java: ['.class', '.java'],
  other: [],
}

/** Options of node whose value is a module: a file, or a package that is installed. */
const LOADING = /^(?:-r|--require|--import|--loader|--experimental-loader)$/

/** `lib/*` and its like, which a shell and the class path of java take for every file that fits. */
const IS_PATTERN = /^[^*?[\]]*[*?][^/]*$/

/** In one pattern. */
const MAX_STARS = 3

/** How much of a file is read for the program that it names in its first line; systems read less. */
const MAX_SHEBANG_BYTES = 4096

/** A larger file of arguments, as in `java @file`, counts by its content and is not looked into. */
const MAX_ARGUMENT_FILE_BYTES = 256 * 1024

/** Options whose value is code. */
const CODE_OPTION = /^(?:-[a-z]*[ce]|--eval|--command|-p|--print|-r|\/c)$/i

export async function entryFilesOf(transport: StdioTransport, facts: EntryFileFacts): Promise<EntryFiles> {
  return new Look(transport, facts).all()
}

/** As people write it, without the ending that Windows adds. */
const nameOf = (command: string): string => {
  const name = process.platform === 'win32' ? basename(command.replaceAll('\\', '/')) : basename(command)
  return name.replace(/\.(?:exe|cmd|bat)$/i, '').toLowerCase()
}

const wordsOf = (args: readonly string[]): string[] => args.flatMap((arg) => (isCode(arg) ? shellWords(arg) : [arg]))

const familyOf = (name: string): Family | undefined => FAMILIES.find(([, pattern]) => pattern.test(name))?.[0]

export const folderOf = (transport: StdioTransport, { cwd = process.cwd() }: EntryFileFacts): string => resolve(cwd, transport.cwd ?? '.')

/** The PATH that the process will have: its own, or that of this process. */
const pathOf = (transport: StdioTransport, facts: EntryFileFacts): string | undefined =>
  transport.env.PATH ?? facts.path ?? process.env.PATH

/** The program of a command, as the system would find it. */
export const programOf = (transport: StdioTransport, facts: EntryFileFacts): Promise<FoundProgram | undefined> =>
  findProgram(transport.command, { folder: folderOf(transport, facts), path: pathOf(transport, facts) })

/** One look at everything that a command names. */
class Look {
  readonly #transport: StdioTransport
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
  /** The arguments, with code taken apart. */
  readonly #words: readonly string[]
  /** What code in the arguments gives to variables. */
  readonly #assigned: Record<string, string> = Object.create(null)
  #families: ReadonlySet<Family> = new Set()
  #lookups = 0

  constructor(transport: StdioTransport, facts: EntryFileFacts) {
    this.#transport = transport
    this.#facts = facts
    this.#limits = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
    this.#folder = folderOf(transport, facts)
    this.#name = nameOf(transport.command)
    this.#bases = [this.#folder]
    this.#words = wordsOf(transport.args)
    this.#variables = { HOME: process.env.HOME, ...transport.env, PWD: this.#folder }
  }

  async all(): Promise<EntryFiles> {
    const { args, env } = this.#transport
    const program = await programOf(this.#transport, this.#facts)
    if (program && !this.#isSystemInterpreter(this.#name, program.real)) this.#files.add(program.real)
    const own = familyOf(this.#name)
    for (const arg of args) if (isCode(arg)) Object.assign(this.#assigned, assignmentsIn(arg))
    const words = args.map((arg) => this.#names(arg))
    const isWrapper = WRAPPERS.test(this.#name)
    const startsOthers = isWrapper || own === 'shell'
    const programNames = [
      this.#name,
      ...(own === undefined || own === 'shell' || NODE_RUNNER.test(this.#name) ? words.flatMap((names) => [...names].map(nameOf)) : []),
    ]
    this.#families = new Set(programNames.flatMap((name) => familyOf(name) ?? []))
    const mainsEnd = own === 'node' ? lastPossibleScript(args) : args.length
    for (const [at, names] of words.entries()) {
      for (const name of names) {
        await this.#named(name, at <= mainsEnd)
        if (startsOthers || (own === undefined && isCode(args[at] as string))) await this.#program(name)
      }
      if (this.#families.has('java')) await this.#argumentFile(args[at] as string)
    }
    for (const [name, value] of Object.entries(env)) await this.#variable(name, value)
    if (this.#families.has('node')) await this.#modules([...args, ...this.#nodeOptions()])
    const manifests = manifestsOf(programNames)
    if (this.#families.has('node') && args.some((arg) => /(?:^|\s)--run\b/.test(arg))) manifests.push('package.json')
    if (manifests.length > 0)
      for (const folder of this.#foldersAbove()) for (const manifest of manifests) await this.#plainFile(join(folder, manifest))
    if (programNames.some((name) => NODE_RUNNER.test(name))) await this.#packageFiles(words)
    await this.#shebangs()
    const isRunning = [...this.#families].some((family) => family !== 'other' && family !== 'java')
    const hasCode = args.some((arg, i) => isCode(arg) && (isWrapper || (isRunning && CODE_OPTION.test(args[i - 1] ?? ''))))
    // Of a program that nobody knows, the words are its own; it says with `--` that others follow.
    const after = args.indexOf('--')
    const started = startsOthers
      ? programNames
      : [this.#name, ...(own === undefined && after !== -1 ? [nameOf(args[after + 1] ?? '')] : [])]
    const first = isWrapper || own !== undefined ? undefined : args.slice(0, lastPossibleScript(args) + 1)
    return {
      program,
      inner: [...this.#inner].map(([name, real]) => ({ name, real })),
      contents: await this.#digests(),
      hasCode,
      runsUnnamed: runsUnnamed(started, this.#words, first) || this.#runsModule(),
    }
  }

  /** With what code of a shell gives to variables, and without it: which of the two it means cannot be told. */
  #names(text: string): Set<string> {
    const names = namesIn(text, this.#variables)
    if (Object.keys(this.#assigned).length === 0) return names
    return new Set([...names, ...namesIn(text, { ...this.#variables, ...this.#assigned })])
  }

  #nodeOptions(): string[] {
    const texts = [this.#transport.env.NODE_OPTIONS ?? '']
    for (const arg of this.#transport.args) {
      if (arg.startsWith('NODE_OPTIONS=')) texts.push(arg.slice('NODE_OPTIONS='.length))
    }
    if (this.#assigned.NODE_OPTIONS !== undefined) texts.push(this.#assigned.NODE_OPTIONS)
    return texts.flatMap(nodeOptionWords)
  }

  /** `python -m server` and `java -cp lib Main`, where no file was found that is meant. */
  #runsModule(): boolean {
    const words = this.#words
    const hasFile = (pattern: RegExp): boolean => [...this.#files].some((file) => pattern.test(file))
    if (this.#families.has('python')) {
      const at = words.findIndex((word) => /^-[a-zA-Z]*m/.test(word))
      const name =
        at === -1 ? undefined : /^-[a-zA-Z]*m$/.test(words[at] as string) ? words[at + 1] : words[at]?.replace(/^-[a-zA-Z]*?m/, '')
      const tail = name?.replaceAll('.', '/')
      if (tail !== undefined && ![...this.#files].some((file) => [`/${tail}.py`, `/${tail}/__main__.py`].some((end) => file.endsWith(end))))
        return true
    }
    return this.#families.has('java') && !hasFile(/\.(?:jar|class|java)$/) && !words.includes('-jar')
  }

  /** The working folder and those that are named, with the folders above them: manifests and packages are found there too. */
  #foldersAbove(): Set<string> {
    const folders = new Set<string>()
    for (const base of this.#bases) {
      for (let folder = base; !folders.has(folder); folder = dirname(folder)) folders.add(folder)
    }
    return folders
  }

  /** `java @file`: the file has further arguments. */
  async #argumentFile(arg: string): Promise<void> {
    if (!arg.startsWith('@')) return
    try {
      const text = (await readPlainFile(resolve(this.#folder, arg.slice(1)), MAX_ARGUMENT_FILE_BYTES)).toString('utf8')
      for (const word of shellWords(text)) for (const name of this.#names(word)) await this.#named(name, false)
    } catch (error) {
      if (error instanceof McpError && error.code === 'ERR_LIMIT') throw error
    }
  }

  /** The first line of a script names a program, which may load further files. */
  async #shebangs(): Promise<void> {
    // Files that are added here are looked at in turn.
    for (const file of this.#files) {
      const words = shebangWords(await startOf(file))
      for (const [at, word] of words.entries()) {
        if (at === 0) await this.#interpreter(word)
        else for (const name of this.#names(word)) await this.#named(name, false)
        if (at > 0) await this.#program(word)
      }
      if (words.some((word) => familyOf(nameOf(word)) === 'node')) await this.#modules(words)
    }
  }

  /** One of the machine counts by its place, which the script names; another by its content. */
  async #interpreter(path: string): Promise<void> {
    const found = await findProgram(path.includes('/') ? path : `./${path}`, { folder: this.#folder, path: undefined })
    if (!found || this.#isSystemInterpreter(nameOf(path), found.real)) return
    if (WRAPPERS.test(nameOf(path)) && !isInside(this.#folder, found.real)) return
    await this.#add(found.path)
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
      // Without a shell or a class path a star is a star: `--origin=*`.
      const hasPatterns = this.#families.has('shell') || this.#families.has('java')
      if (kind === undefined && hasPatterns && IS_PATTERN.test(name)) await this.#matching(path)
    }
  }

  /** `node server`, `node .` and `python -m server`: files that are named without their ending, or by their folder. */
  async #meant(base: string, name: string, path: string, isFolder: boolean, mayBeMain: boolean): Promise<void> {
    for (const family of this.#families) {
      for (const ending of ENDINGS[family]) {
        await this.#plainFile(`${path}${ending}`)
        // Of `a.b` python runs `a` first.
        if ((family === 'python' || family === 'java') && /^\w+(?:\.\w+){1,64}$/.test(name))
          for (const part of startsOf(name.split('.'))) await this.#plainFile(`${resolve(base, part.join('/'))}${ending}`)
      }
      if (family === 'node' && isFolder && mayBeMain) {
        await this.#plainFile(join(path, 'package.json'))
        const main = mainOf(path)
        if (main !== undefined) await this.#plainFile(main)
      }
    }
  }

  /** Every file that a pattern in the last part of a path fits. */
  async #matching(path: string): Promise<void> {
    const written = basename(path).replace(/\*+/g, '*')
    // Each star multiplies the time that a test takes: with many, every file counts.
    const isSimple = written.split('*').length <= MAX_STARS + 1
    const source = written
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    const pattern = new RegExp(isSimple ? `^${source}$` : '', 's')
    const names = await readdir(dirname(path)).catch(() => [])
    this.#count(names.length)
    for (const name of names.sort()) if (pattern.test(name)) await this.#plainFile(join(dirname(path), name))
  }

  async #variable(name: string, value: string): Promise<void> {
    const isRun = changesWhatRuns(name)
    // Code can use any variable as the name of a file.
    if (name === 'PATH' || (!isRun && !this.#families.has('shell'))) return
    for (const each of this.#names(value)) {
      await this.#named(each, isRun)
      if (isRun) await this.#inLoadPath(name, each)
    }
  }

  /** PYTHONPATH and its like: a module that is named in the arguments may be in there. */
  async #inLoadPath(variable: string, folder: string): Promise<void> {
    if (!/^(?:PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB|CLASSPATH)$/.test(variable)) return
    const path = resolve(this.#folder, folder)
    if ((await this.#kindOf(path)) !== 'folder') return
    for (const arg of this.#transport.args) {
      for (const name of namesIn(arg, this.#variables)) await this.#meant(path, name, resolve(path, name), false, true)
    }
  }

  /** Packages that node is told to load, as in `--import tsx`. */
  async #modules(words: readonly string[]): Promise<void> {
    for (const [at, word] of words.entries()) {
      const [option = '', inline] = word.split(/=(.*)/s)
      const name = LOADING.test(option) ? (inline ?? words[at + 1]) : undefined
      if (name === undefined) continue
      await this.#named(name, true)
      const file = moduleOf(this.#folder, name)
      if (file !== undefined) await this.#plainFile(file)
    }
  }

  /** What a wrapper starts. */
  async #program(name: string): Promise<void> {
    if (!/^[\w.+@-]{1,255}$/.test(name) || name.startsWith('-') || this.#inner.has(name)) return
    const path = pathOf(this.#transport, this.#facts)
    this.#count(path?.split(delimiter).length ?? 1)
    const found = await findProgram(name, { folder: this.#folder, path })
    if (!found) return
    this.#inner.set(name, found.real)
    if (!this.#isSystemInterpreter(nameOf(name), found.real)) this.#files.add(found.real)
  }

  /** The programs of packages that are installed here, or above: npx and its like run those before they fetch any. */
  async #packageFiles(words: readonly ReadonlySet<string>[]): Promise<void> {
    const { maxLockBytes } = this.#limits
    const specs = words.flatMap((names) => [...names].filter((name) => /^(?:@[\w.-]+\/)?[\w.-]+(?:@.*)?$/.test(name)))
    const names = new Set(specs.map((spec) => spec.replace(/(?<=.)@.*$/, '')).filter((name) => !/^(?:-|\.+$)/.test(name)))
    for (const folder of this.#foldersAbove()) {
      const modules = join(folder, 'node_modules')
      if ((await this.#kindOf(modules)) !== 'folder') continue
      for (const name of names) {
        await this.#plainFile(join(modules, '.bin', name.replace(/^@[^/]+\//, '')))
        for (const file of await binFiles(join(modules, name), maxLockBytes)) await this.#plainFile(file)
      }
    }
    // `npx ./folder`, and the workspaces that are named by their folder.
    for (const base of [...this.#bases]) for (const file of await binFiles(base, maxLockBytes)) await this.#plainFile(file)
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
  const transport = relative(folder, path)
  return transport !== '..' && !transport.startsWith(`..${sep}`) && !isAbsolute(transport)
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

/** `a`, `a b` and `a b c` of `a b c`. */
const startsOf = (parts: readonly string[]): string[][] => parts.map((_, i) => parts.slice(0, i + 1))

async function startOf(file: string): Promise<string> {
  try {
    return await withPlainFile(file, async (handle) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_SHEBANG_BYTES), 0, MAX_SHEBANG_BYTES, 0)
      return buffer.toString('utf8', 0, bytesRead)
    })
  } catch {
    return ''
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

/** The packages that npx, uvx and their like would fetch and run, also behind a wrapper and in the code of a shell. */
export async function packagesOf(transport: StdioTransport, facts: EntryFileFacts): Promise<RunPackage[]> {
  const own = familyOf(nameOf(transport.command))
  const words = [transport.command, ...wordsOf(transport.args)]
  // Of an interpreter that runs a script the words are the script's.
  const mayRun =
    own === undefined ||
    own === 'shell' ||
    own === 'other' ||
    /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|pipx|uv)$/.test(nameOf(transport.command))
  const found = new Map<string, RunPackage>()
  for (const { runner, args } of mayRun ? packageRuns(words, nameOf) : []) {
    const spec = packageSpec(args)
    if (spec === undefined || found.has(spec)) continue
    // A folder is no package that is published: its files count.
    if (/^(?:\.{0,2}\/|\.{1,2}$|file:|~)/.test(spec)) continue
    const [, name = spec, version] = /^(@?[^@=]+)(?:@|==)?(.*)$/.exec(spec) ?? []
    const integrity = /^(?:uvx|pipx)$/.test(runner) ? undefined : await lockedIntegrity(name, folderOf(transport, facts), facts)
    found.set(spec, { spec, name, isPinned: integrity !== undefined || /^\d+\.\d+\.\d+/.test(version ?? ''), integrity })
  }
  return [...found.values()]
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
