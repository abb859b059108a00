/** Verified files, by digest, in the memory of one connection. They are never written to disk. */

import type { SkillFile } from './verify.ts'

/** Two skills of the largest size. The oldest files are dropped. */
const MAX_BYTES = 32 * 1024 * 1024

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
    this.#bytes += file.bytes.length
    for (const [oldest, { bytes }] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return
      this.#files.delete(oldest)
      this.#bytes -= bytes.length
    }
  }
}
