/** How long to wait before a worker is started again. */

/** A worker that ran for this long did not fail at its start. */
const STABLE_MS = 30_000
const FIRST_MS = 100
const MAX_MS = 30_000

/** Workers of one number: the first that ends is replaced at once, those that end soon after their start more and more slowly. */
export class RestartDelay {
  #failures = 0

  /** @param ranMs how long the worker ran */
  next(ranMs: number): number {
    this.#failures = ranMs >= STABLE_MS ? 0 : this.#failures + 1
    return this.#failures <= 1 ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (this.#failures - 2))
  }
}
