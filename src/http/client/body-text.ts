/** Collects the body of a response, within bounds. */

import { isUtf8 } from 'node:buffer'
import { limitFault } from './faults.ts'
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

  /** Throws ERR_LIMIT as soon as the body is known to be too long. */
  expect(contentLength: string | undefined): void {
    if (contentLength !== undefined && Number(contentLength) > this.#limits.maxBodyBytes) throw this.#tooLong()
  }

  push(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#limits.maxBodyBytes) throw this.#tooLong()
    this.#chunks.push(chunk)
  }

  /** Undefined when it is not UTF-8. */
  text(): string | undefined {
    const [first] = this.#chunks
    const whole = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size)
    return isUtf8(whole) ? whole.toString('utf8') : undefined
  }

  #tooLong(): Error {
    return limitFault(this.#server, `a body of more than ${this.#limits.maxBodyBytes} bytes`, 'maxBodyBytes')
  }
}
