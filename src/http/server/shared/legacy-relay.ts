/** The oldest transport at several replicas: a POST goes to the replica that has the stream of its session. */

import type { Clock, Timer } from '../../../base/clock.ts'
import type { Incoming } from '../../../jsonrpc/message.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { StoreMessage } from '../../../store/replica.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { LegacyRelay, LegacySse } from '../legacy-sse.ts'
import { type Refusal, refuse, STORE_DOWN } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import type { HttpPost } from '../stateless.ts'

/** How long the other replica may take to accept a message. */
const ANSWER_MS = 5000
/** POSTs that wait for another replica. More are refused. */
const MAX_WAITING = 1000

const NOT_FOUND = refuse(404, 'Session not found')

/** Messages between replicas. */
type LegacyNotice =
  | { kind: 'legacy'; from: string; n: number; id: string; message: Incoming; principal: string | undefined; access: Access }
  | { kind: 'legacy answer'; n: number; refusal: Refusal | undefined }

export interface SharedLegacyOptions {
  store: SharedStore
  legacy: LegacySse
  clock: Clock
  refuse(reply: HttpReply, refusal: Refusal): void
}

export class SharedLegacy implements LegacyRelay {
  readonly #options: SharedLegacyOptions
  readonly #waiting = new Map<number, { answer(refusal: Refusal | undefined): void; timer: Timer }>()
  readonly #stop: () => void
  #sent = 0

  constructor(options: SharedLegacyOptions) {
    this.#options = options
    this.#stop = options.store.replica.listen((message) => this.#onMessage(message))
  }

  get replica(): string | undefined {
    const { replica } = this.#options.store
    return replica.isHeld ? replica.id : undefined
  }

  pass(id: string, message: Incoming, { reply, principal, access }: Pick<HttpPost, 'reply' | 'principal' | 'access'>): void {
    this.#pass(id, message, principal, access)
      .catch(() => STORE_DOWN)
      .then((refusal) => {
        if (refusal) this.#options.refuse(reply, refusal)
        else if (!reply.isGone) reply.send(202, {})
      })
  }

  close(): void {
    this.#stop()
    for (const { answer } of [...this.#waiting.values()]) answer(STORE_DOWN)
  }

  async #pass(id: string, message: Incoming, principal: string | undefined, access: Access): Promise<Refusal | undefined> {
    const { replica } = this.#options.store
    const owner = id.split('.')[1]
    if (owner === undefined || owner === replica.id) return NOT_FOUND
    if (this.#waiting.size >= MAX_WAITING) return STORE_DOWN
    // The answer comes to this inbox.
    await replica.join()
    const n = ++this.#sent
    const answered = new Promise<Refusal | undefined>((resolve) => {
      const answer = (refusal: Refusal | undefined): void => {
        this.#waiting.get(n)?.timer.cancel()
        this.#waiting.delete(n)
        resolve(refusal)
      }
      this.#waiting.set(n, { answer, timer: this.#options.clock.after(ANSWER_MS, () => answer(STORE_DOWN)) })
    })
    const notice: LegacyNotice = { kind: 'legacy', from: replica.id, n, id, message, principal, access }
    const sending = replica.send(owner, JSON.stringify(notice)).then((isThere) => {
      if (!isThere) this.#waiting.get(n)?.answer(NOT_FOUND)
    })
    sending.catch(() => this.#waiting.get(n)?.answer(STORE_DOWN))
    return answered
  }

  #onMessage(message: StoreMessage): void {
    // Other replicas do not find the sessions with the name that this one had. Their clients connect again.
    if (message.kind === 'lost') return this.#options.legacy.endAll('This replica lost its lease')
    if (message.kind !== 'message') return
    const notice = JSON.parse(message.json) as LegacyNotice
    if (notice.kind === 'legacy answer') this.#waiting.get(notice.n)?.answer(notice.refusal)
    else if (notice.kind === 'legacy') this.#take(notice, message.json.length)
  }

  #take({ from, n, id, message, principal, access }: LegacyNotice & { kind: 'legacy' }, bytes: number): void {
    const answer = (refusal?: Refusal): void => {
      const json = JSON.stringify({ kind: 'legacy answer', n, refusal } satisfies LegacyNotice)
      this.#options.store.replica.send(from, json).catch(() => {})
    }
    const refusal = this.#options.legacy.takePassed(id, message, { principal, access }, bytes, answer)
    if (refusal) answer(refusal)
  }
}
