/** Collects the body of a response, up to `maxBodyBytes`. */

import { GatheredBytes } from '../../base/gathered-bytes.ts'
import { limitFault } from './errors.ts'
import type { HttpClientLimits } from './options.ts'

// Keeps a byte order mark, so that the JSON parser refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class BodyText {
  readonly #server: string
  readonly #limits: HttpClientLimits
  readonly #bytes = new GatheredBytes()

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
    if (this.#bytes.size + chunk.length > this.#limits.maxBodyBytes) throw this.#tooLong()
    this.#bytes.add(chunk)
  }

  /** The text; undefined when it is not UTF-8. */
  text(): string | undefined {
    try {
      return decoder.decode(this.#bytes.all)
    } catch {
      return undefined
    }
  }

  #tooLong(): Error {
    return limitFault(this.#server, `a body of more than ${this.#limits.maxBodyBytes} bytes`, 'maxBodyBytes')
  }
}
