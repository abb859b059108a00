/** Requests that the server refused because they came too fast. They are sent again one by one, as fast as it allows. */

import type { Clock, Timer } from '../base/clock.ts'
import type { Deadlines } from '../base/deadlines.ts'
import { isObject } from '../base/json.ts'
import { onAbort } from '../base/on-abort.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'

export interface PacingOptions {
  clock: Clock
  deadlines: Deadlines
}

export interface PacedRequest<T> {
  method: string
  send(): Promise<T>
  /** For how long, from now, it may wait and be sent again. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

export class Pacing {
  readonly #options: PacingOptions
  /** By method: a limit on calls says nothing about lists. */
  readonly #lines = new Map<string, Line>()
  #count = 0

  constructor(options: PacingOptions) {
    this.#options = options
  }

  /** Sends it, now if nothing of its kind waits. Rejects with the server's refusal when its time is over. */
  send<T>(request: PacedRequest<T>): Promise<T> {
    const order: Order = { number: this.#count++, startedAt: this.#options.clock.now() }
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(request.method)
    const sent = line ? line.wait(request, order, undefined).then(() => request.send()) : request.send()
    return sent.catch((error: unknown) => this.#again(request, order, error))
  }

  /** Whoever waits gets this error. */
  close(error: Error): void {
    for (const line of this.#lines.values()) line.close(error)
    this.#lines.clear()
  }

  async #again<T>(request: PacedRequest<T>, order: Order, refusal: unknown): Promise<T> {
    let ownMs = FIRST_PAUSE_MS
    for (let error = refusal; ; ) {
      const toldMs = retryAfterIn(error)
      if (toldMs === undefined) throw error
      const line = this.#lineOf(request.method)
      if (toldMs >= MIN_PAUSE_MS) {
        line.slowDown(toldMs)
      } else {
        line.slowDown(ownMs)
        ownMs = Math.min(LONGEST_OWN_PAUSE_MS, 2 * ownMs)
      }
      await line.wait(request, order, error as RemoteError)
      try {
        return await request.send()
      } catch (next) {
        error = next
      }
    }
  }

  #lineOf(method: string): Line {
    let line = this.#lines.get(method)
    if (!line) {
      line = new Line(this.#options, () => this.#lines.delete(method))
      this.#lines.set(method, line)
    }
    return line
  }
}

/** Who was first goes first, however often it was refused. */
interface Order {
  number: number
  startedAt: number
}

interface Waiting {
  number: number
  go(): void
  fail(error: Error): void
}

/** How fast the pauses get shorter again. */
const EASING = 0.9
const MIN_PAUSE_MS = 1
/** A server that says "at once" each time is not asked without end: the pause begins here, and doubles with each such refusal. */
const FIRST_PAUSE_MS = 50
const LONGEST_OWN_PAUSE_MS = 5_000

class Line {
  readonly #options: PacingOptions
  readonly #onEmpty: () => void
  readonly #waiting: Waiting[] = []
  #pauseMs = MIN_PAUSE_MS
  #timer: Timer | undefined

  constructor(options: PacingOptions, onEmpty: () => void) {
    this.#options = options
    this.#onEmpty = onEmpty
  }

  slowDown(toldMs: number): void {
    this.#pauseMs = Math.max(toldMs, this.#pauseMs * EASING)
  }

  /** @param refusal of one that was sent already */
  wait(
    { timeoutMs, signal }: Pick<PacedRequest<unknown>, 'timeoutMs' | 'signal'>,
    { number, startedAt }: Order,
    refusal: Error | undefined,
  ): Promise<void> {
    const { clock, deadlines } = this.#options
    const leftMs = startedAt + timeoutMs - clock.now()
    if (refusal && leftMs <= this.#pauseMs) {
      this.#settle()
      return Promise.reject(refusal)
    }
    return new Promise((resolve, reject) => {
      const over = (run: () => void) => (): void => {
        deadlines.clear(deadline)
        unwatch()
        const at = this.#waiting.indexOf(waiting)
        if (at >= 0) this.#waiting.splice(at, 1)
        run()
        this.#settle()
      }
      const fail = (error: Error): void => over(() => reject(error))()
      const waiting: Waiting = { number, go: over(resolve), fail }
      // One that was not refused yet is sent when its time is over, so that it is told what is wrong.
      const deadline = deadlines.set(leftMs, refusal ? () => fail(refusal) : waiting.go)
      this.#insert(waiting)
      const unwatch = signal ? onAbort(signal, () => queueMicrotask(() => fail(signal.reason as Error))) : () => {}
      this.#pump()
    })
  }

  close(error: Error): void {
    for (const waiting of [...this.#waiting]) waiting.fail(error)
  }

  #insert(waiting: Waiting): void {
    const last = this.#waiting.at(-1)
    const at = last === undefined || last.number < waiting.number ? -1 : this.#waiting.findIndex(({ number }) => number > waiting.number)
    if (at < 0) this.#waiting.push(waiting)
    else this.#waiting.splice(at, 0, waiting)
  }

  #pump(): void {
    this.#timer ??= this.#options.clock.after(this.#pauseMs, () => {
      this.#timer = undefined
      const [first] = this.#waiting
      first?.go()
      if (this.#waiting.length > 0) this.#pump()
    })
  }

  #settle(): void {
    if (this.#waiting.length > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#onEmpty()
  }
}

/** What a server of our own kind says when requests come too fast; it has not looked at them. */
function retryAfterIn(error: unknown): number | undefined {
  if (!(error instanceof RemoteError) || !isObject(error.data) || error.data.reason !== 'rate-limited') return undefined
  const { retryAfterMs } = error.data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}
