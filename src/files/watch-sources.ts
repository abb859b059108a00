/** Watches the source files below a folder, without installed packages. */

import { type FSWatcher, watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Maximum number of watched folders: each costs the system a watch. */
const MAX_FOLDERS = 500
/** Changes within this time are reported together, because editors write a file in several steps. */
const QUIET_MS = 120
const SOURCE = /\.(?:[cm]?[jt]sx?|json|ya?ml|toml|env|md|txt)$/i
const isSkipped = (name: string): boolean => name === 'node_modules' || name === 'dist' || name.startsWith('.')

export interface SourceWatch {
  close(): void
}

export interface WatchOptions {
  /** Which names of files matter. Default: sources and texts. */
  isSource?(name: string): boolean
  /** Whether folders below are watched, too. Default: true. */
  isDeep?: boolean
  /** Called with the last changed file, once for changes that follow each other closely. */
  onChange(file: string): void
  /** Called when changes in some folders will not be noticed. */
  onWarning(text: string): void
}

export async function watchSources(folder: string, options: WatchOptions): Promise<SourceWatch> {
  const { onChange, onWarning, isSource = (name) => SOURCE.test(name), isDeep = true } = options
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isFull = false

  const changed = (file: string): void => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => onChange(file), QUIET_MS)
  }

  const drop = (path: string): void => {
    for (const [each, watcher] of watchers) {
      if (each !== path && !each.startsWith(join(path, '/'))) continue
      watcher.close()
      watchers.delete(each)
    }
  }

  /** A name that is not a source came, went or changed. A folder may have taken the place of another one. */
  const look = async (path: string): Promise<void> => {
    const isFolder = await lstat(path).then(
      (about) => about.isDirectory(),
      () => false,
    )
    drop(path)
    if (isFolder) await add(path, changed)
  }

  /** @param onSource called with each source that is in the folder already: no event will tell of it */
  const add = async (path: string, onSource: (file: string) => void = () => {}): Promise<void> => {
    if (isClosed || watchers.has(path)) return
    if (watchers.size >= MAX_FOLDERS) {
      if (!isFull) onWarning(`More than ${MAX_FOLDERS} folders below ${folder}: changes in the others are not noticed`)
      isFull = true
      return
    }
    try {
      const watcher = watch(path, (_event, name) => {
        if (name === null || isSkipped(name)) return
        const file = join(path, name)
        if (isSource(name)) changed(file)
        else if (isDeep) void look(file)
      })
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(path)
      })
      watchers.set(path, watcher)
    } catch {
      // Not a folder, or gone already.
      return
    }
    if (!isDeep) return
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const below = join(path, entry.name)
      if (isSkipped(entry.name)) continue
      if (entry.isDirectory()) await add(below, onSource)
      else if (isSource(entry.name)) onSource(below)
    }
  }

  await add(folder)
  return {
    close: () => {
      isClosed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}
