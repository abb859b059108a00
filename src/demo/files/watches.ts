/** Folders that are watched because somebody subscribed to something in them. */

import { type FSWatcher, watch } from 'node:fs'
import type { Area } from './area.ts'
import { HeldFolder } from './held-folder.ts'
import { spotOf } from './resources.ts'

interface Watch {
  watcher: FSWatcher
  /** The URIs asked for, by the name of the file in the folder; '' for the folder itself. */
  uris: Map<string, Set<string>>
}

/** One change makes several events. */
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
   * Watches what a URI names, if it is in the folders of the operator, or else in roots that clients have given. What is
   * elsewhere, or is not there, is not watched, and that is not told: subscribing gives nothing out.
   */
  add(uri: string): Promise<void> {
    const spot = spotOf(this.#area.watchable, uri)
    if (!spot) return Promise.resolve()
    // One after the other: of two who want the same folder, the second finds what the first has made.
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
    // To the end: the first is the one that was asked for longest ago.
    this.#watches.delete(key)
    this.#watches.set(key, watched)
    // One file can be written as many URIs, and a folder can have any number of names.
    const uris = watched.uris.get(name) ?? new Set()
    if (watched.uris.size < MAX_NAMES && uris.size < MAX_SPELLINGS) watched.uris.set(name, uris.add(uri))
    for (const [oldest, { watcher }] of this.#watches) {
      if (this.#watches.size <= this.#area.limits.maxWatched) break
      // The list of resources hangs on these.
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
      // Through the handle: the path may lead elsewhere by now.
      const watcher = watch(held.here, { persistent: false }, (_event, name) => this.#heard(key, name))
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

  #heard(key: string, name: string | null): void {
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
