/** A shared JSON document with a synchronous copy in memory, which is read again after another process changed the file. */

import { stat } from 'node:fs/promises'
import { codeOf, kept } from './private-file.ts'
import type { SharedJson } from './shared-json.ts'

export interface JsonSnapshot<T> {
  /** The document as last read. */
  readonly current: T
  /** Reads the file if it has changed. Otherwise costs one stat call. */
  refresh(): Promise<T>
  update(change: (current: T) => T): Promise<T>
}

export async function openSnapshot<T>(shared: SharedJson<T>): Promise<JsonSnapshot<T>> {
  // Stat before reading: a change in between causes one more read instead of being missed.
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
  // Reads run one after the other, so that an older read never replaces a newer one. Callers that come before a read has started
  // share it: its result is not older than their call.
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

/** The same interface without a file, for this process only. */
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

/** Every change replaces the file, so new content has a new inode or time. */
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
