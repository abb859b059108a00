/** The messages of this replica: each is read once, for all endpoints of this process that use one store. */

import { callListeners } from '../../../base/call-observer.ts'
import type { Replica, StoreMessage } from '../../../store/replica.ts'
import type { ReplicaNotice } from './replica-notice.ts'

/** A message of the store itself. */
export type StoreHint = Exclude<StoreMessage, { kind: 'message' }>

export interface ReplicaListener {
  hear(hint: StoreHint): void
  /** @param chars the length of the message */
  take(notice: ReplicaNotice, chars: number): void
}

export class ReplicaMessages {
  readonly #replica: Replica
  readonly #listeners = new Set<ReplicaListener>()
  #stop: (() => void) | undefined

  constructor(replica: Replica) {
    this.#replica = replica
  }

  /** Returns a function that ends it. */
  listen(listener: ReplicaListener): () => void {
    this.#listeners.add(listener)
    this.#stop ??= this.#replica.listen((message) => this.#onMessage(message))
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  /**
   * Tells the endpoints of one replica, or of all if that one is gone: another one may have taken over what it ran. What it is about is in
   * the store, so a message that cannot be sent is only reported.
   */
  async hint(replica: string, notice: ReplicaNotice, report: (error: unknown) => void): Promise<void> {
    if (replica === this.#replica.id) return this.hintHere(notice)
    const isSent = await this.send(replica, notice).catch(report)
    if (isSent === false) await this.hintAll(notice, report)
  }

  /** The same for the endpoints of all replicas. */
  async hintAll(notice: ReplicaNotice, report: (error: unknown) => void): Promise<void> {
    this.hintHere(notice)
    await this.broadcast(notice).catch(report)
  }

  /** The same for the endpoints of this process, those that use this store. */
  hintHere(notice: ReplicaNotice): void {
    this.#tell((listener) => listener.take(notice, 0))
  }

  /** Returns false if the replica is gone. */
  send(replica: string, notice: ReplicaNotice): Promise<boolean> {
    return this.#replica.send(replica, JSON.stringify(notice))
  }

  /** Tells all other replicas. */
  broadcast(notice: ReplicaNotice): Promise<void> {
    return this.#replica.broadcast(JSON.stringify(notice))
  }

  #onMessage(message: StoreMessage): void {
    if (message.kind !== 'message') return this.#tell((listener) => listener.hear(message))
    const { json } = message
    const notice = JSON.parse(json) as ReplicaNotice
    this.#tell((listener) => listener.take(notice, json.length))
  }

  #tell(call: (listener: ReplicaListener) => void): void {
    callListeners([...this.#listeners], call, 'messages of replicas')
  }
}
