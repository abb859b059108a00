/** Writes messages that belong to no request to the standing streams of shared sessions. */

import type { Outlet } from '../../../jsonrpc/outlet.ts'
import { McpError } from '../../../protocol/errors.ts'
import { STANDING_STREAM } from '../../../store/stream-logs.ts'
import { type Producer, producerOf } from './producer.ts'
import type { ReplicaServices } from './replica-services.ts'

export interface StandingEvent {
  json: string
  /** While an event with this key is unread, another one is not added. */
  coalesce?: string
}

export function standingOutlet(sid: string, { standing, report }: ReplicaServices): Outlet {
  return {
    push: (json) => standing.append(sid, { json }).then(() => undefined, report),
    answer: () => {},
    drop: () => {},
  }
}

/** One append after the other for each session, at all endpoints: the store takes a batch that comes after a later one for an old one. */
export class StandingStreams {
  readonly #services: Pick<ReplicaServices, 'store' | 'bounds' | 'nextBatch' | 'tails'>
  readonly #producer: Producer

  constructor(services: Pick<ReplicaServices, 'store' | 'bounds' | 'nextBatch' | 'tails'>) {
    this.#services = services
    this.#producer = producerOf(services.store)
  }

  /**
   * Returns false if there is no such session.
   *
   * @param untilHeard sends the command again while the store does not answer, and the event is added once. Without it the event fails, at
   *   once if another one is being sent again: what waits for the store has a limit elsewhere
   */
  async append(sid: string, event: StandingEvent, untilHeard?: <T>(command: () => Promise<T>) => Promise<T>): Promise<boolean> {
    const { last, behind } = this.#producer
    if (!untilHeard && behind.has(sid)) throw new McpError('ERR_STORE_DOWN', 'A notice was dropped: the store does not answer')
    const added = (last.get(sid) ?? Promise.resolve()).then(() => this.#append(sid, event, untilHeard))
    const over = added.then(
      () => {},
      () => {},
    )
    last.set(sid, over)
    try {
      return await added
    } finally {
      if (last.get(sid) === over) last.delete(sid)
    }
  }

  async #append(
    sid: string,
    event: StandingEvent,
    untilHeard: <T>(command: () => Promise<T>) => Promise<T> = (command) => command(),
  ): Promise<boolean> {
    const { store, bounds, nextBatch, tails } = this.#services
    // The same number each time, so that the store adds the event once.
    const batch = { n: nextBatch(), events: [event] }
    try {
      const appended = await untilHeard(async () => {
        try {
          return await store.streams.append(sid, STANDING_STREAM, batch, bounds)
        } catch (error) {
          this.#producer.behind.add(sid)
          throw error
        }
      })
      if (typeof appended === 'object' && appended.reader === store.replica.id) tails.wake(sid, STANDING_STREAM)
      if (appended === 'fenced') throw new Error('A notice was dropped: the store took it for an older one')
      return appended !== 'gone'
    } finally {
      this.#producer.behind.delete(sid)
    }
  }
}
