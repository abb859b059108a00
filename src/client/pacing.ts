/** Repeats requests that the server refused because of its rate limit, one by one, as fast as it allows. */

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
  /** How long it may wait and be repeated. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

export class Pacing {
  readonly #options: PacingOptions
  /** By method, because a limit on calls does not apply to lists. */
  readonly #lines = new Map<string, Line>()
  #count = 0

  constructor(options: PacingOptions) {
    this.#options = options
  }

  /** Sends a request, immediately if no other one of its method waits. Rejects with the server's refusal after `timeoutMs`. */
  send<T>(request: PacedRequest<T>): Promise<T> {
    const order: Order = { number: this.#count++, startedAt: this.#options.clock.now() }
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(request.method)
    const sent = line ? line.wait(request, order, undefined).then(() => request.send()) : request.send()
    return sent.catch((error: unknown) => this.#again(request, order, error))
  }

  /** Fails all waiting requests. */
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

/** The position of a request. The oldest goes first, however often it was refused. */
interface Order {
  number: number
  startedAt: number
}

interface Waiting {
  number: number
  go(): void
  fail(error: Error): void
}

/** The factor by which pauses become shorter again. */
const EASING = 0.9
const MIN_PAUSE_MS = 1
/** For a server that refuses with "retry immediately" again and again: the pause starts here and doubles each time. */
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

  /** @param refusal the server's refusal, if the request was sent before */
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
      // A request that was never sent is sent at its deadline, so that it fails with the server's reason.
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

/** The waiting time in a Portico server's rate-limit error. The server did not run the request. */
function retryAfterIn(error: unknown): number | undefined {
  if (!(error instanceof RemoteError) || !isObject(error.data) || error.data.reason !== 'rate-limited') return undefined
  const { retryAfterMs } = error.data
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined
}
