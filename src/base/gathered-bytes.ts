/**
 * Collects bytes that come in pieces. A list of the pieces would take hundreds of bytes for each of them, or keep the large buffer of which a
 * piece is a part, and a peer chooses how small its pieces are.
 */

const EMPTY = new Uint8Array(0)

export class GatheredBytes {
  /** The only piece so far as it came, because most messages come in one. For more a buffer of our own, which is doubled when it is full. */
  #bytes: Uint8Array = EMPTY
  #size = 0
  #isOwn = false

  get size(): number {
    return this.#size
  }

  /** Everything so far. */
  get all(): Uint8Array {
    return this.#isOwn ? this.#bytes.subarray(0, this.#size) : this.#bytes
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length
    if (this.#size === 0) {
      this.#bytes = piece
      this.#isOwn = false
    } else if (piece.length > 0) {
      if (!this.#isOwn || size > this.#bytes.length) this.#grow(Math.max(size, 2 * this.#size))
      this.#bytes.set(piece, this.#size)
    }
    this.#size = size
  }

  clear(): void {
    this.#bytes = EMPTY
    this.#size = 0
    this.#isOwn = false
  }

  #grow(room: number): void {
    const grown = new Uint8Array(room)
    grown.set(this.all)
    this.#bytes = grown
    this.#isOwn = true
  }
}
