/**
 * A folder that is held open. What is in it is reached through the handle and not through its name, so that nobody can
 * put a link in the way between a look and an act. No link is ever followed.
 *
 * Linux has paths that lead through a handle (/proc/self/fd). Elsewhere the path is looked at again and again: then what is
 * read through a link put in the way is noticed before it is given out, but a write in that very moment can go astray.
 */

import { existsSync, constants as flags, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { codeOf } from '../../files/private-file.ts'
import { ToolError } from '../../server/index.ts'

const NOFOLLOW = flags.O_NOFOLLOW ?? 0
const FOLDER = flags.O_RDONLY | (flags.O_DIRECTORY ?? 0) | NOFOLLOW
const LOOKS = 10
const HAS_HANDLE_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')

export interface HoldOptions {
  /** Looks at paths before and after even where there are paths through handles. */
  byPath?: boolean
  /** Opens files that have a second name, which may be anywhere. */
  allowHardLinks?: boolean
}

export class HeldFolder {
  readonly handle: FileHandle
  /** The folder nothing may leave, with no link in its path. */
  readonly root: string
  readonly segments: readonly string[]
  readonly #options: HoldOptions

  private constructor(handle: FileHandle, root: string, segments: readonly string[], options: HoldOptions) {
    this.handle = handle
    this.root = root
    this.segments = segments
    this.#options = options
  }

  /** @param root a path that `realpath` has given */
  static async open(root: string, segments: readonly string[], options: HoldOptions = {}): Promise<HeldFolder> {
    let folder = new HeldFolder(await open(root, FOLDER), root, [], options)
    try {
      await folder.check()
      for (const name of segments) {
        const next = await folder.enter(name)
        await folder.close()
        folder = next
      }
      return folder
    } catch (error) {
      await folder.close()
      throw error
    }
  }

  async enter(name: string): Promise<HeldFolder> {
    const handle = await open(this.at(name), FOLDER)
    const folder = new HeldFolder(handle, this.root, [...this.segments, name], this.#options)
    try {
      await folder.check()
      return folder
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** The same, making the folder if it is not there. */
  async make(name: string): Promise<HeldFolder> {
    await mkdir(this.at(name)).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
    return this.enter(name)
  }

  /** A path to an entry of this folder, good as long as it is held. */
  at(name: string): string {
    checkName(name)
    return join(this.#isReached ? `/proc/self/fd/${this.handle.fd}` : this.#path, name)
  }

  /** A path to the folder itself, good as long as it is held. */
  get here(): string {
    return this.#isReached ? `/proc/self/fd/${this.handle.fd}/.` : this.#path
  }

  relative(name?: string): string {
    return [...this.segments, ...(name === undefined ? [] : [name])].join('/') || '.'
  }

  /** What an entry is, without following it. */
  async look(name: string): Promise<Stats> {
    const stats = await lstat(this.at(name))
    if (!this.#isReached) await this.check()
    return stats
  }

  /** Opens a plain file of this folder to read it. */
  async openFile(name: string): Promise<{ handle: FileHandle; stats: Stats }> {
    // Whatever it is: a pipe would otherwise wait for somebody to write.
    const handle = await open(this.at(name), flags.O_RDONLY | NOFOLLOW | (flags.O_NONBLOCK ?? 0))
    try {
      const stats = await handle.stat()
      this.checkFile(stats, name)
      if (this.#isReached) await this.#checkReached(handle)
      else await this.#checkPath(join(this.#path, name), stats)
      return { handle, stats }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Refuses what is no plain file of its own. */
  checkFile(stats: Stats, name: string): void {
    if (!stats.isFile()) throw new ToolError(`${this.relative(name)} is ${kindOf(stats) === 'folder' ? 'a folder' : 'no plain file'}`)
    if (stats.nlink > 1 && !this.#options.allowHardLinks)
      throw new ToolError(
        `${this.relative(name)} has a second name (a hard link), which may lie outside; it is not opened (allowHardLinks)`,
      )
  }

  /** Throws when the folder is no longer where it was. */
  async check(): Promise<void> {
    if (this.#isReached) return this.#checkReached(this.handle)
    await this.#checkPath(this.#path, await this.handle.stat())
  }

  async close(): Promise<void> {
    await this.handle.close()
  }

  get #isReached(): boolean {
    return HAS_HANDLE_PATHS && !this.#options.byPath
  }

  get #path(): string {
    return join(this.root, ...this.segments)
  }

  /** A folder may have been moved away while it was walked through. */
  async #checkReached(handle: FileHandle): Promise<void> {
    if (!isWithin(this.root, await readlink(`/proc/self/fd/${handle.fd}`))) throw moved(this.relative())
  }

  /** By turns, and more than once: who swaps a link in and out would have to do it in this very rhythm. */
  async #checkPath(path: string, opened: Stats): Promise<void> {
    for (let look = 0; look < LOOKS; look++) {
      if ((await realpath(path)) !== path) throw moved(this.relative())
      const named = await lstat(path)
      if (named.dev !== opened.dev || named.ino !== opened.ino) throw moved(this.relative())
    }
  }
}

/** Segment by segment: /a/work2 is not within /a/work. */
export const isWithin = (root: string, path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

export type Kind = 'file' | 'folder' | 'link' | 'other'

export const kindOf = (stats: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): Kind => {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

const moved = (label: string): ToolError =>
  new ToolError(`${label} was moved or replaced just now, or is reached through a link; links are not followed`)

function checkName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || (sep === '\\' && /[\\:]/.test(name)))
    throw new ToolError(`${JSON.stringify(name)} is not a valid file name`)
}
