/** Watches the folders of skills. Each is watched alone, because recursive watches miss changes in new folders on some systems. */

import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

/** Changes within this time lead to one scan, because editors and package managers write many files at once. */
const QUIET_MS = 100
/** Each watched folder costs the system a watch. */
const MAX_FOLDERS = 1000

export interface FolderWatchOptions {
  onChange(): void
  onWarning(text: string): void
}

export class FolderWatch {
  readonly #root: string
  readonly #options: FolderWatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined
  #isFull = false

  constructor(root: string, options: FolderWatchOptions) {
    this.#root = root
    this.#options = options
  }

  /** Watches these folders and no others. True if one of them was not watched before. */
  follow(folders: readonly string[]): boolean {
    const wanted = new Set(folders)
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    let isNew = false
    for (const folder of folders) if (!this.#watchers.has(folder) && this.#add(folder)) isNew = true
    return isNew
  }

  /** Whether a change waits to be reported. It is not reported any more then. */
  takePending(): boolean {
    const isPending = this.#timer !== undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    return isPending
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #add(folder: string): boolean {
    if (this.#watchers.size >= MAX_FOLDERS) {
      this.#warnOnce(`More than ${MAX_FOLDERS} folders of skills: changes in the others are noticed when their files are read`)
      return false
    }
    try {
      // Not persistent: watching does not keep a program running.
      const watcher = watch(join(this.#root, folder), { persistent: false }, () => this.#changed())
      watcher.on('error', () => {
        watcher.close()
        this.#watchers.delete(folder)
      })
      this.#watchers.set(folder, watcher)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A folder that is gone already is noticed by the watch of the folder above it.
      if (code !== 'ENOENT') this.#warnOnce(`Changes of skills are noticed only when their files are read: watching failed (${code})`)
      return false
    }
  }

  #changed(): void {
    if (this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#options.onChange()
    }, QUIET_MS)
    this.#timer.unref()
  }

  #warnOnce(text: string): void {
    if (!this.#isFull) this.#options.onWarning(text)
    this.#isFull = true
  }
}
