/** Bounds how many requests of one kind are on their way at the same time. The rest wait in line, first come, first served. */

export class Lane {
  readonly #max: number
  readonly #onShorter: (() => void) | undefined
  /** A set keeps its order, and whoever gives up leaves it without a search. */
  readonly #line = new Map<LanePlace, () => void>()
  #inside = 0

  /** @param onShorter called whenever somebody has left the line */
  constructor(max: number, onShorter?: () => void) {
    this.#max = max
    this.#onShorter = onShorter
  }

  get hasRoom(): boolean {
    return this.#inside < this.#max
  }

  get waiting(): number {
    return this.#line.size
  }

  /** Runs `run` as soon as there is room, which mostly is now. */
  enter(place: LanePlace, run: () => void): void {
    if (!this.hasRoom) {
      this.#line.set(place, run)
      return
    }
    this.#inside++
    run()
  }

  leave(place: LanePlace): void {
    if (this.#line.delete(place)) {
      this.#onShorter?.()
      return
    }
    this.#inside--
    for (const [next, run] of this.#line) {
      if (!this.hasRoom) break
      this.#line.delete(next)
      this.#inside++
      run()
      this.#onShorter?.()
    }
  }

  /** Takes a place that is free, past the line; false when there is none. */
  take(): boolean {
    if (!this.hasRoom) return false
    this.#inside++
    return true
  }
}

/** The place of one request in a lane, for all attempts at it. */
export class LanePlace {
  #lane: Lane | undefined

  enter(lane: Lane, run: () => void): void {
    this.#lane = lane
    lane.enter(this, run)
  }

  /** Gives the place to the next in line. Calling it again does nothing. */
  leave(): void {
    const lane = this.#lane
    this.#lane = undefined
    lane?.leave(this)
  }

  /** Goes over to another lane if there is room, so that the next in line here need not wait. */
  moveTo(lane: Lane): void {
    if (this.#lane === undefined || this.#lane === lane || !lane.take()) return
    this.leave()
    this.#lane = lane
  }
}
