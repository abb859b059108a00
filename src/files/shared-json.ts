/** A JSON document that several processes read and change. Changes are serialized, so none is lost. */

import { dirname } from 'node:path'
import { McpError } from '../protocol/errors.ts'
import { type LockLimits, withLockFile } from './lock-file.ts'
import { privateFolder, readPrivate, writePrivate } from './private-file.ts'

export interface SharedJsonOptions<T> {
  /** The document if the file does not exist. */
  empty: T
  /** Validates the parsed document. If it is invalid, throws an error that says what it expected. */
  check(value: unknown): T
  maxBytes?: number
  limits?: Partial<LockLimits>
}

export interface SharedJson<T> {
  readonly file: string
  read(): Promise<T>
  /** Replaces the document with the result of `change`, under the lock. Resolves when it is on the disk. */
  update(change: (current: T) => T): Promise<T>
}

const LOCK_LIMITS: LockLimits = { lockTimeoutMs: 15_000, lockStaleMs: 5_000 }
const MAX_BYTES = 16 * 1024 * 1024

export function sharedJson<T>(file: string, { empty, check, maxBytes = MAX_BYTES, limits }: SharedJsonOptions<T>): SharedJson<T> {
  const read = async (): Promise<T> => {
    const bytes = await readPrivate(file, maxBytes)
    if (bytes === undefined) return empty
    try {
      return check(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
    } catch (error) {
      throw new McpError('ERR_STORE', `${file} is invalid: ${(error as Error).message}`, { cause: error })
    }
  }
  return {
    file,
    read,
    update: async (change) => {
      await privateFolder(dirname(file))
      return withLockFile(`${file}.lock`, { ...LOCK_LIMITS, ...limits }, async () => {
        const next = change(await read())
        const bytes = new TextEncoder().encode(`${JSON.stringify(next, undefined, 2)}\n`)
        if (bytes.byteLength > maxBytes) throw new McpError('ERR_LIMIT', `${file} would grow past ${maxBytes} bytes (maxBytes)`)
        await writePrivate(file, bytes)
        return next
      })
    },
  }
}
