/** One piece of work that several wait for: begun by the first, given up when the last has gone. */

export class SharedWork<T> {
  readonly #controller = new AbortController()
  readonly #work: Promise<T>
  #waiting = 0

  constructor(run: (signal: AbortSignal) => Promise<T>) {
    this.#work = run(this.#controller.signal)
    // Those who wait hear of it.
    this.#work.catch(() => {})
  }

  /** Resolves like the work, whether anybody waits for it or not. */
  get done(): Promise<unknown> {
    return this.#work.catch(() => {})
  }

  /** The last who waited has gone: what comes of it is of no use to anybody. */
  get isGivenUp(): boolean {
    return this.#controller.signal.aborted
  }

  async join(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting += 1
    let leave = (): void => {}
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason)
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
    })
    try {
      return await Promise.race([this.#work, left])
    } finally {
      signal?.removeEventListener('abort', leave)
      this.#waiting -= 1
      if (this.#waiting === 0) this.#controller.abort(new DOMException('Nobody waits for it any more', 'AbortError'))
    }
  }
}
