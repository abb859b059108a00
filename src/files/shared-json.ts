/** A JSON document that several processes read and change. Changes are serialized, so none is lost. */

import { dirname } from 'node:path'
import { McpError } from '../protocol/errors.ts'
import { type FileFormat, readFormat, writeFormat } from './file-format.ts'
import { type LockLimits, withLockFile } from './lock-file.ts'
import { privateFolder, readPrivate, writePrivate } from './private-file.ts'

export interface SharedJsonOptions<T> {
  /** The document if the file does not exist. */
  empty: T
  /** The version of the file. The old file is kept as a backup when the first change upgrades it. */
  format: FileFormat
  /** Validates the data. Throws, with what was expected, if it is invalid. */
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

/** The document, and the bytes of its file if they have an older version. */
interface Stored<T> {
  document: T
  outdated?: { bytes: Uint8Array<ArrayBuffer>; version: number }
}

export function sharedJson<T>(file: string, options: SharedJsonOptions<T>): SharedJson<T> {
  const { empty, format, check, maxBytes = MAX_BYTES, limits } = options
  const read = async (): Promise<Stored<T>> => {
    const bytes = await readPrivate(file, maxBytes)
    if (bytes === undefined) return { document: empty }
    try {
      const { data, version, isOutdated } = readFormat(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), format)
      return { document: check(data), ...(isOutdated && { outdated: { bytes, version } }) }
    } catch (error) {
      throw new McpError('ERR_STORE', `${file} cannot be used: ${(error as Error).message}`, { cause: error })
    }
  }
  return {
    file,
    read: async () => (await read()).document,
    update: async (change) => {
      await privateFolder(dirname(file))
      return withLockFile(`${file}.lock`, { ...LOCK_LIMITS, ...limits }, async () => {
        const { document, outdated } = await read()
        const next = change(document)
        const bytes = new TextEncoder().encode(`${JSON.stringify(writeFormat(next, format), undefined, 2)}\n`)
        if (bytes.byteLength > maxBytes) throw new McpError('ERR_LIMIT', `${file} would grow past ${maxBytes} bytes (maxBytes)`)
        if (outdated) await writePrivate(`${file}.v${outdated.version}.bak`, outdated.bytes)
        await writePrivate(file, bytes)
        return next
      })
    },
  }
}
