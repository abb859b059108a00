/** Bounds the requests of one kind that are sent at the same time. The others wait in a queue, first come, first served. */

export class Lane {
  readonly #max: number
  readonly #onShorter: (() => void) | undefined
  /** A Map keeps its order, and a request that is cancelled leaves it without a search. */
  readonly #queue = new Map<LanePlace, () => void>()
  #inside = 0

  /** @param onShorter called whenever a request has left the queue */
  constructor(max: number, onShorter?: () => void) {
    this.#max = max
    this.#onShorter = onShorter
  }

  get hasRoom(): boolean {
    return this.#inside < this.#max
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Calls `run` when there is room, usually at once. */
  enter(place: LanePlace, run: () => void): void {
    if (!this.hasRoom) {
      this.#queue.set(place, run)
      return
    }
    this.#inside++
    run()
  }

  leave(place: LanePlace): void {
    if (this.#queue.delete(place)) {
      this.#onShorter?.()
      return
    }
    this.#inside--
    for (const [next, run] of this.#queue) {
      if (!this.hasRoom) break
      this.#queue.delete(next)
      this.#inside++
      run()
      this.#onShorter?.()
    }
  }

  /** Takes a free place ahead of the queue; false when there is none. */
  take(): boolean {
    if (!this.hasRoom) return false
    this.#inside++
    return true
  }
}

/** The place of one request in a lane, for all its attempts. */
export class LanePlace {
  #lane: Lane | undefined

  enter(lane: Lane, run: () => void): void {
    this.#lane = lane
    lane.enter(this, run)
  }

  /** Gives the place to the next request. A second call does nothing. */
  leave(): void {
    const lane = this.#lane
    this.#lane = undefined
    lane?.leave(this)
  }

  /** Moves to another lane if that has room, which frees the place in this one. */
  moveTo(lane: Lane): void {
    if (this.#lane === undefined || this.#lane === lane || !lane.take()) return
    this.leave()
    this.#lane = lane
  }
}
