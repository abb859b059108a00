/** Shared state of the tools and resources of one files server: allowed folders, limits, and queued changes. */

import { Turns } from '../../base/turns.ts'
import type { Context } from '../../server/index.ts'
import { type Folder, locate, nameOf, readableError, type Spot, usableFolders } from './enclosure.ts'
import { HeldFolder, type HoldOptions } from './held-folder.ts'
import type { FilesLimits } from './limits.ts'

/** A path that the caller may use. */
export interface Place {
  spot: Spot
  /** Its name in answers. */
  name: string
  folders: readonly Folder[]
}

export class Area {
  readonly operator: readonly Folder[]
  readonly limits: FilesLimits
  readonly hold: HoldOptions
  readonly #turns = new Turns()
  #lastRoots: readonly Folder[] = []
  readonly #folders = new WeakMap<Context, Promise<Folder[]>>()

  constructor(operator: readonly Folder[], limits: FilesLimits, hold: HoldOptions) {
    this.operator = operator
    this.limits = limits
    this.hold = hold
  }

  /** The folders that the caller may use. Determined once per call. */
  folders(ctx: Context): Promise<readonly Folder[]> {
    const known = this.#folders.get(ctx) ?? this.#settle(ctx)
    this.#folders.set(ctx, known)
    return known
  }

  /** The folders that may be watched. A subscription cannot request roots, so the roots of the last call are used. */
  get watchable(): readonly Folder[] {
    return this.operator.length > 0 ? this.operator : this.#lastRoots
  }

  async #settle(ctx: Context): Promise<Folder[]> {
    const folders = await usableFolders(this.operator, ctx)
    this.#lastRoots = folders
    return folders
  }

  /** Resolves a path for the caller and calls `act` with it. File system errors become readable tool errors. */
  async go<T>(path: string, ctx: Context, act: (place: Place) => Promise<T>): Promise<T> {
    const folders = await this.folders(ctx)
    const spot = locate(folders, path)
    const name = nameOf(spot, folders)
    try {
      return await act({ spot, name, folders })
    } catch (error) {
      throw readableError(error, name)
    }
  }

  /** Holds a folder while `act` runs. */
  async enter<T>({ folder, segments }: Spot, act: (held: HeldFolder) => Promise<T>): Promise<T> {
    const held = await HeldFolder.open(folder.real, segments, this.hold)
    try {
      return await act(held)
    } finally {
      await held.close()
    }
  }

  /** Runs the changes of one place one at a time, so that no change is lost. */
  inTurn<T>({ folder, segments }: Spot, act: () => Promise<T>): Promise<T> {
    return this.#turns.take([folder.real, ...segments].join('\0'), act)
  }
}
