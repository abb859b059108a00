/** POSTs of the oldest transport between replicas: all endpoints of this process that use one store pass them on and take them together. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { reportError } from '../../../base/report-error.ts'
import { isDown, isNotRun } from '../../../store/faults.ts'
import type { Replica } from '../../../store/replica.ts'
import type { LegacySse } from '../legacy-sse.ts'
import { busyFixed, INTERNAL, type Refusal, refuse } from '../refusal.ts'
import { NOT_FOUND } from '../session/check-request.ts'
import type { ReplicaListener, ReplicaMessages, StoreHint } from './replica-messages.ts'
import type { PassedPost, ReplicaNotice } from './replica-notice.ts'

/** How long the other replica may take to accept a message. */
const ANSWER_MS = 5000
/** POSTs of this process that wait for other replicas. */
const MAX_WAITING = 1000
/** POSTs of other replicas that are recognised when they come again. */
const MAX_TAKEN = 1000

/** The client must not send the message again on its own: it may run already. */
const NO_ANSWER = refuse(503, 'The replica that has the stream did not answer. It may have taken the message')

interface Waiting {
  /** The endpoint that got the POST. */
  at: LegacySse
  answer(refusal: Refusal | undefined): void
}

export class LegacyPosts implements ReplicaListener {
  readonly #replica: Replica
  readonly #messages: ReplicaMessages
  /** The endpoints. The stream of a session is at one of them. */
  readonly #endpoints = new Set<LegacySse>()
  readonly #waiting = new Map<number, Waiting>()
  /** The outcomes of the last POSTs of other replicas. A store may deliver a message twice. */
  readonly #taken = new BoundedMap<string, Promise<Refusal | undefined>>(MAX_TAKEN)
  #sent = 0
  #stop: (() => void) | undefined

  constructor(replica: Replica, messages: ReplicaMessages) {
    this.#replica = replica
    this.#messages = messages
  }

  add(endpoint: LegacySse): void {
    this.#endpoints.add(endpoint)
    this.#stop ??= this.#messages.listen(this)
  }

  remove(endpoint: LegacySse): void {
    this.#endpoints.delete(endpoint)
    for (const { at, answer } of [...this.#waiting.values()]) if (at === endpoint) answer(NO_ANSWER)
    if (this.#endpoints.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  /**
   * Gives a POST to the replica that has its stream, which may be this one. Resolves when it has accepted it, or with its refusal.
   *
   * @param bytes the memory of the message
   */
  async pass(at: LegacySse, owner: string, post: PassedPost, bytes: number, clock: Clock): Promise<Refusal | undefined> {
    if (owner === this.#replica.id) return this.#accept(post, bytes)
    if (this.#waiting.size >= MAX_WAITING) return busyFixed(503, 'maxPassedMessages', MAX_WAITING, 'messages for streams of other replicas')
    const n = ++this.#sent
    const answered = new Promise<Refusal | undefined>((answer) => this.#waiting.set(n, { at, answer }))
    const timer = clock.after(ANSWER_MS, () => this.#waiting.get(n)?.answer(NO_ANSWER))
    try {
      // The answer comes to this inbox.
      await this.#replica.join()
      // Awaited also when the answer is late: until then the message takes memory.
      return (await this.#send(owner, n, post)) ? await answered : NOT_FOUND
    } finally {
      timer.cancel()
      this.#waiting.delete(n)
    }
  }

  /** Returns false if the replica is gone. */
  async #send(owner: string, n: number, post: PassedPost): Promise<boolean> {
    try {
      return await this.#messages.send(owner, { kind: 'legacy', from: this.#replica.id, n, ...post })
    } catch (error) {
      // If only the reply of the store is missing, the other replica has the message, and will answer it.
      if (!isDown(error) || isNotRun(error)) throw error
      return true
    }
  }

  hear({ kind }: StoreHint): void {
    if (kind !== 'lost') return
    // Other replicas do not find the sessions with the name that this one had. Their clients connect again.
    for (const endpoint of this.#endpoints) endpoint.endAll('This replica lost its lease', 'replica_lost')
  }

  take(notice: ReplicaNotice, chars: number): void {
    if (notice.kind === 'legacy answer') {
      const { n, refusal } = notice
      this.#waiting.get(n)?.answer(refusal === undefined || isRefusal(refusal) ? refusal : NO_ANSWER)
    }
    if (notice.kind === 'legacy') void this.#answer(notice, chars)
  }

  async #answer(notice: ReplicaNotice & { kind: 'legacy' }, chars: number): Promise<void> {
    const { from, n } = notice
    const name = `${from} ${n}`
    const outcome = this.#taken.get(name) ?? this.#accept(notice, chars).catch(failed)
    this.#taken.set(name, outcome)
    const refusal = await outcome
    await this.#messages.send(from, { kind: 'legacy answer', n, refusal }).catch(() => {})
  }

  /** Resolves when an endpoint has accepted the message, or with a refusal. */
  async #accept({ id, message, principal, access }: PassedPost, bytes: number): Promise<Refusal | undefined> {
    const endpoint = [...this.#endpoints].find((each) => each.has(id))
    if (!endpoint) return NOT_FOUND
    return new Promise((resolve) => {
      const refusal = endpoint.takePassed(id, message, { principal, access }, bytes, () => resolve(undefined), resolve)
      if (refusal) resolve(refusal)
    })
  }
}

function failed(error: unknown): Refusal {
  reportError('portico: a message of another replica failed:', error)
  return INTERNAL
}

/** Without keys anyone who can write to the store can send messages. */
const isRefusal = ({ status, message }: Refusal): boolean => status >= 400 && status <= 599 && typeof message === 'string'
