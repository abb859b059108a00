/** Reads and atomically replaces files that only their owner can read. */

import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { McpError } from '../protocol/errors.ts'

/** Creates the folder if needed. Refuses a folder that other users can read. */
export async function privateFolder(folder: string): Promise<void> {
  await kept(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    refuseIfShared(folder, await stat(folder), 'chmod 700')
  })
}

/** Reads the file. Undefined: it does not exist. Refuses a file that other users can read, and a link. */
export function readPrivate(file: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // This program never writes a file that large. Callers reject the empty content as damaged.
  return withPrivate(file, async (handle, { size }) => new Uint8Array(size > maxBytes ? [] : await handle.readFile()))
}

/** Reads the first `bytes` of the file, with the checks of `readPrivate`. The size is that of the whole file. */
export function readPrivateStart(file: string, bytes: number): Promise<{ start: Uint8Array<ArrayBuffer>; size: number } | undefined> {
  return withPrivate(file, async (handle, { size }) => {
    const start = new Uint8Array(bytes)
    const { bytesRead } = await handle.read(start, 0, bytes, 0)
    return { start: start.subarray(0, bytesRead), size }
  })
}

function withPrivate<T>(file: string, read: (handle: FileHandle, stats: Stats) => Promise<T>): Promise<T | undefined> {
  return kept(file, async () => {
    let handle: FileHandle
    try {
      handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
    try {
      // Check the open file: the path may lead elsewhere by now.
      const stats = await handle.stat()
      refuseIfShared(file, stats, 'chmod 600')
      if (!stats.isFile()) throw new McpError('ERR_STORE', `${file} is not a regular file`)
      return await read(handle, stats)
    } finally {
      await handle.close()
    }
  })
}

/** Replaces the file. If this fails (full disk, crash), the old content is still there. There is no retry. */
export async function writePrivate(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  await kept(file, async () => {
    try {
      const handle = await open(temporary, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        // Sync before renaming: otherwise a crash could leave the new name without its content.
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
  })
}

export const removePrivate = (file: string): Promise<void> => kept(file, () => rm(file, { force: true }))

/** Removes temporary files of processes that ended while writing. */
export async function sweep(folder: string, olderThanMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.tmp')) continue
    const file = join(folder, name)
    const { mtimeMs } = await lstat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > olderThanMs) await rm(file, { force: true })
  }
}

function refuseIfShared(path: string, stats: Stats, remedy: string): void {
  // Windows has other permissions, and a user's folders are private there.
  if (process.platform === 'win32') return
  if ((stats.mode & 0o077) !== 0)
    throw new McpError('ERR_STORE', `Other users of this machine can access ${path}. If its content is yours, run: ${remedy} ${path}`)
  if (stats.uid !== process.getuid?.()) throw new McpError('ERR_STORE', `${path} belongs to another user of this machine`)
}

/** Turns file system errors into ERR_STORE with the path. */
export async function kept<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof McpError) throw error
    throw new McpError('ERR_STORE', `${path} cannot be used (${codeOf(error) ?? 'unknown error'})`, { cause: error })
  }
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code
