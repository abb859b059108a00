/** What all endpoints of this process that use one store have in common: to the store they are one producer, and one reader. */

import type { Announcement } from '../../../protocol/interfaces/service.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { Announcements } from './announcements.ts'
import type { LateEnds } from './late-ends.ts'
import { LegacyPosts } from './legacy-posts.ts'
import { ReplicaMessages } from './replica-messages.ts'
import type { Tails } from './tails.ts'

export interface Producer {
  readonly messages: ReplicaMessages
  /** The POSTs of the oldest transport. */
  readonly legacy: LegacyPosts
  /** The next number of a batch. Each is higher than all before, also those of an earlier endpoint. */
  nextBatch(): number
  /** The end of the last append to the standing stream of each session. */
  readonly last: Map<string, Promise<void>>
  /** Sessions with an append to the standing stream that is sent again. */
  readonly behind: Set<string>
  /** The endpoints where clients read. */
  readonly tails: Set<Tails>
  /** Streams that wait for their end, of each endpoint that has some, also of one that is closed. */
  readonly lateEnds: Set<LateEnds>
  /** The endpoints that use the lease of this process. The last one gives it up. */
  readonly endpoints: Set<{ readonly isEnding: boolean }>
  /** What one of the endpoints passes on, with those that have heard it from their server. A server may have several endpoints. */
  readonly announced: WeakMap<Announcement, Set<Announcements>>
  /** The endpoints that pass on announcements. One that has ended goes on with what it has heard while there are others. */
  readonly announcing: Set<Announcements>
}

const producers = new WeakMap<SharedStore, Producer>()

export function producerOf(store: SharedStore): Producer {
  let producer = producers.get(store)
  if (!producer) {
    let batches = 0
    const messages = new ReplicaMessages(store.replica)
    producer = {
      messages,
      legacy: new LegacyPosts(store.replica, messages),
      nextBatch: () => ++batches,
      last: new Map(),
      behind: new Set(),
      tails: new Set(),
      lateEnds: new Set(),
      endpoints: new Set(),
      announced: new WeakMap(),
      announcing: new Set(),
    }
    producers.set(store, producer)
  }
  return producer
}
