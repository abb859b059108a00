/** Files that only their owner reads, and that are replaced as a whole or not at all. */

import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { McpError } from '../protocol/errors.ts'

/** Makes the folder if it is not there; refuses one that others can look into. */
export async function privateFolder(folder: string): Promise<void> {
  await kept(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    refuseIfShared(folder, await stat(folder), 'chmod 700')
  })
}

/** Undefined when there is none. Refuses a file that others can read, or that is a link to somewhere else. */
export async function readPrivate(file: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return kept(file, async () => {
    let handle: FileHandle
    try {
      handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
    try {
      // Of what was opened, not of what has the name now.
      const stats = await handle.stat()
      refuseIfShared(file, stats, 'chmod 600')
      if (!stats.isFile()) throw new McpError('ERR_STORE', `${file} is not a plain file`)
      // Nobody wrote that here.
      if (stats.size > maxBytes) return new Uint8Array()
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  })
}

/** When this fails, for a full disk as for a crash, what was there before is still there. It is not tried again. */
export async function writePrivate(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  await kept(file, async () => {
    try {
      const handle = await open(temporary, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        // Before the name is: a file that has the name and not the content is what a crash would leave otherwise.
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

/** Removes what processes that ended in the middle of writing left behind. */
export async function sweep(folder: string, olderThanMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.tmp')) continue
    const file = join(folder, name)
    const { mtimeMs } = await lstat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > olderThanMs) await rm(file, { force: true })
  }
}

function refuseIfShared(path: string, stats: Stats, remedy: string): void {
  // Windows has other means, and folders of a user are that user's.
  if (process.platform === 'win32') return
  if ((stats.mode & 0o077) !== 0)
    throw new McpError('ERR_STORE', `${path} is open to other users of this machine; ${remedy} it, if they did not put it there`)
  if (stats.uid !== process.getuid?.()) throw new McpError('ERR_STORE', `${path} belongs to another user of this machine`)
}

/** Every fault of the file system as one that names the place. */
export async function kept<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof McpError) throw error
    throw new McpError('ERR_STORE', `${path} cannot be used (${codeOf(error) ?? 'unknown error'})`, { cause: error })
  }
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code
