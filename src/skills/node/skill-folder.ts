/** A folder of skills on disk, read again when it changes. What it serves always matches the entries that it lists. */

import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { notices } from '../../base/notices.ts'
import { visibleText } from '../../base/text/visible-text.ts'
import { McpError } from '../../protocol/errors.ts'
import type { SkillsOptions } from '../options.ts'
import type { SkillSource, SkillTree } from '../skill-source.ts'
import { FileFault, readPlainFile } from './plain-read.ts'
import { type KnownDigests, type ScannedFolder, scanSkills } from './scan-skills.ts'
import { FolderWatch } from './watch-folder.ts'

const DEFAULT_MAX_ENTRIES = 10_000

/** Programs that a client starts have the working folder of that client. */
const NEXT_TO_PROGRAM = "a relative path begins at the working folder; new URL('./skills', import.meta.url) is next to your program"

/** @throws McpError ERR_DEFINITION if a skill is not valid, or there is none */
export async function openSkillFolder(folder: string | URL, options: SkillsOptions): Promise<SkillSource> {
  const given = pathOf(folder)
  const root = await realpath(given).catch((error: NodeJS.ErrnoException) => {
    const why = `The folder of skills ${given} cannot be read (${error.code ?? error.message})`
    const isRelative = typeof folder === 'string' && !isUrl(folder) && !isAbsolute(folder)
    throw new McpError('ERR_DEFINITION', isRelative ? `${why}; ${NEXT_TO_PROGRAM}` : why, { cause: error })
  })
  const { maxEntries = DEFAULT_MAX_ENTRIES } = options
  const digests: KnownDigests = new Map()
  const first = await scanSkills(root, maxEntries, digests).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR')
      throw new McpError('ERR_DEFINITION', `Expected a folder of skills, got the file ${given}`, { cause: error })
    throw error
  })
  const [fault] = first.faults
  if (fault !== undefined) {
    const more = first.faults.length > 1 ? ` (and ${first.faults.length - 1} more)` : ''
    throw new McpError('ERR_DEFINITION', `The skills in ${given} cannot be served: ${visibleText(fault)}${more}`)
  }
  if (first.tree.skills.length === 0) throw new McpError('ERR_DEFINITION', `${given} has no skills: expected folders with a file SKILL.md`)
  return new SkillFolder(root, first, digests, options)
}

/** `import.meta.resolve` returns a URL as text. */
const isUrl = (folder: unknown): folder is string | URL => String(folder).startsWith('file://')

function pathOf(folder: unknown): string {
  if (isUrl(folder)) return fileURLToPath(folder)
  if (typeof folder === 'string' && folder !== '') return resolve(folder)
  const got = folder instanceof URL ? folder.href : JSON.stringify(folder)
  throw new McpError('ERR_DEFINITION', `server.skills(folder): expected a path or a file: URL, got ${got}`)
}

class SkillFolder implements SkillSource {
  readonly #root: string
  readonly #options: SkillsOptions
  readonly #digests: KnownDigests
  readonly #warned = new Set<string>()
  #scanned: ScannedFolder
  #watch: FolderWatch | undefined
  #onChange: (before: SkillTree) => void = () => {}
  #scanning: Promise<void> | undefined
  #isClosed = false

  constructor(root: string, first: ScannedFolder, digests: KnownDigests, options: SkillsOptions) {
    this.#root = root
    this.#scanned = first
    this.#digests = digests
    this.#options = options
    this.#warnAbout(first)
  }

  get tree(): SkillTree {
    return this.#scanned.tree
  }

  start(onChange: (before: SkillTree) => void): void {
    this.#onChange = onChange
    if (this.#options.watch === false) return
    this.#watch = new FolderWatch(this.#root, {
      onChange: () => void this.#scan(),
      onWarning: (text) => this.#warn(text),
    })
    // Files may have changed since the folder was read.
    if (this.#watch.follow(this.#scanned.folders)) void this.#scan()
  }

  async settled(): Promise<void> {
    if (this.#watch?.takePending()) await this.#scan()
    await this.#scanning
  }

  async read(uri: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    // The second time with a new scan: the file has changed since the first.
    for (const isRetry of [false, true]) {
      if (isRetry) await this.#scan()
      const path = this.#scanned.paths.get(uri)
      const file = this.tree.files.get(uri)
      if (path === undefined || !file) return undefined
      try {
        const { bytes } = await readPlainFile(this.#root, path)
        if (bytes && `sha256:${createHash('sha256').update(bytes).digest('hex')}` === file.digest) return bytes
      } catch (error) {
        if (!(error instanceof FileFault)) throw error
      }
    }
    throw new McpError('ERR_INTERNAL', `${uri} is being changed; try again`)
  }

  close(): void {
    this.#isClosed = true
    this.#watch?.close()
  }

  /** One scan at a time. A change during a scan leads to another one. */
  #scan(): Promise<void> {
    const run = async (): Promise<void> => {
      if (this.#isClosed) return
      try {
        const next = await scanSkills(this.#root, this.#options.maxEntries ?? DEFAULT_MAX_ENTRIES, this.#digests)
        this.#take(next)
      } catch (error) {
        this.#warn(`The skills in ${this.#root} cannot be read, and stay as they were: ${(error as Error).message}`)
      }
    }
    const scanning = (this.#scanning ?? Promise.resolve()).then(run).finally(() => {
      if (this.#scanning === scanning) this.#scanning = undefined
    })
    this.#scanning = scanning
    return scanning
  }

  #take(next: ScannedFolder): void {
    const before = this.tree
    this.#scanned = next
    this.#warnAbout(next)
    if (!isSame(before, next.tree)) this.#onChange(before)
    // A new folder may have got files before it was watched.
    if (this.#watch?.follow(next.folders)) void this.#scan()
  }

  #warnAbout({ faults, tree }: ScannedFolder): void {
    const names = new Map<string, string>()
    const texts = faults.map((fault) => `A skill in ${this.#root} cannot be served: ${fault}`)
    for (const { uri, frontmatter } of tree.skills) {
      const other = names.get(frontmatter.name)
      if (other !== undefined) texts.push(`Two skills have the name ${frontmatter.name}: ${other} and ${uri}`)
      names.set(frontmatter.name, uri)
    }
    for (const text of texts) if (!this.#warned.has(text)) this.#warn(text)
    this.#warned.clear()
    for (const text of texts) this.#warned.add(text)
  }

  #warn(text: string): void {
    const { onWarning = (message: string) => notices.write('warn', `portico: ${message}`) } = this.#options
    onWarning(visibleText(text))
  }
}

function isSame(a: SkillTree, b: SkillTree): boolean {
  if (a.files.size !== b.files.size || a.skills.length !== b.skills.length) return false
  // The digest of SKILL.md covers the frontmatter.
  for (const [uri, { digest }] of a.files) if (b.files.get(uri)?.digest !== digest) return false
  return a.skills.every(({ uri }, at) => b.skills[at]?.uri === uri)
}
