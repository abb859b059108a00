/** Collects the body of a response, up to `maxBodyBytes`. */

import { limitFault } from './errors.ts'
import type { HttpClientLimits } from './options.ts'

// Keeps a byte order mark, so that the JSON parser refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class BodyText {
  readonly #server: string
  readonly #limits: HttpClientLimits
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(server: string, limits: HttpClientLimits) {
    this.#server = server
    this.#limits = limits
  }

  /** Throws ERR_LIMIT when the announced length is too long. */
  expect(contentLength: string | undefined): void {
    if (contentLength !== undefined && Number(contentLength) > this.#limits.maxBodyBytes) throw this.#tooLong()
  }

  /** Throws ERR_LIMIT when the body becomes too long. */
  push(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#size > this.#limits.maxBodyBytes) throw this.#tooLong()
    this.#chunks.push(chunk)
  }

  /** The text; undefined when it is not UTF-8. */
  text(): string | undefined {
    const [first] = this.#chunks
    try {
      return decoder.decode(first && this.#chunks.length === 1 ? first : this.#joined())
    } catch {
      return undefined
    }
  }

  #joined(): Uint8Array {
    const whole = new Uint8Array(this.#size)
    let at = 0
    for (const chunk of this.#chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }

  #tooLong(): Error {
    return limitFault(this.#server, `a body of more than ${this.#limits.maxBodyBytes} bytes`, 'maxBodyBytes')
  }
}
