/** A result that is sent many times, such as a page of a list: as text, and as bytes that are encoded once. */

const encoder = new TextEncoder()

export class KeptText {
  readonly text: string
  #bytes: Uint8Array | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Encoded on first use. */
  get bytes(): Uint8Array {
    this.#bytes ??= encoder.encode(this.text)
    return this.#bytes
  }
}
