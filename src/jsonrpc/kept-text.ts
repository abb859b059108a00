/** Text that is sent many times: as a string, and as bytes for who can send those. */

const encoder = new TextEncoder()

export class KeptText {
  readonly text: string
  #bytes: Uint8Array | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Encoded once, when first wanted. */
  get bytes(): Uint8Array {
    this.#bytes ??= encoder.encode(this.text)
    return this.#bytes
  }
}
