/** Collects the body of a response, up to `maxBodyBytes`. */

import { isUtf8 } from 'node:buffer'
import { limitFault } from './errors.ts'
import type { HttpClientLimits } from './options.ts'

export class BodyText {
  readonly #server: string
  readonly #limits: HttpClientLimits
  readonly #chunks: Buffer[] = []
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
  push(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#limits.maxBodyBytes) throw this.#tooLong()
    this.#chunks.push(chunk)
  }

  /** The text; undefined when it is not UTF-8. */
  text(): string | undefined {
    const [first] = this.#chunks
    const whole = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size)
    return isUtf8(whole) ? whole.toString('utf8') : undefined
  }

  #tooLong(): Error {
    return limitFault(this.#server, `a body of more than ${this.#limits.maxBodyBytes} bytes`, 'maxBodyBytes')
  }
}
