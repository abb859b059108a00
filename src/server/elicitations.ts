/** Pages people were sent to, and whom to tell when they are done. */

const MAX_OPEN = 10_000

export class Elicitations {
  readonly #open = new Map<string, () => void>()

  add(elicitationId: string, onComplete: () => void): void {
    // The oldest goes first: a notice that never comes must not be remembered for ever.
    if (this.#open.size >= MAX_OPEN) {
      const [oldest] = this.#open.keys()
      if (oldest !== undefined) this.#open.delete(oldest)
    }
    this.#open.set(elicitationId, onComplete)
  }

  /** Tells the client that asked, and only that one. False when the id is unknown or was completed before. */
  complete(elicitationId: string): boolean {
    const tell = this.#open.get(elicitationId)
    this.#open.delete(elicitationId)
    tell?.()
    return tell !== undefined
  }
}
