/** Reads files from untrusted paths: regular files only, with a size limit. */

import { constants, createReadStream, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { GatheredBytes } from '../base/gathered-bytes.ts'

/** Why an existing file was not read. */
export class UnfitFile extends Error {
  readonly reason: 'not-plain' | 'too-large' | 'changed' | 'not-text'

  constructor(reason: UnfitFile['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Opens a regular file, and closes it after use. Anything else is refused: a pipe would wait for a writer, and a device may never end.
 * @throws UnfitFile, or the error of the file system
 */
export async function withPlainFile<T>(path: string, use: (handle: FileHandle, stats: Stats) => Promise<T>): Promise<T> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    // Stat the open file: the path may lead elsewhere by now.
    const stats = await handle.stat()
    if (!stats.isFile()) throw new UnfitFile('not-plain', 'Not a regular file')
    return await use(handle, stats)
  } finally {
    await handle.close()
  }
}

/**
 * Reads a regular file of at most `maxBytes`. @param limit the name of the limit, for the error
 * @throws UnfitFile, or the error of the file system
 */
export async function readPlainFile(path: string, maxBytes: number, limit = 'maxBytes'): Promise<Buffer> {
  return withPlainFile(path, async (handle, { size }) => {
    if (size > maxBytes) throw new UnfitFile('too-large', `The file has ${size} bytes: expected at most ${maxBytes} (${limit})`)
    // One byte more than expected: some file systems report a size of 0, and a file may have grown.
    const room = Buffer.alloc(Math.min(size, maxBytes) + 1)
    let filled = 0
    while (filled < room.length) {
      const { bytesRead } = await handle.read(room, filled, room.length - filled, filled)
      if (bytesRead === 0) return room.subarray(0, filled)
      filled += bytesRead
    }
    throw new UnfitFile('changed', 'The file was changed while it was read')
  })
}

/**
 * Reads a file that the person named, which may be a pipe, up to the same kind of limit.
 * @throws UnfitFile, or the error of the file system
 */
export async function readAtMost(path: string, maxBytes: number, limit = 'maxBytes'): Promise<Buffer> {
  const { size: told } = await stat(path)
  if (told > maxBytes) throw new UnfitFile('too-large', `The file has ${told} bytes: expected at most ${maxBytes} (${limit})`)
  const bytes = new GatheredBytes()
  for await (const chunk of createReadStream(path)) {
    bytes.add(chunk as Buffer)
    if (bytes.size > maxBytes) throw new UnfitFile('too-large', `The file has more than ${maxBytes} bytes (${limit})`)
  }
  return Buffer.from(bytes.all)
}

export const NO_TEXT = 'The file is not UTF-8 text'

/** Reads a regular file as UTF-8 text. @throws UnfitFile, or the error of the file system */
export async function readPlainText(path: string, maxBytes: number, limit?: string): Promise<string> {
  const bytes = await readPlainFile(path, maxBytes, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UnfitFile('not-text', NO_TEXT)
  }
}
