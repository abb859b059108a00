/** Reads file contents within limits, and replaces files atomically. */

import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { codeOf } from '../../files/private-file.ts'
import { ToolError } from '../../server/index.ts'
import type { HeldFolder } from './held-folder.ts'

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The bytes as text, if they are valid UTF-8 without NUL. Otherwise undefined. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Reads up to `length` bytes, starting at `offset`. */
export async function readRange(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, offset + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

/** Reads the whole file. Returns undefined if it is larger than `maxBytes`, also if it grows while it is read. */
export async function readWhole(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const { size } = await handle.stat()
  if (size > maxBytes) return undefined
  const bytes = await readRange(handle, 0, Math.min(size, maxBytes) + 1)
  return bytes.length > maxBytes ? undefined : bytes
}

/** The current content and mode of a file that is about to be replaced. Undefined if it does not exist. */
export async function readOld(parent: HeldFolder, name: string, maxBytes: number): Promise<{ bytes: Buffer; mode: number } | undefined> {
  try {
    const { handle, stats } = await parent.openFile(name)
    try {
      const bytes = await readWhole(handle, maxBytes)
      if (!bytes) throw new ToolError(`${parent.relative(name)} is larger than ${maxBytes} bytes (maxFileBytes)`)
      return { bytes, mode: stats.mode & 0o777 }
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether an existing file may be replaced, and the mode of the new one. */
export type Over = { kind: 'nothing' } | { kind: 'anything'; mode: number }

/**
 * Writes a file through a temporary file and a rename, so that a crash or a full disk leaves either the old content or the
 * new content.
 */
export async function replaceFile(parent: HeldFolder, name: string, bytes: Uint8Array, over: Over): Promise<void> {
  const temporary = parent.at(`.${randomBytes(9).toString('base64url')}.portico.tmp`)
  // The temporary file must never have wider permissions than the file that it replaces.
  const handle = await open(temporary, 'wx', over.kind === 'anything' ? over.mode & 0o600 : 0o666)
  try {
    try {
      await handle.writeFile(bytes)
      if (over.kind === 'anything') await handle.chmod(over.mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await parent.check()
    if (over.kind === 'anything') await rename(temporary, parent.at(name))
    else await renameNew(temporary, parent.at(name))
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Renames if the new name is free, atomically if the file system has hard links. The old name may remain. */
export async function renameNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error
    // Creates the name exclusively first, so that only one of two callers gets it.
    await (await open(to, 'wx')).close()
    await rename(from, to)
  }
}

/** The errors of file systems without hard links. */
const NO_LINKS = new Set(['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EMLINK'])
