/** Reads a file of a skill, and nothing else: no symbolic link, no device, no more bytes than a skill may have. */

import { constants } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { SKILL_LIMITS } from '../../protocol/model/skills.ts'

/** An expected problem with a file. The message ends a sentence that begins with its path. */
export class FileFault extends Error {}

/** O_NOFOLLOW: a link in place of the file is refused. O_NONBLOCK: opening a pipe does not wait. Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Identifies a file and its content as far as the system knows it. */
export interface FileState {
  key: string
  size: number
}

/**
 * The bytes of a file below a folder.
 * @param root the real path of the folder
 * @param isKnown whether the content of this state is known already; then it is not read
 * @throws FileFault
 */
export async function readPlainFile(
  root: string,
  path: string,
  isKnown: (state: FileState) => boolean = () => false,
): Promise<{ state: FileState; bytes: Uint8Array<ArrayBuffer> | undefined }> {
  const full = path === '' ? root : `${root}${sep}${path.split('/').join(sep)}`
  const file = await open(full, FLAGS).catch((error: NodeJS.ErrnoException) => {
    throw new FileFault(FAULTS[error.code ?? ''] ?? `cannot be opened (${error.code ?? error.message})`)
  })
  try {
    const stat = await file.stat({ bigint: true })
    if (!stat.isFile()) throw new FileFault('is not a file')
    // The folders above the file may be links as well. The file that is open must be the one at the real path.
    const isInside = (await realpath(full)) === full
    const there = await lstat(full, { bigint: true })
    if (!isInside || there.ino !== stat.ino || there.dev !== stat.dev) throw new FileFault(FAULTS.ELOOP as string)
    const size = Number(stat.size)
    if (size > SKILL_LIMITS.maxBytes) throw new FileFault(`has ${size} bytes; a skill may have ${SKILL_LIMITS.maxBytes}`)
    const state = { key: `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`, size }
    if (isKnown(state)) return { state, bytes: undefined }
    // One more byte than expected, to notice a file that grows.
    const buffer = new Uint8Array(size + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length !== size) throw new FileFault('changed while it was read')
    return { state, bytes: buffer.slice(0, size) }
  } finally {
    await file.close()
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: 'is a symbolic link, or in a folder that is one; a skill can contain only files and folders',
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EISDIR: 'is a folder',
}
