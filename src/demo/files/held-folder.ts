/**
 * A folder that is held open. Its entries are accessed through the handle and not by path, so that no link can be put in
 * place between a check and its use. Links are never followed.
 *
 * Linux has paths that go through a handle (/proc/self/fd). On other systems the path is checked repeatedly: a read through
 * a swapped link is detected before data is returned, but a write at that moment may go to the wrong place.
 */

import { existsSync, constants as flags, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { codeOf } from '../../files/private-file.ts'
import { ToolError } from '../../server/index.ts'

const NOFOLLOW = flags.O_NOFOLLOW ?? 0
const FOLDER = flags.O_RDONLY | (flags.O_DIRECTORY ?? 0) | NOFOLLOW
const PATH_CHECKS = 10
const HAS_HANDLE_PATHS = process.platform === 'linux' && existsSync('/proc/self/fd')

export interface HoldOptions {
  /** Checks paths repeatedly even on Linux, for tests. Default: false. */
  byPath?: boolean
  /** Opens files with several hard links. Another link may be outside the folder. Default: false. */
  allowHardLinks?: boolean
}

export class HeldFolder {
  readonly handle: FileHandle
  /** The real path of the enclosing folder. No access goes outside it. */
  readonly root: string
  readonly segments: readonly string[]
  readonly #options: HoldOptions

  private constructor(handle: FileHandle, root: string, segments: readonly string[], options: HoldOptions) {
    this.handle = handle
    this.root = root
    this.segments = segments
    this.#options = options
  }

  /** @param root a path returned by `realpath` */
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

  /** Enters a folder, and creates it if it is missing. */
  async make(name: string): Promise<HeldFolder> {
    await mkdir(this.at(name)).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
    return this.enter(name)
  }

  /** A path to an entry of this folder, valid while the folder is held. */
  at(name: string): string {
    checkName(name)
    return join(this.#usesHandlePath ? `/proc/self/fd/${this.handle.fd}` : this.#path, name)
  }

  /** A path to the folder itself, valid while it is held. */
  get here(): string {
    return this.#usesHandlePath ? `/proc/self/fd/${this.handle.fd}/.` : this.#path
  }

  relative(name?: string): string {
    return [...this.segments, ...(name === undefined ? [] : [name])].join('/') || '.'
  }

  /** The stats of an entry. Links are not followed. */
  async look(name: string): Promise<Stats> {
    const stats = await lstat(this.at(name))
    if (!this.#usesHandlePath) await this.check()
    return stats
  }

  /** Opens a regular file of this folder for reading. */
  async openFile(name: string): Promise<{ handle: FileHandle; stats: Stats }> {
    // Non-blocking: opening a pipe would otherwise wait for a writer.
    const handle = await open(this.at(name), flags.O_RDONLY | NOFOLLOW | (flags.O_NONBLOCK ?? 0))
    try {
      const stats = await handle.stat()
      this.checkFile(stats, name)
      if (this.#usesHandlePath) await this.#checkHandle(handle)
      else await this.#checkPath(join(this.#path, name), stats)
      return { handle, stats }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Throws for anything but a regular file with one hard link. */
  checkFile(stats: Stats, name: string): void {
    if (!stats.isFile()) throw new ToolError(`${this.relative(name)} is ${kindOf(stats) === 'folder' ? 'a folder' : 'not a regular file'}`)
    if (stats.nlink > 1 && !this.#options.allowHardLinks)
      throw new ToolError(
        `${this.relative(name)} has another hard link, which may be outside the allowed folders; it is not opened (allowHardLinks)`,
      )
  }

  /** Throws if the folder was moved or replaced. */
  async check(): Promise<void> {
    if (this.#usesHandlePath) return this.#checkHandle(this.handle)
    await this.#checkPath(this.#path, await this.handle.stat())
  }

  async close(): Promise<void> {
    await this.handle.close()
  }

  get #usesHandlePath(): boolean {
    return HAS_HANDLE_PATHS && !this.#options.byPath
  }

  get #path(): string {
    return join(this.root, ...this.segments)
  }

  /** Throws if the folder was moved out of the root after it was opened. */
  async #checkHandle(handle: FileHandle): Promise<void> {
    if (!isWithin(this.root, await readlink(`/proc/self/fd/${handle.fd}`))) throw moved(this.relative())
  }

  /** Alternates two checks several times: an attacker who swaps a link in and out would have to match the timing of all of them. */
  async #checkPath(path: string, opened: Stats): Promise<void> {
    for (let i = 0; i < PATH_CHECKS; i++) {
      if ((await realpath(path)) !== path) throw moved(this.relative())
      const named = await lstat(path)
      if (named.dev !== opened.dev || named.ino !== opened.ino) throw moved(this.relative())
    }
  }
}

/** Compares whole segments: /a/work2 is not within /a/work. */
export const isWithin = (root: string, path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

export type Kind = 'file' | 'folder' | 'link' | 'other'

export const kindOf = (stats: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): Kind => {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

const moved = (label: string): ToolError =>
  new ToolError(`${label} was just moved or replaced, or its path contains a link; links are not followed`)

function checkName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || (sep === '\\' && /[\\:]/.test(name)))
    throw new ToolError(`${JSON.stringify(name)} is not a valid file name`)
}
