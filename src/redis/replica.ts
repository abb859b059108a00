/** This process as one of the replicas in Redis: a lease for all its requests, and an inbox. */

import { BoundedMap } from '../base/bounded-map.ts'
import { randomId } from '../base/bytes.ts'
import { callListeners } from '../base/call-observer.ts'
import { McpError } from '../protocol/errors.ts'
import type { DeadReplica, Replica, StoreMessage } from '../store/replica.ts'
import { STANDING_STREAM } from '../store/stream-logs.ts'
import { isUnreadable } from '../store/unreadable.ts'
import type { Reply } from './client-library.ts'
import { isDamaged } from './connection.ts'
import { type RedisContext, textOf } from './context.ts'
import { Inbox } from './inbox.ts'
import { Lease } from './lease.ts'
import { claimReplica } from './scripts/claim-replica.ts'
import { leaveLease } from './scripts/leave-lease.ts'
import { listReplicas } from './scripts/list-replicas.ts'
import { noteRun } from './scripts/note-run.ts'
import { registerReplica } from './scripts/register-replica.ts'
import { renewLease } from './scripts/renew-lease.ts'
import { sendMessage } from './scripts/send-message.ts'
import { unlock } from './scripts/unlock.ts'
import { Seldom } from './seldom.ts'

/** Messages of one inbox. A replica that lets more pile up is told that it missed some. */
const MAX_MESSAGES = 10_000
/** Bytes of one inbox that were not read, or not yet removed. A single larger message fits into an empty inbox. */
const MAX_INBOX_BYTES = 32 * 1024 * 1024
/** Streams of a dead replica that are claimed at once. */
const MAX_CLAIMED = 100
/** Dead replicas that this one leaves to others for a while. */
const MAX_SKIPPED = 1000
const MAX_UNHEARD = 10_000

interface Membership {
  id: string
  lease: Lease
  inbox: Inbox
}

export class RedisReplica implements Replica {
  readonly leaseMs: number
  /** Names this process for batches that it sends again, also after it lost its lease. */
  readonly producer = randomId().slice(0, 12)
  /** Streams whose takeover got no reply. This replica may own them. Then no other one continues them, so it must try again. */
  readonly unheard = new BoundedMap<string, { attempt: string; left: DeadReplica }>(MAX_UNHEARD)
  readonly #context: RedisContext
  readonly #listeners = new Set<(message: StoreMessage) => void>()
  /** Dead replicas with a stream that this one cannot open, and until when it does not claim them. */
  readonly #skipUntil = new BoundedMap<string, number>(MAX_SKIPPED)
  /** Tells `missed`, at most once in a lease: a replica with other keys may send many messages, and each look at everything is dear. */
  readonly #toldMissed: Seldom
  #id = randomId()
  #joining: Promise<void> | undefined
  #membership: Membership | undefined
  #isClosed = false

  constructor(context: RedisContext, leaseMs: number) {
    this.#context = context
    this.leaseMs = leaseMs
    this.#toldMissed = new Seldom(leaseMs, () => this.#tell({ kind: 'missed' }))
  }

  get id(): string {
    return this.#id
  }

  get isHeld(): boolean {
    return this.#membership?.lease.isHeld ?? false
  }

  join(): Promise<void> {
    if (this.#membership) return Promise.resolve()
    this.#joining ??= this.#join().finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  listen(listener: (message: StoreMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  send(replica: string, json: string): Promise<boolean> {
    return this.#send(replica, { kind: 'message', json })
  }

  async broadcast(json: string): Promise<void> {
    const { live } = await this.directory()
    await Promise.all(live.filter((id) => id !== this.#id).map((id) => this.send(id, json)))
  }

  async claimDead(): Promise<DeadReplica | undefined> {
    await this.join()
    const { connection, keys } = this.#context
    const { gone } = await this.directory()
    for (const replica of gone) {
      if (replica === this.#id || performance.now() < (this.#skipUntil.get(replica) ?? 0)) continue
      const { lease, claim, runs, inbox } = keys.replica(replica)
      const reply = await this.#claim([lease, claim, runs, inbox])
      if (Array.isArray(reply)) return { replica, streams: reply.map(textOf).map(readRun) }
      if (textOf(reply) === 'empty') await connection.command('ZREM', keys.directory, replica)
    }
    const [unheard] = this.unheard.values()
    return unheard?.left
  }

  /** What a replica left counts as empty if it is damaged: the other replicas must not wait for it. */
  async #claim(names: string[]): Promise<Reply> {
    try {
      return await this.#context.connection.run(claimReplica, names, [this.#id, this.leaseMs, MAX_CLAIMED])
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.#context.reportUnreadable('what another replica left cannot be taken over', error)
      return Buffer.from('empty')
    }
  }

  /** Gives up the claim of a dead replica for a lease, so that a replica with the right keys gets it. False after that time: none came. */
  async skipForALease(replica: string): Promise<boolean> {
    const until = this.#skipUntil.get(replica)
    if (until !== undefined) return performance.now() < until
    const { connection, keys } = this.#context
    // Another replica may have claimed it in the meantime.
    await connection.run(unlock, [keys.replica(replica).claim], [this.#id])
    this.#skipUntil.set(replica, performance.now() + this.leaseMs)
    return true
  }

  async leave(): Promise<void> {
    await this.#joining?.catch(() => {})
    const membership = this.#membership
    if (!membership) return
    this.#part(membership)
    const { connection, keys } = this.#context
    const { lease, inbox, runs } = keys.replica(membership.id)
    const left = await connection.run(leaveLease, [lease, inbox, runs], [])
    if (left === 0) await connection.command('ZREM', keys.directory, membership.id)
    else await this.#register(membership.id, 0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // What cannot be given up now ends with the lease.
    await this.leave().catch(() => {})
  }

  /** The replicas that have their lease, and the others. */
  async directory(): Promise<{ live: string[]; gone: string[] }> {
    const { connection, keys } = this.#context
    const [live, gone] = (await connection.run(listReplicas, [keys.directory], [])) as [Buffer[], Buffer[]]
    return { live: live.map(textOf), gone: gone.map(textOf) }
  }

  /** @param leftMs of the lease of a replica */
  async #register(id: string, leftMs: number): Promise<void> {
    const { connection, keys } = this.#context
    await connection.run(registerReplica, [keys.directory], [id, leftMs, this.#lifeMs])
  }

  /**
   * Notes that this replica runs a stream.
   * @param id the name under which it runs the stream
   */
  async noteRun(id: string, sid: string, stream: string): Promise<void> {
    const { connection, keys } = this.#context
    const { lease, runs } = keys.replica(id)
    const noted = await connection.run(noteRun, [lease, runs], [runOf(sid, stream), this.#lifeMs])
    if (noted === 0) throw leaseEnded()
    this.expectId(id)
  }

  /** Throws if this replica has lost the lease that it had under this name: what it did under that name is for others. */
  expectId(id: string): void {
    if (id !== this.#id) throw leaseEnded()
  }

  /** Not awaited: a stream that is over and still noted does no harm. */
  forgetRun(sid: string, stream: string): void {
    // No replica runs the standing stream, and sessions that are gone are told often.
    if (stream !== STANDING_STREAM) this.forgetRunOf(this.#id, sid, stream)
  }

  forgetRunOf(replica: string, sid: string, stream: string): void {
    const { connection, keys } = this.#context
    connection.command('SREM', keys.replica(replica).runs, runOf(sid, stream)).catch(() => {})
  }

  /** Tells a replica something that it also finds in the store. Not awaited. */
  hint(replica: string, message: StoreMessage): void {
    if (replica === this.#id) queueMicrotask(() => this.#tell(message))
    else this.#send(replica, message).catch(() => {})
  }

  get #lifeMs(): number {
    return Math.ceil(Math.max(this.leaseMs * 6, this.#context.longestLifeMs))
  }

  async #join(): Promise<void> {
    if (this.#isClosed) throw new McpError('ERR_CLOSED', 'The store is closed')
    const id = this.#id
    const sentAt = performance.now()
    await this.#renew(id, undefined)
    const { keys, connection } = this.#context
    const inbox = new Inbox(keys.replica(id).inbox, connection, {
      onMessage: async (bytes) => {
        const message = await this.#read(bytes, id)
        if (this.#membership?.inbox !== inbox) return
        if (message) this.#tell(message)
        else this.#toldMissed.ask()
      },
      onManyHandled: () => this.#renew(id, inbox),
      onMissed: () => this.#tell({ kind: 'missed' }),
    })
    const lease = new Lease(this.leaseMs, sentAt, {
      renew: () => this.#renew(id, inbox),
      onLost: (reason) => this.#lose(membership, reason),
    })
    const membership = { id, lease, inbox }
    this.#membership = membership
  }

  /** Returns undefined for a message that nobody here can ever read. Rejects while the keys fail: the inbox then reads it again. */
  async #read(bytes: Buffer, id: string): Promise<StoreMessage | undefined> {
    const { values, reportUnreadable } = this.#context
    try {
      return JSON.parse(await values.open(bytes, `inbox ${id}`)) as StoreMessage
    } catch (error) {
      if (!isUnreadable(error) && !(error instanceof SyntaxError)) throw error
      reportUnreadable('a message of another replica cannot be read', error)
      return undefined
    }
  }

  /** @param read undefined to take the lease */
  async #renew(id: string, read: Inbox | undefined): Promise<boolean> {
    const { connection, keys } = this.#context
    const { lease, inbox, runs } = keys.replica(id)
    const args = [this.leaseMs, this.#lifeMs, read?.cursor ?? '0-0', read ? 0 : 1, read?.bytes ?? 0]
    const renewed = await connection.run(renewLease, [lease, inbox, runs], args)
    if (!Array.isArray(renewed)) return false
    read?.expect(renewed[0] as number)
    await this.#register(id, this.leaseMs)
    return true
  }

  /** Ends the membership. A replica that comes back has another id, so that nothing of the old one is taken for its own. */
  #part({ lease, inbox }: Membership): void {
    lease.end()
    inbox.close()
    this.#membership = undefined
    this.#id = randomId()
  }

  #lose(membership: Membership, reason: string): void {
    if (this.#membership !== membership) return
    this.#part(membership)
    this.#tell({ kind: 'lost', reason })
    void this.#joinAgain()
  }

  async #joinAgain(): Promise<void> {
    // A request may have joined in the meantime.
    while (!this.#isClosed && !this.#membership) {
      await this.join().catch(() => new Promise((resolve) => setTimeout(resolve, this.leaseMs / 10)))
    }
    if (!this.#isClosed) this.#tell({ kind: 'missed' })
  }

  async #send(replica: string, message: StoreMessage): Promise<boolean> {
    const { connection, keys, values } = this.#context
    const { lease, inbox } = keys.replica(replica)
    const sealed = await values.seal(JSON.stringify(message), `inbox ${replica}`)
    return (await connection.run(sendMessage, [lease, inbox], [sealed, MAX_MESSAGES, MAX_INBOX_BYTES])) === 1
  }

  #tell(message: StoreMessage): void {
    callListeners([...this.#listeners], (listener) => listener(message), 'messages of replicas')
  }
}

const leaseEnded = (): McpError => new McpError('ERR_STORE_DOWN', 'The lease of this replica has ended')

const runOf = (sid: string, stream: string): string => `${sid} ${stream}`

function readRun(run: string): DeadReplica['streams'][number] {
  const space = run.lastIndexOf(' ')
  return { sid: run.slice(0, space), stream: run.slice(space + 1) }
}
