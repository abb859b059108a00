/** Replies to calls that were given up. What such a call did is undone, or counts for the next attempt. Otherwise it would never end. */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { DeadReplica } from '../replica.ts'
import type { Batch, LogBounds, TakenOver } from '../stream-logs.ts'

const MAX_TAKEN = 10_000

/** Ends a stream without a writer and a reader. It must not displace others. */
const CLOSING: Omit<Batch, 'epoch'> = { n: 1, events: [], isLast: true }
const CLOSING_BOUNDS: LogBounds = { maxEvents: 1, maxBytes: 1, maxSessionBytes: 1e9, endedTtlMs: 1000, maxEnded: 1e6 }

interface LateTakeOver {
  sid: string
  stream: string
  from: string
  taken: TakenOver
}

const keyOf = (args: readonly unknown[]): string => JSON.stringify(args)

export class LateReplies {
  readonly #run: (method: string, args: unknown[]) => Promise<unknown>
  readonly #taken = new BoundedMap<string, LateTakeOver>(MAX_TAKEN)

  /** @param run calls a method of the other process */
  constructor(run: (method: string, args: unknown[]) => Promise<unknown>) {
    this.#run = run
  }

  handle(method: string, args: readonly unknown[], result: unknown): void {
    // A takeover is tried again, and registers the request only once.
    const isNewCall = method === 'sessions.enter' && args[1] !== undefined && args[3] !== true
    if (isNewCall && typeof result === 'object') this.#undo('sessions.leave', args.slice(0, 2))
    else if (method === 'streams.open' && typeof result === 'number')
      this.#undo('streams.append', [...args.slice(0, 2), { ...CLOSING, epoch: result }, CLOSING_BOUNDS])
    else if (method === 'streams.takeOver' && result !== undefined) {
      const [sid, stream, from] = args as [string, string, string]
      this.#taken.set(keyOf(args), { sid, stream, from, taken: result as TakenOver })
    }
  }

  /** A replica whose stream was taken over by such a call. This replica owns the stream now, and must continue it. */
  claimed(): DeadReplica | undefined {
    for (const [, { sid, stream, from }] of this.#taken) return { replica: from, streams: [{ sid, stream }] }
    return undefined
  }

  takenOver(...args: [sid: string, stream: string, from: string]): TakenOver | undefined {
    const late = this.#taken.get(keyOf(args))
    this.#taken.delete(keyOf(args))
    return late?.taken
  }

  /** If the undo is given up as well, the other process still runs it later. */
  #undo(method: string, args: unknown[]): void {
    this.#run(method, args).catch(() => {})
  }
}
