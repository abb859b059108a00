/** What became of the calls and events of a run under faults. */

import { availableParallelism, loadavg } from 'node:os'
import { expect } from 'vitest'
import type { EventReader } from '../support/http-requests.ts'
import { counted, notProved } from '../support/proof.ts'
import type { ReplicaGroup } from './replica-group.ts'

interface Faults {
  lost: number
  duplicated: number
  reordered: number
  hung: number
  foreign: number
}

/** Load averages for each processor core from which on the waits of clients say nothing of the product. A storm alone makes 1 to 1.5. */
const OVERLOADED = 2

/** What became of calls and events. */
export class Ledger {
  sent = 0
  /** The calls that were answered. */
  readonly answeredRuns: string[] = []
  /** Calls that ended with the error of a replica that was lost, or of a store that took no answer for a lease. */
  endedWithError = 0
  /** Calls that were refused or cut before the client knew anything of them. It sends such a call again. */
  refused = 0
  /** Why they were refused or cut, and how often. */
  readonly refusals = new Map<string, number>()
  /** Their runs. */
  readonly refusedRuns: string[] = []
  delivered = 0
  resumed = 0
  /** Cursors that the server refused, because the events after it are no longer there: an error, never a silent gap. */
  cursorsRefused = 0
  sessionsLost = 0
  /** The longest time that a client waited for the next event, the answer or the refusal of one call. */
  longestWaitMs = 0
  /** The highest load average of a minute that was seen. */
  loadAverage = 0
  readonly #faults: Faults = { lost: 0, duplicated: 0, reordered: 0, hung: 0, foreign: 0 }
  /** The last number that each run has received, of calls that the client could resume. */
  readonly received = new Map<string, number>()

  /** The first error of a client that is no matter of the ledger. */
  failure: unknown

  get answered(): number {
    return this.answeredRuns.length
  }

  fail(error: unknown): void {
    this.failure ??= error
  }

  fault(kind: keyof Faults, count = 1): void {
    this.#faults[kind] += count
  }

  /** @param answer undefined if the connection was refused or cut before there was one */
  refuse(run: string, answer: EventReader | undefined): void {
    this.refused++
    this.refusedRuns.push(run)
    const reason = answer ? `${answer.status} ${'retry-after' in answer.headers ? 'with' : 'without'} Retry-After` : 'no answer'
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1)
  }

  /** @param since when the client of a call last heard something of it */
  waited(since: number): void {
    this.longestWaitMs = Math.max(this.longestWaitMs, performance.now() - since)
  }

  /** Call it now and then. */
  lookAtLoad(): void {
    this.loadAverage = Math.max(this.loadAverage, loadavg()[0] as number)
  }

  /** Checks that no client waited for longer. If the machine was overloaded, the ledger says that this is not proved. */
  checkLongestWait(boundMs: number): void {
    const limit = OVERLOADED * availableParallelism()
    const isOverloaded = this.loadAverage > limit
    const load = `the load average was ${this.loadAverage.toFixed(1)} at most`
    if (isOverloaded) return notProved(`the bound of ${boundMs} ms for the longest wait: ${load}, more than ${limit}`)
    console.log(`The longest wait of ${Math.round(this.longestWaitMs)} ms was compared with ${boundMs} ms: ${load}`)
    counted({ 'ms: bound for the longest wait': boundMs })
    expect(this.longestWaitMs, 'ms: longest wait').toBeLessThanOrEqual(boundMs)
  }

  /** Also counts accepted events that were never delivered as lost, except those that `unreachable` counts. */
  faults({ accepted }: Pick<ReplicaGroup, 'accepted'>): Faults {
    let lost = this.#faults.lost
    for (const [run, number] of this.received) lost += Math.max(0, (accepted.get(run) ?? 0) - number)
    return { ...this.#faults, lost }
  }

  /** Accepted events whose clients cannot come back for them, because they never knew a position of the call. They sent it again. */
  unreachable({ accepted }: Pick<ReplicaGroup, 'accepted'>): number {
    return this.refusedRuns.reduce((sum, run) => sum + (accepted.get(run) ?? 0), 0)
  }

  /** Prints it, and writes it into the ledger of `npm run proof`. */
  print(what: string, group: ReplicaGroup): void {
    const { sent, answered, endedWithError, refused, delivered, resumed, cursorsRefused, sessionsLost } = this
    const numbers = {
      'calls sent': sent,
      'calls answered': answered,
      'calls ended with replica_lost or store_down': endedWithError,
      'calls refused or cut before their first event, sent again': refused,
      ...(group.acceptedCount > 0 && {
        'appends acknowledged': group.acceptedCount,
        'appends acknowledged of calls cut before their first event': this.unreachable(group),
      }),
      'events delivered': delivered,
      'streams resumed': resumed,
      'cursors refused with an error': cursorsRefused,
      'sessions lost': sessionsLost,
      'ms: longest wait for the next event of a call': Math.round(this.longestWaitMs),
      ...this.faults(group),
    }
    const lines = Object.entries(numbers).map(([name, number]) => `  ${String(number).padStart(9)} ${name}`)
    const refusals = [...this.refusals].map(([reason, count]) => `            ${count} of the refused or cut: ${reason}`)
    console.log(`${what}\n${[...lines, ...refusals].join('\n')}`)
    counted(numbers)
  }
}
