/** Collects the real files that a command names, with a limit on file system lookups. */

import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { McpError } from '../../protocol/errors.ts'
import { contentDigest } from './content-digest.ts'
import type { EntryFileLimits } from './launch-context.ts'

export class FileSet {
  /** Real paths. */
  readonly files = new Set<string>()
  /** Folders that names may be relative to: the working folder, and every folder named so far. */
  readonly bases: string[]
  readonly #folder: string
  readonly #dataFiles: readonly string[]
  readonly #limits: EntryFileLimits
  readonly #seen = new Set<string>()
  #lookups = 0

  constructor(folder: string, dataFiles: readonly string[], limits: EntryFileLimits) {
    this.bases = [folder]
    this.#folder = folder
    this.#dataFiles = dataFiles
    this.#limits = limits
  }

  /** True the first time a path is checked. */
  isNew(path: string): boolean {
    if (this.#seen.has(path)) return false
    this.#seen.add(path)
    return true
  }

  async addIfFile(path: string): Promise<void> {
    if (this.isNew(path) && (await this.kindOf(path)) === 'file') await this.add(path)
  }

  async add(path: string): Promise<void> {
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) return
    for (const data of this.#dataFiles) {
      if ((await realpath(resolve(this.#folder, data)).catch(() => undefined)) === real) return
    }
    this.files.add(real)
  }

  async kindOf(path: string): Promise<'file' | 'folder' | undefined> {
    this.countLookups(1)
    try {
      const stats = await stat(path)
      if (stats.isFile()) return 'file'
      return stats.isDirectory() ? 'folder' : undefined
    } catch {
      return undefined
    }
  }

  /** @throws McpError ERR_LIMIT past maxLookups */
  countLookups(count: number): void {
    this.#lookups += count
    const { maxLookups } = this.#limits
    if (this.#lookups > maxLookups)
      throw new McpError('ERR_LIMIT', `The command names too many files: at most ${maxLookups} paths are checked (maxLookups)`)
  }

  /** The base folders and all their parents: manifests and packages are found there too. */
  foldersAbove(): Set<string> {
    const folders = new Set<string>()
    for (const base of this.bases) {
      for (let folder = base; !folders.has(folder); folder = dirname(folder)) folders.add(folder)
    }
    return folders
  }

  async digests(): Promise<{ path: string; digest: string }[]> {
    const { maxProgramBytes, maxTotalBytes } = this.#limits
    const digests: { path: string; digest: string }[] = []
    let left = maxTotalBytes
    for (const path of this.files) {
      const { digest, bytes } = await contentDigest(path, Math.min(maxProgramBytes, left))
      left -= bytes
      digests.push({ path, digest })
    }
    return digests
  }
}

export const isInside = (folder: string, path: string): boolean => {
  const below = relative(folder, path)
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
