/** The replicas of a store in memory. They are in one process, so a replica is dead when it was closed. */

import { randomId } from '../../base/bytes.ts'
import { callListeners } from '../../base/call-observer.ts'
import type { DeadReplica, Replica, StoreMessage } from '../replica.ts'

/** The streams that one replica runs, by session and name. */
type Runs = Map<string, { sid: string; stream: string }>

export class MemoryReplicas {
  readonly #alive = new Map<string, MemoryReplica>()
  /** What replicas that are gone left behind. */
  readonly #dead = new Map<string, { runs: Runs; claimedBy: string | undefined }>()

  isAlive(id: string): boolean {
    return this.#alive.has(id)
  }

  add(replica: MemoryReplica): void {
    this.#alive.set(replica.id, replica)
  }

  remove(replica: MemoryReplica): void {
    if (!this.#alive.delete(replica.id)) return
    if (replica.runs.size > 0) this.#dead.set(replica.id, { runs: new Map(replica.runs), claimedBy: undefined })
  }

  /** Later, because a caller expects no message before its own call has returned. */
  tell(id: string, message: StoreMessage): boolean {
    const replica = this.#alive.get(id)
    if (replica) queueMicrotask(() => replica.tell(message))
    return replica !== undefined
  }

  others(than: string): string[] {
    return [...this.#alive.keys()].filter((id) => id !== than)
  }

  claim(by: string): DeadReplica | undefined {
    for (const [replica, left] of this.#dead) {
      if (left.runs.size === 0) {
        this.#dead.delete(replica)
        continue
      }
      if (left.claimedBy !== undefined && left.claimedBy !== by && this.isAlive(left.claimedBy)) continue
      left.claimedBy = by
      return { replica, streams: [...left.runs.values()] }
    }
    return undefined
  }

  forgetRun(replica: string, run: string): void {
    this.#dead.get(replica)?.runs.delete(run)
    this.#alive.get(replica)?.runs.delete(run)
  }
}

export class MemoryReplica implements Replica {
  #id = randomId()
  readonly leaseMs: number
  readonly runs: Runs = new Map()
  readonly #replicas: MemoryReplicas
  readonly #listeners = new Set<(message: StoreMessage) => void>()
  #isHeld = false

  constructor(replicas: MemoryReplicas, leaseMs: number) {
    this.#replicas = replicas
    this.leaseMs = leaseMs
  }

  get id(): string {
    return this.#id
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  async join(): Promise<void> {
    if (this.#isHeld) return
    this.#isHeld = true
    this.#replicas.add(this)
  }

  listen(listener: (message: StoreMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(message: StoreMessage): void {
    callListeners([...this.#listeners], (listener) => listener(message), 'messages of replicas')
  }

  async send(replica: string, json: string): Promise<boolean> {
    return this.#replicas.tell(replica, { kind: 'message', json })
  }

  async broadcast(json: string): Promise<void> {
    for (const id of this.#replicas.others(this.#id)) this.#replicas.tell(id, { kind: 'message', json })
  }

  async claimDead(): Promise<DeadReplica | undefined> {
    await this.join()
    return this.#replicas.claim(this.#id)
  }

  async leave(): Promise<void> {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#replicas.remove(this)
    this.runs.clear()
    this.#id = randomId()
  }
}
