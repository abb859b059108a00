/** Calls a function at once, and again at most once in each period, however often it is asked to. */
export class Seldom {
  readonly #run: () => void
  readonly #ms: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDue = false

  constructor(ms: number, run: () => void) {
    this.#ms = ms
    this.#run = run
  }

  ask(): void {
    this.#isDue = true
    if (!this.#timer) this.#next()
  }

  #next(): void {
    this.#timer = undefined
    if (!this.#isDue) return
    this.#isDue = false
    this.#timer = setTimeout(() => this.#next(), this.#ms).unref()
    this.#run()
  }
}
