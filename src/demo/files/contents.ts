/** What is in a file, as far as bounds allow, and the replacing of it: as a whole or not at all. */

import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { codeOf } from '../../files/private-file.ts'
import { ToolError } from '../../server/index.ts'
import type { HeldFolder } from './held-folder.ts'

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Text that can be written back as it was read; undefined for anything else. */
export function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Reads up to `length` bytes from `offset` on. */
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

/** The whole file. Undefined when it is larger than `maxBytes`: it may grow while it is read, so its size proves nothing. */
export async function readWhole(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const { size } = await handle.stat()
  if (size > maxBytes) return undefined
  const bytes = await readRange(handle, 0, Math.min(size, maxBytes) + 1)
  return bytes.length > maxBytes ? undefined : bytes
}

/** What is there now, to be replaced. Undefined when there is nothing. */
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

/** What may be there already. */
export type Over = { kind: 'nothing' } | { kind: 'anything'; mode: number }

/**
 * Puts a file in place whose content is on the disk already, so that a crash or a full disk leaves the old one or the new
 * one and nothing between.
 */
export async function putWhole(parent: HeldFolder, name: string, bytes: Uint8Array, over: Over): Promise<void> {
  const temporary = parent.at(`.${randomBytes(9).toString('base64url')}.portico.tmp`)
  // Never for a moment open to more people than the file that it replaces.
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

/** Renames unless something of that name is there, in one step where the disk has one. The old name may stay. */
export async function renameNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error
    // Claimed first: two who want the name cannot both have it.
    await (await open(to, 'wx')).close()
    await rename(from, to)
  }
}

/** Disks that have no second names. */
const NO_LINKS = new Set(['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EMLINK'])
