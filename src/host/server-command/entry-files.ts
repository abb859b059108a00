/** Finds the files that a command would run or read, so that the fingerprint can cover their content. */

import { readdir } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { readPlainFile } from '../../files/plain-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { StdioTransport } from '../model/server-spec.ts'
import { readStart } from './content-digest.ts'
import { isCode, namesIn } from './file-names.ts'
import { FileSet, isInside } from './file-set.ts'
import { type FoundProgram, findProgram } from './find-program.ts'
import {
  CODE_OPTION,
  ENDINGS,
  type Family,
  familyOf,
  lastPossibleScript,
  programName,
  runsUnfoundModule,
  splitArguments,
} from './interpreters.ts'
import {
  DEFAULT_ENTRY_FILE_LIMITS,
  type EntryFileFacts,
  type EntryFileLimits,
  findCommandProgram,
  folderOf,
  pathOf,
} from './launch-context.ts'

import { binFiles, mainFile, moduleFile } from './node-modules.ts'
import { changesWhatRuns } from './risky-variables.ts'
import { manifestsOf, NODE_RUNNER, runsUnnamed } from './runners.ts'
import { assignmentsIn, nodeOptionWords, shebangWords, shellWords } from './split-words.ts'
import { WRAPPERS } from './wrappers.ts'

export interface EntryFiles {
  /** Undefined: not found. */
  program: FoundProgram | undefined
  /** The programs that a wrapper or a shell would start, by name as written. */
  inner: readonly { name: string; real: string }[]
  contents: readonly { path: string; digest: string }[]
  /** The command contains code, which may load files that its words do not name. */
  hasCode: boolean
  /** The command runs files, packages or modules that it does not name, so their content cannot be compared. */
  runsUnnamed: boolean
}

/** Options of node whose value is a module: a file or an installed package. */
const LOADING = /^(?:-r|--require|--import|--loader|--experimental-loader)$/

/** Patterns such as `lib/*`, which a shell or the Java class path expands. */
const IS_PATTERN = /^[^*?[\]]*[*?][^/]*$/

/** Maximum number of stars in one pattern: each star multiplies the matching time. */
const MAX_STARS = 3

/** A larger argument file, as in `java @file`, is digested but not parsed. */
const MAX_ARGUMENT_FILE_BYTES = 256 * 1024

/** Finds the program and the files of a command. */
export async function findEntryFiles(transport: StdioTransport, facts: EntryFileFacts): Promise<EntryFiles> {
  return new CommandReader(transport, facts).all()
}

/** Reads one command, and collects everything that it names. */
class CommandReader {
  readonly #transport: StdioTransport
  readonly #facts: EntryFileFacts
  readonly #limits: EntryFileLimits
  readonly #folder: string
  readonly #name: string
  readonly #variables: Readonly<Record<string, string | undefined>>
  readonly #files: FileSet
  readonly #inner = new Map<string, string>()
  /** The arguments, with code split into words. */
  readonly #words: readonly string[]
  /** Variables that code in the arguments assigns. */
  readonly #assigned: Record<string, string> = Object.create(null)
  #families: ReadonlySet<Family> = new Set()

  constructor(transport: StdioTransport, facts: EntryFileFacts) {
    this.#transport = transport
    this.#facts = facts
    this.#limits = withDefaults(DEFAULT_ENTRY_FILE_LIMITS, facts.limits)
    this.#folder = folderOf(transport, facts)
    this.#name = programName(transport.command)
    this.#files = new FileSet(this.#folder, facts.dataFiles ?? [], this.#limits)
    this.#words = splitArguments(transport.args)
    this.#variables = { HOME: process.env.HOME, ...transport.env, PWD: this.#folder }
  }

  async all(): Promise<EntryFiles> {
    const { args, env } = this.#transport
    const program = await findCommandProgram(this.#transport, this.#facts)
    if (program && !this.#isSystemInterpreter(this.#name, program.real)) this.#files.files.add(program.real)
    const own = familyOf(this.#name)
    for (const arg of args) if (isCode(arg)) Object.assign(this.#assigned, assignmentsIn(arg))
    const words = args.map((arg) => this.#names(arg))
    const isWrapper = WRAPPERS.test(this.#name)
    const startsOthers = isWrapper || own === 'shell'
    const programNames = [
      this.#name,
      ...(own === undefined || own === 'shell' || NODE_RUNNER.test(this.#name)
        ? words.flatMap((names) => [...names].map(programName))
        : []),
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
      for (const folder of this.#files.foldersAbove()) for (const manifest of manifests) await this.#files.addIfFile(join(folder, manifest))
    if (programNames.some((name) => NODE_RUNNER.test(name))) await this.#packageFiles(words)
    await this.#shebangs()
    const isRunning = [...this.#families].some((family) => family !== 'other' && family !== 'java')
    const hasCode = args.some((arg, i) => isCode(arg) && (isWrapper || (isRunning && CODE_OPTION.test(args[i - 1] ?? ''))))
    // The words after an unknown program are its own arguments. Only the word after `--` may be a program that it starts.
    const after = args.indexOf('--')
    const started = startsOthers
      ? programNames
      : [this.#name, ...(own === undefined && after !== -1 ? [programName(args[after + 1] ?? '')] : [])]
    const first = isWrapper || own !== undefined ? undefined : args.slice(0, lastPossibleScript(args) + 1)
    return {
      program,
      inner: [...this.#inner].map(([name, real]) => ({ name, real })),
      contents: await this.#files.digests(),
      hasCode,
      runsUnnamed: runsUnnamed(started, this.#words, first) || runsUnfoundModule(this.#words, this.#families, this.#files.files),
    }
  }

  /** The names in a text, both with and without the variables that shell code assigns: either may be meant. */
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

  /** `java @file`: the file contains further arguments. */
  async #argumentFile(arg: string): Promise<void> {
    if (!arg.startsWith('@')) return
    try {
      const text = (await readPlainFile(resolve(this.#folder, arg.slice(1)), MAX_ARGUMENT_FILE_BYTES)).toString('utf8')
      for (const word of shellWords(text)) for (const name of this.#names(word)) await this.#named(name, false)
    } catch (error) {
      if (error instanceof McpError && error.code === 'ERR_LIMIT') throw error
    }
  }

  /** Reads the programs in the first lines of scripts. */
  async #shebangs(): Promise<void> {
    // Files added in this loop are visited too.
    for (const file of this.#files.files) {
      const words = shebangWords(await readStart(file))
      for (const [at, word] of words.entries()) {
        if (at === 0) await this.#interpreter(word)
        else for (const name of this.#names(word)) await this.#named(name, false)
        if (at > 0) await this.#program(word)
      }
      if (words.some((word) => familyOf(programName(word)) === 'node')) await this.#modules(words)
    }
  }

  /** Adds the interpreter of a script, unless it is one of the system, which is identified by its path. */
  async #interpreter(path: string): Promise<void> {
    const found = await findProgram(path.includes('/') ? path : `./${path}`, { folder: this.#folder, path: undefined })
    if (!found || this.#isSystemInterpreter(programName(path), found.real)) return
    if (WRAPPERS.test(programName(path)) && !isInside(this.#folder, found.real)) return
    await this.#files.add(found.path)
  }

  /** An interpreter of the system is identified by its path. One inside the server's folder counts as its own file. */
  #isSystemInterpreter(name: string, real: string): boolean {
    return familyOf(name) !== undefined && !isInside(this.#folder, real) && !isInside(resolve(this.#facts.cwd ?? this.#folder), real)
  }

  async #named(name: string, mayBeMain: boolean): Promise<void> {
    for (const base of [...this.#files.bases]) {
      const path = resolve(base, name)
      if (!this.#files.isNew(path)) continue
      const kind = await this.#files.kindOf(path)
      if (kind === 'file') await this.#files.add(path)
      else if (kind === 'folder') this.#files.bases.push(path)
      if (kind !== 'file') await this.#meant(base, name, path, kind === 'folder', mayBeMain)
      // Only a shell or a class path expands a star; in `--origin=*` it is literal.
      const hasPatterns = this.#families.has('shell') || this.#families.has('java')
      if (kind === undefined && hasPatterns && IS_PATTERN.test(name)) await this.#matching(path)
    }
  }

  /** Adds files that are named without their ending or by their folder: `node server`, `node .`, `python -m server`. */
  async #meant(base: string, name: string, path: string, isFolder: boolean, mayBeMain: boolean): Promise<void> {
    for (const family of this.#families) {
      for (const ending of ENDINGS[family]) {
        await this.#files.addIfFile(`${path}${ending}`)
        // For `a.b`, Python runs `a` first.
        if ((family === 'python' || family === 'java') && /^\w+(?:\.\w+){1,64}$/.test(name))
          for (const part of prefixes(name.split('.'))) await this.#files.addIfFile(`${resolve(base, part.join('/'))}${ending}`)
      }
      if (family === 'node' && isFolder && mayBeMain) {
        await this.#files.addIfFile(join(path, 'package.json'))
        const main = mainFile(path)
        if (main !== undefined) await this.#files.addIfFile(main)
      }
    }
  }

  /** Adds every file that matches a pattern in the last segment of a path. */
  async #matching(path: string): Promise<void> {
    const written = basename(path).replace(/\*+/g, '*')
    // With too many stars, every file in the folder counts as a match.
    const isSimple = written.split('*').length <= MAX_STARS + 1
    const source = written
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    const pattern = new RegExp(isSimple ? `^${source}$` : '', 's')
    const names = await readdir(dirname(path)).catch(() => [])
    this.#files.countLookups(names.length)
    for (const name of names.sort()) if (pattern.test(name)) await this.#files.addIfFile(join(dirname(path), name))
  }

  async #variable(name: string, value: string): Promise<void> {
    const isRun = changesWhatRuns(name)
    // Shell code can use any variable as a file name.
    if (name === 'PATH' || (!isRun && !this.#families.has('shell'))) return
    for (const each of this.#names(value)) {
      await this.#named(each, isRun)
      if (isRun) await this.#inLoadPath(name, each)
    }
  }

  /** Looks for modules of the arguments in PYTHONPATH and similar variables. */
  async #inLoadPath(variable: string, folder: string): Promise<void> {
    if (!/^(?:PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB|CLASSPATH)$/.test(variable)) return
    const path = resolve(this.#folder, folder)
    if ((await this.#files.kindOf(path)) !== 'folder') return
    for (const arg of this.#transport.args) {
      for (const name of namesIn(arg, this.#variables)) await this.#meant(path, name, resolve(path, name), false, true)
    }
  }

  /** Adds packages that node options load, as in `--import tsx`. */
  async #modules(words: readonly string[]): Promise<void> {
    for (const [at, word] of words.entries()) {
      const [option = '', inline] = word.split(/=(.*)/s)
      const name = LOADING.test(option) ? (inline ?? words[at + 1]) : undefined
      if (name === undefined) continue
      await this.#named(name, true)
      const file = moduleFile(this.#folder, name)
      if (file !== undefined) await this.#files.addIfFile(file)
    }
  }

  /** Adds the program that a wrapper starts. */
  async #program(name: string): Promise<void> {
    if (!/^[\w.+@-]{1,255}$/.test(name) || name.startsWith('-') || this.#inner.has(name)) return
    const path = pathOf(this.#transport, this.#facts)
    this.#files.countLookups(path?.split(delimiter).length ?? 1)
    const found = await findProgram(name, { folder: this.#folder, path })
    if (!found) return
    this.#inner.set(name, found.real)
    if (!this.#isSystemInterpreter(programName(name), found.real)) this.#files.files.add(found.real)
  }

  /** Adds the programs of installed packages, which npx and similar programs prefer to downloading. */
  async #packageFiles(words: readonly ReadonlySet<string>[]): Promise<void> {
    const { maxLockBytes } = this.#limits
    const specs = words.flatMap((names) => [...names].filter((name) => /^(?:@[\w.-]+\/)?[\w.-]+(?:@.*)?$/.test(name)))
    const names = new Set(specs.map((spec) => spec.replace(/(?<=.)@.*$/, '')).filter((name) => !/^(?:-|\.+$)/.test(name)))
    for (const folder of this.#files.foldersAbove()) {
      const modules = join(folder, 'node_modules')
      if ((await this.#files.kindOf(modules)) !== 'folder') continue
      for (const name of names) {
        await this.#files.addIfFile(join(modules, '.bin', name.replace(/^@[^/]+\//, '')))
        for (const file of await binFiles(join(modules, name), maxLockBytes)) await this.#files.addIfFile(file)
      }
    }
    // `npx ./folder`, and workspaces named by their folder.
    for (const base of [...this.#files.bases]) for (const file of await binFiles(base, maxLockBytes)) await this.#files.addIfFile(file)
  }
}

/** The prefixes `a`, `a b` and `a b c` of `a b c`. */
const prefixes = (parts: readonly string[]): string[][] => parts.map((_, i) => parts.slice(0, i + 1))
