/** The oldest transport at several replicas: a POST goes to the replica that has the stream of its session. */

import type { Clock } from '../../../base/clock.ts'
import type { Incoming } from '../../../jsonrpc/message.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { LegacyRelay, LegacySse } from '../legacy-sse.ts'
import { type Refusal, STORE_DOWN } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import { NOT_FOUND } from '../session/check-request.ts'
import type { HttpPost } from '../stateless.ts'
import { producerOf } from './producer.ts'
import type { SessionIds } from './session-ids.ts'

export interface SharedLegacyOptions {
  store: SharedStore
  legacy: LegacySse
  clock: Clock
  ids: SessionIds
  /** Sends the refusal of a request that needed the store. */
  later(work: Promise<Refusal | undefined>, reply: HttpReply, message?: Incoming): void
}

type Post = Pick<HttpPost, 'reply' | 'principal' | 'access' | 'body'>

export class SharedLegacy implements LegacyRelay {
  readonly #options: SharedLegacyOptions

  constructor(options: SharedLegacyOptions) {
    this.#options = options
    producerOf(options.store).legacy.add(options.legacy)
  }

  open(
    principal: string | undefined,
    reply: HttpReply,
    admit: (open: () => Refusal | undefined) => Promise<Refusal | undefined>,
    connect: (id: string) => Refusal | undefined,
  ): void {
    this.#options.later(this.#open(principal, admit, connect), reply)
  }

  pass(id: string, message: Incoming, post: Post): void {
    const { reply, body } = post
    body.isInFlight = true
    const passed = this.#pass(id, message, post).finally(() => body.release())
    const answered = passed.then((refusal) => {
      if (!refusal && !reply.isGone) reply.send(202, {})
      return refusal
    })
    this.#options.later(answered, reply, message)
  }

  close(): void {
    const { store, legacy } = this.#options
    producerOf(store).legacy.remove(legacy)
  }

  async #open(
    principal: string | undefined,
    admit: (open: () => Refusal | undefined) => Promise<Refusal | undefined>,
    connect: (id: string) => Refusal | undefined,
  ): Promise<Refusal | undefined> {
    const { replica } = this.#options.store
    const { id, isHeld } = replica
    if (!isHeld) return STORE_DOWN
    const created = await this.#options.ids.create(principal, id)
    // Others may know this replica by another name now, or not at all.
    return admit(() => (replica.isHeld && replica.id === id ? connect(created.id) : STORE_DOWN))
  }

  async #pass(id: string, message: Incoming, { principal, access, body }: Post): Promise<Refusal | undefined> {
    const { store, clock, ids, legacy } = this.#options
    const [, owner, code] = id.split('.')
    if (owner === undefined || code === undefined) return NOT_FOUND
    if ((await ids.nameIn(id, principal, clock.now())) === undefined) return NOT_FOUND
    return producerOf(store).legacy.pass(legacy, owner, { id, message, principal, access }, body.bytes, clock)
  }
}
