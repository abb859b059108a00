/** Work that takes turns: work with the same key runs one after the other, in order. */

export class Turns {
  /** The last work of each key, which never rejects. */
  readonly #last = new Map<string, Promise<unknown>>()

  /** Whether work with this key has not ended. */
  has(key: string): boolean {
    return this.#last.has(key)
  }

  /** Runs `work` when all earlier work with this key is over, however it ended. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const own = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const over = own.catch(() => {})
    this.#last.set(key, over)
    try {
      return await own
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key)
    }
  }
}
