/** An operation that several requests wait for. It is aborted when the last of them stops waiting. */

export class SharedWork<T> {
  readonly #controller = new AbortController()
  readonly #work: Promise<T>
  #waiting = 0

  constructor(run: (signal: AbortSignal) => Promise<T>) {
    this.#work = run(this.#controller.signal)
    // Callers of `join` get the error; without them it must not count as unhandled.
    this.#work.catch(() => {})
  }

  /** Resolves when the operation has ended, even if it failed. */
  get done(): Promise<unknown> {
    return this.#work.catch(() => {})
  }

  /** True if the operation was aborted because no request waits for it. */
  get isAborted(): boolean {
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
      if (this.#waiting === 0) this.#controller.abort(new DOMException('No request is waiting for the authorization', 'AbortError'))
    }
  }
}
