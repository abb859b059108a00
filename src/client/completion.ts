/** Completion while a person types: the first request is sent immediately, quick successors are delayed, repeats are cached. */

import { BoundedMap } from '../base/bounded-map.ts'
import { comparableJson } from '../base/canonical-json.ts'
import type { Clock } from '../base/clock.ts'
import { isObject } from '../base/json.ts'
import { onAbort } from '../base/on-abort.ts'
import type { Params } from '../jsonrpc/message.ts'
import { type CompleteParams, type Completion, MAX_COMPLETION_VALUES } from '../protocol/model/completion.ts'

export interface CompleterOptions {
  clock: Clock
  send(params: CompleteParams, signal: AbortSignal | undefined): Promise<Params>
}

/** The pause between two requests for one argument. */
const QUIET_MS = 100
const FRESH_MS = 10_000
/** Cached answers, and arguments being typed. A person types in few fields at a time. */
const MAX_KEPT = 200

interface Line {
  sentAt: number
  waiting: { giveWay: () => void } | undefined
}

export class Completer {
  readonly #options: CompleterOptions
  /** By argument. */
  readonly #lines = new BoundedMap<string, Line>(MAX_KEPT)
  readonly #kept = new BoundedMap<string, { completion: Completion; until: number }>(MAX_KEPT)

  constructor(options: CompleterOptions) {
    this.#options = options
  }

  /** Rejects with an AbortError when a newer value of the same argument replaces it before it is sent. */
  async complete(params: CompleteParams, signal?: AbortSignal): Promise<Completion> {
    const { clock } = this.#options
    const key = comparableJson(params)
    const known = this.#kept.get(key)
    if (known && known.until > clock.now()) return known.completion
    await this.#turn(comparableJson([params.ref, params.argument.name]), signal)
    const completion = readCompletion(await this.#options.send(params, signal))
    this.#kept.set(key, { completion, until: clock.now() + FRESH_MS })
    return completion
  }

  forget(): void {
    this.#kept.clear()
  }

  /** Resolves when the request may be sent. */
  #turn(name: string, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options
    const line = this.#lines.get(name) ?? { sentAt: Number.NEGATIVE_INFINITY, waiting: undefined }
    this.#lines.set(name, line)
    line.waiting?.giveWay()
    if (clock.now() - line.sentAt >= QUIET_MS) {
      line.sentAt = clock.now()
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      let unwatch = (): void => {}
      const timer = clock.after(QUIET_MS, () => {
        line.sentAt = clock.now()
        settle(resolve)
      })
      timer.hold(true)
      const settle = (end: () => void): void => {
        timer.cancel()
        unwatch()
        line.waiting = undefined
        end()
      }
      const giveWay = (): void => settle(() => reject(new DOMException('A newer value of this argument replaced it', 'AbortError')))
      line.waiting = { giveWay }
      if (signal) unwatch = onAbort(signal, () => settle(() => reject(signal.reason as Error)))
    })
  }
}

/** Drops invalid members and cuts a list that is too long. */
function readCompletion(result: Params): Completion {
  const { completion } = result
  if (!isObject(completion) || !Array.isArray(completion.values)) return { values: [] }
  const values = completion.values.filter((value): value is string => typeof value === 'string')
  const read: Completion = { values: values.slice(0, MAX_COMPLETION_VALUES) }
  if (typeof completion.total === 'number') read.total = completion.total
  if (typeof completion.hasMore === 'boolean') read.hasMore = completion.hasMore
  return read
}
