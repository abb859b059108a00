/** A timeout for providers that stop sending. */

import type { Clock, Timer } from '../../base/clock.ts'

/** Aborts its signal when no data has arrived for `maxMs`. */
export class Silence {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #maxMs: number
  #timer: Timer

  constructor(clock: Clock, maxMs: number) {
    this.#clock = clock
    this.#maxMs = maxMs
    this.#timer = this.#wait()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  heard(): void {
    this.#timer.cancel()
    this.#timer = this.#wait()
  }

  end(): void {
    this.#timer.cancel()
  }

  #wait(): Timer {
    return this.#clock.after(this.#maxMs, () => this.#controller.abort())
  }
}
