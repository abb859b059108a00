/** Collects text that comes in pieces. A list of the pieces would take much more memory than the text, and a peer chooses how small they are. */

/** Pieces that are joined as soon as there are so many. A piece may keep the whole text of which it is a part until then. */
const PIECES = 64

export class GatheredText {
  /** Joined pieces. Each of them has at least `PIECES` characters if no piece is empty. */
  #blocks: string[] = []
  #pieces: string[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: string): void {
    if (piece === '') return
    this.#length += piece.length
    this.#pieces.push(piece)
    if (this.#pieces.length < PIECES) return
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  /** Everything so far, which is no longer kept. */
  take(): string {
    const pieces = this.#pieces
    if (this.#blocks.length > 0) this.#blocks.push(...pieces)
    // Nearly every text comes in one piece.
    const all = this.#blocks.length > 0 ? this.#blocks.join('') : pieces.length === 1 ? (pieces[0] as string) : pieces.join('')
    this.clear()
    return all
  }

  clear(): void {
    if (this.#length === 0) return
    if (this.#blocks.length > 0) this.#blocks = []
    this.#pieces = []
    this.#length = 0
  }
}
