/** Verified files, by digest, in the memory of one connection. They are never written to disk. */

import type { SkillFile } from './verify.ts'

/** Two skills of the largest size. The oldest files are dropped. */
const MAX_BYTES = 32 * 1024 * 1024

/** What a file counts, so that empty ones do, too. */
const sizeOf = ({ bytes, uri }: SkillFile): number => bytes.length + uri.length + 256

export class FileCache {
  /** By URI and digest: the same bytes under another URI may have another type. */
  readonly #files = new Map<string, SkillFile>()
  #bytes = 0

  get(uri: string, digest: string): SkillFile | undefined {
    return this.#files.get(`${digest} ${uri}`)
  }

  put(digest: string, file: SkillFile): void {
    const key = `${digest} ${file.uri}`
    if (this.#files.has(key)) return
    this.#files.set(key, file)
    this.#bytes += sizeOf(file)
    for (const [oldest, dropped] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return
      this.#files.delete(oldest)
      this.#bytes -= sizeOf(dropped)
    }
  }
}
