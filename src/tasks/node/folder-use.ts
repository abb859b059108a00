/** How many tasks and bytes the folder of a store holds, for each account and in all. */

import { McpError } from '../../protocol/errors.ts'
import type { FileTaskStoreLimits } from '../file-task-store.ts'
import { allTasks, forEachFile } from './read-folder.ts'
import { readUse, sizeOf } from './task-file.ts'

interface Use {
  /** Undefined for a file that is damaged. It counts only for the whole folder. */
  account: string | undefined
  bytes: number
}

/** How long sizes of files that other processes write count as known. */
const KNOWN_MS = 1000

/** What each task counts beyond the size of its file: room for its end, for its lease and for names of files. */
const EXTRA_BYTES = 4096

export class FolderUse {
  readonly #folder: string
  readonly #limits: FileTaskStoreLimits
  #files = new Map<string, Use>()
  /** The files that this process writes now, with their new sizes. */
  readonly #writing = new Map<string, Use>()
  /** The files that this process wrote or removed since the last look began. */
  readonly #touched = new Set<string>()
  #looking: Promise<void> | undefined
  #knownAt = Number.NEGATIVE_INFINITY

  constructor(folder: string, limits: FileTaskStoreLimits) {
    this.#folder = folder
    this.#limits = limits
  }

  /** Looks which tasks there are. Sizes and accounts are read only if they are not known. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  get tasks(): number {
    return this.#all().length
  }

  tasksOf(account: string): number {
    return this.#all().filter(([, use]) => use.account === account).length
  }

  /**
   * Writes a file if there is room for it. Otherwise it throws ERR_LIMIT, except for a task that ends and needs only the room that was
   * kept for its end.
   */
  async write(file: string, use: Use & { isEnd: boolean }, act: () => Promise<void>): Promise<void> {
    const { account, bytes, isEnd } = use
    const growth = bytes - ((await sizeOf(file)) ?? 0)
    if (growth > (isEnd ? EXTRA_BYTES : 0)) {
      if (performance.now() - this.#knownAt > KNOWN_MS) await this.look()
      if (this.#refusal(file, use)) {
        this.#knownAt = Number.NEGATIVE_INFINITY
        // A look that has begun may read no sizes.
        while (this.#knownAt === Number.NEGATIVE_INFINITY) await this.look()
      }
      const refusal = this.#refusal(file, use)
      if (refusal) throw refusal
    }
    const written = { account, bytes }
    this.#writing.set(file, written)
    try {
      await act()
      this.#touched.add(file)
      this.#files.set(file, written)
    } finally {
      this.#writing.delete(file)
    }
  }

  forget(file: string): void {
    this.#touched.add(file)
    this.#files.delete(file)
  }

  async #look(): Promise<void> {
    this.#touched.clear()
    const startedAt = performance.now()
    const isOld = startedAt - this.#knownAt > KNOWN_MS
    const files = new Map<string, Use>()
    await forEachFile(await allTasks(this.#folder), async (file) => {
      const known = this.#files.get(file)
      const use = known ? { ...known, bytes: isOld ? await sizeOf(file) : known.bytes } : await readUse(file)
      if (use?.bytes !== undefined) files.set(file, { ...use, bytes: use.bytes })
    })
    // What this process did meanwhile is newer than what was read.
    for (const file of this.#touched) {
      const use = this.#files.get(file)
      if (use) files.set(file, use)
      else files.delete(file)
    }
    this.#files = files
    if (isOld) this.#knownAt = startedAt
  }

  #all(): [string, Use][] {
    return [...new Map([...this.#files, ...this.#writing])]
  }

  #refusal(file: string, { account, bytes }: Use): McpError | undefined {
    const others = this.#all().filter(([name]) => name !== file)
    const sum = (uses: [string, Use][]): number => uses.reduce((all, [, use]) => all + use.bytes + EXTRA_BYTES, bytes + EXTRA_BYTES)
    const { maxBytes, maxBytesPerCaller } = this.#limits
    if (sum(others) > maxBytes) return refused('All tasks together', 'maxBytes', maxBytes)
    const ofAccount = others.filter(([, use]) => use.account === account)
    return sum(ofAccount) > maxBytesPerCaller ? refused('The tasks of one caller', 'maxBytesPerCaller', maxBytesPerCaller) : undefined
  }
}

const refused = (what: string, limit: keyof FileTaskStoreLimits, max: number): McpError =>
  new McpError('ERR_LIMIT', `${what} take more than ${max} bytes (${limit} of fileTaskStore)`, { data: { reason: 'limit', limit, max } })
