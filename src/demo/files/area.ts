/** What the tools and resources of one files server share: where they may go, how far, and who is there just now. */

import type { Context } from '../../server/index.ts'
import { type Folder, locate, nameOf, type Spot, told, usableFolders } from './enclosure.ts'
import { HeldFolder, type HoldOptions } from './held-folder.ts'
import type { FilesLimits } from './limits.ts'

/** A place that the caller may go to. */
export interface Place {
  spot: Spot
  /** How it is called in answers. */
  name: string
  folders: readonly Folder[]
}

export class Area {
  readonly operator: readonly Folder[]
  readonly limits: FilesLimits
  readonly hold: HoldOptions
  readonly #turns = new Map<string, Promise<unknown>>()
  #lastRoots: readonly Folder[] = []
  readonly #folders = new WeakMap<Context, Promise<Folder[]>>()

  constructor(operator: readonly Folder[], limits: FilesLimits, hold: HoldOptions) {
    this.operator = operator
    this.limits = limits
    this.hold = hold
  }

  /** What the caller may use; settled once for a call. */
  folders(ctx: Context): Promise<readonly Folder[]> {
    const known = this.#folders.get(ctx) ?? this.#settle(ctx)
    this.#folders.set(ctx, known)
    return known
  }

  /** Where something may be watched: subscribing is no call that could ask for roots, so it is where the last were. */
  get watchable(): readonly Folder[] {
    return this.operator.length > 0 ? this.operator : this.#lastRoots
  }

  async #settle(ctx: Context): Promise<Folder[]> {
    const folders = await usableFolders(this.operator, ctx)
    this.#lastRoots = folders
    return folders
  }

  /** Finds the place for the caller and lets `act` go there; faults of the file system come out in words. */
  async go<T>(path: string, ctx: Context, act: (place: Place) => Promise<T>): Promise<T> {
    const folders = await this.folders(ctx)
    const spot = locate(folders, path)
    const name = nameOf(spot, folders)
    try {
      return await act({ spot, name, folders })
    } catch (error) {
      throw told(error, name)
    }
  }

  /** Holds the place itself, which must be a folder, while `act` runs. */
  async enter<T>({ folder, segments }: Spot, act: (held: HeldFolder) => Promise<T>): Promise<T> {
    const held = await HeldFolder.open(folder.real, segments, this.hold)
    try {
      return await act(held)
    } finally {
      await held.close()
    }
  }

  /** One change of a place after the other, so that none is made to what another has just replaced. */
  async inTurn<T>({ folder, segments }: Spot, act: () => Promise<T>): Promise<T> {
    const key = [folder.real, ...segments].join('\0')
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(act, act)
    const over = turn.catch(() => {})
    this.#turns.set(key, over)
    try {
      return await turn
    } finally {
      if (this.#turns.get(key) === over) this.#turns.delete(key)
    }
  }
}
