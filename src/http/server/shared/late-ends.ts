/** Streams of requests that are over here, but not in the store. Another replica would run such a request again when this one ends. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { NewEvent } from '../../../store/stream-logs.ts'
import { askEach } from './ask-each.ts'
import { producerOf } from './producer.ts'
import type { ReplicaServices } from './replica-services.ts'
import { isPermanent } from './store-refusal.ts'

const MAX_LATE = 10_000
const FULL = `More than ${MAX_LATE} requests are over here and not in the store. The oldest was forgotten, and may run again elsewhere`
/** A stream with a longer answer ends without it. */
const MAX_ANSWER_CHARS = 1024

export interface LateEnd {
  sid: string
  stream: string
  /** Undefined: it is not known whether the store has opened the stream. */
  epoch: number | undefined
  /** The answer, for a client that comes back. */
  json?: string
}

interface Waiting {
  sid: string
  stream: string
  epoch: number | undefined
  events: NewEvent[]
  /** The number of the batch. */
  n: number
  /** This replica by the name that it had. When it has lost its lease, others continue the stream. */
  replica: string
}

type Services = Pick<ReplicaServices, 'store' | 'bounds' | 'nextBatch' | 'tails' | 'report'>

export class LateEnds {
  readonly #services: Services
  readonly #late = new BoundedMap<string, Waiting>(MAX_LATE, () => this.#services.report(new Error(FULL)))
  #trying: Promise<void> | undefined

  constructor(services: Services) {
    this.#services = services
  }

  get size(): number {
    return this.#late.size
  }

  /** Remembers a stream until the store has its end. If too many wait, the oldest one is forgotten. */
  add({ sid, stream, epoch, json }: LateEnd): void {
    const { store, nextBatch } = this.#services
    const events = json !== undefined && json.length <= MAX_ANSWER_CHARS ? [{ json }] : []
    this.#late.set(`${sid} ${stream}`, { sid, stream, epoch, events, n: nextBatch(), replica: store.replica.id })
    producerOf(store).lateEnds.add(this)
  }

  /** Tries to end the streams. Does not reject. */
  tryAll(): Promise<void> {
    this.#trying ??= this.#tryAll().finally(() => {
      this.#trying = undefined
    })
    return this.#trying
  }

  async #tryAll(): Promise<void> {
    const { store, report } = this.#services
    const { replica } = store
    const end = async ([name, late]: [string, Waiting]): Promise<void> => {
      if (late.replica === replica.id) {
        if (!replica.isHeld) return
        try {
          await this.#end(late)
        } catch (error) {
          if (isPermanent(error)) this.#late.delete(name)
          throw error
        }
      }
      this.#late.delete(name)
    }
    await askEach(this.#late, end, report)
    if (this.#late.size === 0) producerOf(store).lateEnds.delete(this)
  }

  /** Any answer will do: a stream that is gone, over or taken over needs no end. */
  async #end(late: Waiting): Promise<void> {
    const { store, bounds, tails } = this.#services
    const { sid, stream, events, n } = late
    if (late.epoch === undefined) {
      // The store recognises the command if it was only its reply that got lost. The request is not needed any more.
      const opened = await store.streams.open(sid, stream, '')
      if (typeof opened !== 'number') return
      late.epoch = opened
    }
    const appended = await store.streams.append(sid, stream, { n, epoch: late.epoch, events, isLast: true }, bounds)
    if (typeof appended === 'object' && appended.reader === store.replica.id) tails.wake(sid, stream)
  }
}
