/** The oldest transport at several replicas: a POST goes to the replica that has the stream of its session. */

import type { Clock } from '../../../base/clock.ts'
import type { Incoming } from '../../../jsonrpc/message.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { StoreMessage } from '../../../store/replica.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { LegacyRelay, LegacySse } from '../legacy-sse.ts'
import { type Refusal, refuse, STORE_DOWN } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import type { HttpPost } from '../stateless.ts'
import type { SessionIds } from './session-ids.ts'

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
  ids: SessionIds
  /** Sends the refusal of a request that needed the store. */
  later(work: Promise<Refusal | undefined>, reply: HttpReply, message?: Incoming): void
}

export class SharedLegacy implements LegacyRelay {
  readonly #options: SharedLegacyOptions
  readonly #waiting = new Map<number, (refusal: Refusal | undefined) => void>()
  readonly #stop: () => void
  #sent = 0

  constructor(options: SharedLegacyOptions) {
    this.#options = options
    this.#stop = options.store.replica.listen((message) => this.#onMessage(message))
  }

  open(
    principal: string | undefined,
    reply: HttpReply,
    admit: (open: () => Refusal | undefined) => Promise<Refusal | undefined>,
    connect: (id: string) => Refusal | undefined,
  ): void {
    this.#options.later(this.#open(principal, admit, connect), reply)
  }

  pass(id: string, message: Incoming, { reply, principal, access, body }: Pick<HttpPost, 'reply' | 'principal' | 'access' | 'body'>): void {
    body.isInFlight = true
    const passed = this.#pass(id, message, principal, access).finally(() => body.release())
    const answered = passed.then((refusal) => {
      if (!refusal && !reply.isGone) reply.send(202, {})
      return refusal
    })
    this.#options.later(answered, reply, message)
  }

  close(): void {
    this.#stop()
    for (const answer of [...this.#waiting.values()]) answer(STORE_DOWN)
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

  async #pass(id: string, message: Incoming, principal: string | undefined, access: Access): Promise<Refusal | undefined> {
    const { store, clock, ids } = this.#options
    const { replica } = store
    const [, owner, code] = id.split('.')
    if (owner === undefined || code === undefined || owner === replica.id) return NOT_FOUND
    if ((await ids.nameIn(id, principal, clock.now())) === undefined) return NOT_FOUND
    if (this.#waiting.size >= MAX_WAITING) return STORE_DOWN
    const n = ++this.#sent
    const answered = new Promise<Refusal | undefined>((resolve) => this.#waiting.set(n, resolve))
    const timer = clock.after(ANSWER_MS, () => this.#waiting.get(n)?.(STORE_DOWN))
    try {
      // The answer comes to this inbox.
      await replica.join()
      const notice: LegacyNotice = { kind: 'legacy', from: replica.id, n, id, message, principal, access }
      // Awaited also when the answer is late: until then the message takes memory.
      return (await replica.send(owner, JSON.stringify(notice))) ? await answered : NOT_FOUND
    } finally {
      timer.cancel()
      this.#waiting.delete(n)
    }
  }

  #onMessage(message: StoreMessage): void {
    // Other replicas do not find the sessions with the name that this one had. Their clients connect again.
    if (message.kind === 'lost') return this.#options.legacy.endAll('This replica lost its lease', 'replica_lost')
    if (message.kind !== 'message') return
    const notice = JSON.parse(message.json) as LegacyNotice
    if (notice.kind === 'legacy answer') {
      const { n, refusal } = notice
      this.#waiting.get(n)?.(refusal === undefined || isRefusal(refusal) ? refusal : STORE_DOWN)
    }
    if (notice.kind === 'legacy') this.#take(notice, message.json.length)
  }

  #take({ from, n, id, message, principal, access }: LegacyNotice & { kind: 'legacy' }, bytes: number): void {
    const answer = (refusal?: Refusal): void => {
      const json = JSON.stringify({ kind: 'legacy answer', n, refusal } satisfies LegacyNotice)
      this.#options.store.replica.send(from, json).catch(() => {})
    }
    const refusal = this.#options.legacy.takePassed(id, message, { principal, access }, bytes, answer, answer)
    if (refusal) answer(refusal)
  }
}

/** Without keys anyone who can write to the store can send messages. */
const isRefusal = ({ status, message }: Refusal): boolean => status >= 400 && status <= 599 && typeof message === 'string'
