/** Continues the requests of replicas that have ended, or answers them with an error, so that no client waits for ever. */

import { notices } from '../../../base/notices.ts'
import { counted } from '../../../base/text/counted.ts'
import { isClosed, isDown } from '../../../store/faults.ts'
import type { DeadReplica } from '../../../store/replica.ts'
import type { TakenOver } from '../../../store/stream-logs.ts'
import { callName, lostAnswer, type OpenCall } from './open-call.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import { untilHeard } from './until-heard.ts'

/** What became of a request: it runs again here, or its client got the error `replica_lost`; neither if it was cancelled, or is over. */
type Outcome = 'runAgain' | 'lost' | 'neither'

/** What became of the requests of a replica. */
export type TakenOverCounts = Record<Exclude<Outcome, 'neither'>, number>

export class DeadReplicas {
  readonly #services: ReplicaServices
  readonly #calls: RunningCalls
  readonly #onTakenOver: (counts: TakenOverCounts) => void
  #looking: Promise<void> | undefined
  #isAskedAgain = false
  #isStopped = false

  constructor(services: ReplicaServices, calls: RunningCalls, onTakenOver: (counts: TakenOverCounts) => void) {
    this.#services = services
    this.#calls = calls
    this.#onTakenOver = onTakenOver
  }

  /** This replica ends, so it takes over nothing more. Resolves when it has dealt with what it has claimed. Does not reject. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#looking?.catch(() => {})
  }

  async look(): Promise<void> {
    this.#isAskedAgain = this.#looking !== undefined
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = undefined
    })
    if (!this.#isAskedAgain) await this.#looking
  }

  async #lookUntilDone(): Promise<void> {
    do {
      this.#isAskedAgain = false
      await this.#lookOnce()
    } while (this.#isAskedAgain)
  }

  async #lookOnce(): Promise<void> {
    const { replica } = this.#services.store
    const found = new Map<string, TakenOverCounts>()
    const failed = new Set<string>()
    try {
      while (!this.#isStopped) {
        // A part of the requests of a replica. The next part comes with the next claim.
        const dead = await replica.claimDead()
        if (!dead) return
        const counts = found.get(dead.replica) ?? { runAgain: 0, lost: 0 }
        found.set(dead.replica, counts)
        const streams = dead.streams.filter(({ sid, stream }) => !failed.has(`${sid} ${stream}`))
        // The store gives no others before these.
        if (streams.length === 0) return
        const ends = await Promise.allSettled(streams.map(({ sid, stream }) => this.#continue(sid, stream, dead.replica)))
        for (const end of ends) if (end.status === 'fulfilled' && end.value !== 'neither') counts[end.value]++
        for (const [at, end] of ends.entries()) {
          if (end.status === 'fulfilled') continue
          if (this.#passes(end.reason)) throw end.reason
          // One that is damaged must not stop the others.
          this.#services.report(end.reason)
          const { sid, stream } = streams[at] as DeadReplica['streams'][number]
          failed.add(`${sid} ${stream}`)
        }
      }
    } finally {
      for (const [id, counts] of found) this.#tell(id, counts)
    }
  }

  /** Trying again may help: the store is away, or this replica has lost its lease. */
  #passes(error: unknown): boolean {
    return isDown(error) || isClosed(error) || !this.#services.store.replica.isHeld
  }

  async #continue(sid: string, stream: string, from: string): Promise<Outcome> {
    const { store, bounds, nextBatch, tails, lateEnds } = this.#services
    // The store would let a replica that has left join again.
    if (this.#calls.isEnded) return 'neither'
    const taken = await store.streams.takeOver(sid, stream, from)
    if (!taken) return 'neither'
    // From here on this replica runs the request. If it gave up, the client would wait for ever.
    const call = taken.call === '' ? undefined : this.#read(taken.call)
    const restarted = call ? await this.#restart(sid, stream, taken, call) : 'lost'
    if (restarted === 'runAgain') return restarted
    if (restarted === 'fenced' || restarted === 'left') return 'neither'
    const events = call && restarted !== 'cancelled' ? [{ json: lostAnswer(call, restarted === 'had all runs' ? restarted : 'ended') }] : []
    const batch = { n: nextBatch(), epoch: taken.epoch, events, isLast: true }
    const appended = await untilHeard(this.#services, () => store.streams.append(sid, stream, batch, bounds)).catch((error: Error) => {
      lateEnds.add({ sid, stream, epoch: taken.epoch, ...events[0] })
      throw error
    })
    tails.wake(sid, stream)
    // After the stream has ended: until then another replica must find the cancellation.
    if (restarted === 'cancelled' && call) await this.#leave(sid, call)
    return events.length > 0 && typeof appended === 'object' ? 'lost' : 'neither'
  }

  /** Undefined for text that nobody can read. The stream then ends without an answer. */
  #read(json: string): OpenCall | undefined {
    try {
      const call = JSON.parse(json) as Partial<OpenCall> | null
      if (Array.isArray(call?.ids)) return call as OpenCall
      throw new TypeError('A request in progress has no ids')
    } catch (error) {
      this.#services.report(error)
      return undefined
    }
  }

  async #restart(sid: string, stream: string, taken: TakenOver, call: OpenCall): ReturnType<RunningCalls['restart']> {
    const { store, report } = this.#services
    try {
      return await untilHeard(this.#services, () => this.#calls.restart(sid, stream, taken, call))
    } catch (error) {
      // Without its lease this replica must not answer. Others take the request over.
      if (!store.replica.isHeld) throw error
      report(error)
      await this.#leave(sid, call)
      return 'lost'
    }
  }

  async #leave(sid: string, { restart }: OpenCall): Promise<void> {
    const { store, report } = this.#services
    if (restart) await store.sessions.leave(sid, callName(restart.message.id)).catch(report)
  }

  /** No record has the requests that were lost: the replica that ran them is gone. */
  #tell(replica: string, counts: TakenOverCounts): void {
    const { runAgain, lost } = counts
    if (runAgain + lost === 0) return
    const again = counted(runAgain, 'request runs', 'requests run')
    const line = `portico: took over from replica ${replica}: ${again} again here, ${lost} got the error replica_lost`
    notices.write(lost > 0 ? 'warn' : 'info', line)
    this.#onTakenOver(counts)
  }
}
