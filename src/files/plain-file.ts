/** Reading files that somebody else named: plain files only, and never more than a bound. */

import { constants, createReadStream, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'

/** Why a file that is there was not read. */
export class UnfitFile extends Error {
  readonly reason: 'not-plain' | 'too-large' | 'changed'

  constructor(reason: UnfitFile['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Opens a plain file, and closes it after use. Anything else is refused: opening a pipe would wait for a writer, and a
 * device never ends. @throws UnfitFile, or what the file system says
 */
export async function withPlainFile<T>(path: string, use: (handle: FileHandle, stats: Stats) => Promise<T>): Promise<T> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    // Of what was opened: the name may lead elsewhere by now.
    const stats = await handle.stat()
    if (!stats.isFile()) throw new UnfitFile('not-plain', 'It is not a plain file')
    return await use(handle, stats)
  } finally {
    await handle.close()
  }
}

/**
 * The bytes of a plain file of at most `maxBytes`. @param limit the name of the bound, for the error
 * @throws UnfitFile, or what the file system says
 */
export async function readPlainFile(path: string, maxBytes: number, limit = 'maxBytes'): Promise<Buffer> {
  return withPlainFile(path, async (handle, { size }) => {
    if (size > maxBytes) throw new UnfitFile('too-large', `It has ${size} bytes; at most ${maxBytes} are read (${limit})`)
    // One byte more than there should be: files of some file systems say that they have none, and any may have grown.
    const room = Buffer.alloc(Math.min(size, maxBytes) + 1)
    let filled = 0
    while (filled < room.length) {
      const { bytesRead } = await handle.read(room, filled, room.length - filled, filled)
      if (bytesRead === 0) return room.subarray(0, filled)
      filled += bytesRead
    }
    throw new UnfitFile('changed', 'It was changed while it was read')
  })
}

/**
 * The bytes of whatever a person named at the keyboard, which may be a pipe, up to the same kind of bound.
 * @throws UnfitFile, or what the file system says
 */
export async function readAtMost(path: string, maxBytes: number, limit = 'maxBytes'): Promise<Buffer> {
  const { size: told } = await stat(path)
  if (told > maxBytes) throw new UnfitFile('too-large', `It has ${told} bytes; at most ${maxBytes} are read (${limit})`)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of createReadStream(path)) {
    size += (chunk as Buffer).length
    if (size > maxBytes) throw new UnfitFile('too-large', `It has more than ${maxBytes} bytes, and no more are read (${limit})`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** A plain file as UTF-8 text. @throws UnfitFile, what the file system says, or TypeError for what is not UTF-8 */
export const readPlainText = async (path: string, maxBytes: number, limit?: string): Promise<string> =>
  new TextDecoder('utf-8', { fatal: true }).decode(await readPlainFile(path, maxBytes, limit))
