/** A shared JSON document in memory, to be looked into without waiting; read again when another process has changed it. */

import { stat } from 'node:fs/promises'
import { codeOf, kept } from './private-file.ts'
import type { SharedJson } from './shared-json.ts'

export interface JsonSnapshot<T> {
  /** As it was when it was last read. */
  readonly current: T
  /** Reads it if it changed since; costs a look at the file otherwise. */
  refresh(): Promise<T>
  update(change: (current: T) => T): Promise<T>
}

export async function openSnapshot<T>(shared: SharedJson<T>): Promise<JsonSnapshot<T>> {
  // Taken before reading: what changes in between is read once more, rather than never.
  let stamp = await stampOf(shared.file)
  let current = await shared.read()
  let last: Promise<unknown> = Promise.resolve()
  const refreshNow = async (): Promise<T> => {
    const seen = await stampOf(shared.file)
    if (seen === stamp) return current
    current = await shared.read()
    stamp = seen
    return current
  }
  // One after the other, so that what was read earlier never replaces what was read later.
  // Who comes before a look has begun shares it: nothing is older than when they asked.
  let next: Promise<T> | undefined
  const refresh = (): Promise<T> => {
    if (next) return next
    next = last.then(() => {
      next = undefined
      return refreshNow()
    })
    last = next.catch(() => {})
    return next
  }
  return {
    get current() {
      return current
    },
    refresh,
    update: async (change) => {
      const changed = await shared.update(change)
      await refresh()
      return changed
    },
  }
}

/** The same document, for this process only. */
export function memorySnapshot<T>(empty: T): JsonSnapshot<T> {
  let current = empty
  return {
    get current() {
      return current
    },
    refresh: async () => current,
    update: async (change) => {
      current = change(current)
      return current
    },
  }
}

/** Every change replaces the file, so another content has another inode or time. */
const stampOf = (file: string): Promise<string> =>
  kept(file, async () => {
    try {
      const { ino, mtimeNs, ctimeNs, size } = await stat(file, { bigint: true })
      return `${ino} ${mtimeNs} ${ctimeNs} ${size}`
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return 'none'
      throw error
    }
  })
