/** Digests the content of a file, and reads its first line. */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { withPlainFile } from '../../files/plain-file.ts'

/** How much of a file is read to find the program in its first line. Operating systems read less. */
const MAX_SHEBANG_BYTES = 4096

/** The beginning of a file. Empty: the file cannot be read. */
export async function readStart(file: string): Promise<string> {
  try {
    return await withPlainFile(file, async (handle) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_SHEBANG_BYTES), 0, MAX_SHEBANG_BYTES, 0)
      return buffer.toString('utf8', 0, bytesRead)
    })
  } catch {
    return ''
  }
}

/** The digest of a file, or its size and times if it is larger than `maxBytes` or not readable. */
export async function contentDigest(file: string, maxBytes: number): Promise<{ digest: string; bytes: number }> {
  try {
    return await withPlainFile(file, async (handle, { size, mtimeMs, ctimeMs }) => {
      if (size > maxBytes) return { digest: `size ${size}, changed ${mtimeMs} ${ctimeMs}`, bytes: 0 }
      const hash = createHash('sha256')
      // Limited, because the file may grow while it is read.
      for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false })) hash.update(chunk as Buffer)
      return { digest: hash.digest('hex'), bytes: size }
    })
  } catch {
    // Some programs can be executed but not read.
    const { size, mtimeMs, ctimeMs } = await stat(file).catch(() => ({ size: -1, mtimeMs: 0, ctimeMs: 0 }))
    return { digest: `not readable, size ${size}, changed ${mtimeMs} ${ctimeMs}`, bytes: 0 }
  }
}
