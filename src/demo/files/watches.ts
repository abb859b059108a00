/** Watches the folders of the resources that clients subscribe to. */

import { type FSWatcher, watch } from 'node:fs'
import type { Area } from './area.ts'
import { HeldFolder } from './held-folder.ts'
import { spotOf } from './resources.ts'

interface Watch {
  watcher: FSWatcher
  /** The subscribed URIs, by file name in the folder. '' is the folder itself. */
  uris: Map<string, Set<string>>
}

/** Merges the several events of one change. */
const SETTLE_MS = 30
const MAX_NAMES = 10_000
const MAX_SPELLINGS = 16

export class Watches {
  readonly #area: Area
  readonly #onChange: (uri: string) => void
  readonly #watches = new Map<string, Watch>()
  readonly #settling = new Map<string, NodeJS.Timeout>()
  #adding: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(area: Area, onChange: (uri: string) => void) {
    this.#area = area
    this.#onChange = onChange
  }

  /**
   * Watches the file or folder of a URI, if it is in the operator's folders or, without those, in the client's roots. Other
   * and missing paths are ignored without an error, so that subscribing does not reveal which paths exist.
   */
  add(uri: string): Promise<void> {
    const spot = spotOf(this.#area.watchable, uri)
    if (!spot) return Promise.resolve()
    // One at a time, so that two subscriptions to one folder share a watcher.
    this.#adding = this.#adding.then(() => this.#add(uri, spot.folder.real, spot.segments)).catch(() => {})
    return this.#adding
  }

  close(): void {
    this.#isClosed = true
    for (const { watcher } of this.#watches.values()) watcher.close()
    for (const timer of this.#settling.values()) clearTimeout(timer)
    this.#watches.clear()
    this.#settling.clear()
  }

  async #add(uri: string, root: string, segments: readonly string[]): Promise<void> {
    if (this.#isClosed) return
    const isFolder = await this.#isFolder(root, segments)
    const path = isFolder ? segments : segments.slice(0, -1)
    const name = isFolder ? '' : (segments.at(-1) ?? '')
    const key = [root, ...path].join('\0')
    const known = this.#watches.get(key)
    const watched = known ?? { watcher: await this.#watch(root, path, key), uris: new Map() }
    // Moved to the end: the map is ordered by the last request.
    this.#watches.delete(key)
    this.#watches.set(key, watched)
    // Names and URIs are limited: a folder may have any number of names, and a file has many equivalent URIs.
    const uris = watched.uris.get(name) ?? new Set()
    if (watched.uris.size < MAX_NAMES && uris.size < MAX_SPELLINGS) watched.uris.set(name, uris.add(uri))
    for (const [oldest, { watcher }] of this.#watches) {
      if (this.#watches.size <= this.#area.limits.maxWatched) break
      // The list of resources needs the watchers of the operator's folders.
      if (this.#area.operator.some(({ real }) => real === oldest)) continue
      watcher.close()
      this.#watches.delete(oldest)
    }
  }

  async #isFolder(root: string, segments: readonly string[]): Promise<boolean> {
    try {
      const held = await HeldFolder.open(root, segments, this.#area.hold)
      await held.close()
      return true
    } catch {
      return false
    }
  }

  async #watch(root: string, segments: readonly string[], key: string): Promise<FSWatcher> {
    const held = await HeldFolder.open(root, segments, this.#area.hold)
    try {
      // Through the handle: the path may point somewhere else by now.
      const watcher = watch(held.here, { persistent: false }, (_event, name) => this.#onFileEvent(key, name))
      watcher.on('error', () => {
        watcher.close()
        this.#watches.delete(key)
      })
      if (this.#isClosed) watcher.close()
      return watcher
    } finally {
      await held.close()
    }
  }

  #onFileEvent(key: string, name: string | null): void {
    const { uris } = this.#watches.get(key) ?? {}
    if (!uris) return
    for (const uri of uris.get('') ?? []) this.#settle(uri)
    for (const uri of (name === null ? undefined : uris.get(name)) ?? []) this.#settle(uri)
  }

  #settle(uri: string): void {
    if (this.#settling.has(uri) || this.#isClosed) return
    const tell = (): void => {
      this.#settling.delete(uri)
      this.#onChange(uri)
    }
    this.#settling.set(uri, setTimeout(tell, SETTLE_MS).unref())
  }
}
