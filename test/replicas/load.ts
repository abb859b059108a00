/** Clients that call, are cut off, resume, and write down what became of every event. */

import { Agent } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type EventReader, http, httpStream, type ServerEvent } from '../support/http-requests.ts'
import { initializeMessage } from '../support/http-service.ts'
import { counted } from '../support/proof.ts'
import type { ReplicaGroup } from './replica-group.ts'

/** A client takes a stream without any sign of life for dead after this time, and resumes it. Replicas send one every half second. */
const SILENCE_MS = 3000
/**
 * A call without any event for so long hangs: the lease (5 s), 2 s more, and a margin for a machine that is busy with the whole storm. The
 * ledger also tells the longest wait, which shows how busy the machine was.
 */
const HUNG_MS = 120_000
/** How much too early a timer may fire. */
const TIMER_MS = 5
const RETRY_MS = 50
const MAX_RETRY_MS = 1000
/** Small, so that opening is no storm of its own. */
const OPENED_AT_ONCE = 5

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
  answered = 0
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

  /** Checks that no client waited for longer, unless the machine was overloaded. Says in the ledger whether it did. */
  checkLongestWait(boundMs: number): void {
    const limit = OVERLOADED * availableParallelism()
    const isOverloaded = this.loadAverage > limit
    const load = `the load average was ${this.loadAverage.toFixed(1)} at most`
    console.log(
      isOverloaded
        ? `The bound of ${boundMs} ms for the longest wait was not applied: ${load}, more than ${limit}`
        : `The longest wait of ${Math.round(this.longestWaitMs)} ms was compared with ${boundMs} ms: ${load}`,
    )
    counted({ [`ms: bound for the longest wait${isOverloaded ? ', not applied because the machine was overloaded' : ''}`]: boundMs })
    if (!isOverloaded) expect(this.longestWaitMs, 'ms: longest wait').toBeLessThanOrEqual(boundMs)
  }

  /** Also counts accepted events that were never delivered as lost. */
  faults({ accepted }: Pick<ReplicaGroup, 'accepted'>): Faults {
    let lost = this.#faults.lost
    for (const [run, number] of this.received) lost += Math.max(0, (accepted.get(run) ?? 0) - number)
    return { ...this.#faults, lost }
  }

  /** Prints it, and writes it into the ledger of `npm run proof`. */
  print(what: string, group: ReplicaGroup): void {
    const { sent, answered, endedWithError, refused, delivered, resumed, cursorsRefused, sessionsLost } = this
    const numbers = {
      'calls sent': sent,
      'calls answered': answered,
      'calls ended with replica_lost or store_down': endedWithError,
      'calls refused or cut before their first event, sent again': refused,
      'appends acknowledged': group.acceptedCount,
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

export interface LoadOptions {
  version: string
  sessions: number
  isOver(): boolean
  /** Events of one call, and the pause between them. */
  to: number
  ms: number
  /** A call without any event for so long hangs. Default: HUNG_MS */
  hungMs?: number
}

/** Opens sessions through the balancer. Each makes one call after the other until `isOver`. */
export async function runCalls({ url }: Pick<ReplicaGroup, 'url'>, ledger: Ledger, options: LoadOptions): Promise<void> {
  const { version, sessions, isOver, to, ms, hungMs = HUNG_MS } = options
  const agent = new Agent({ keepAlive: true })
  const one = async (first: Record<string, string>): Promise<void> => {
    let session = first
    let pause = RETRY_MS
    for (let id = 1; !isOver(); id++) {
      const outcome = await new CountedCall({ url, session, ledger, agent, hungMs }).run(id, to, ms)
      // Clients that repeat at once what was refused make an overload worse.
      if (outcome === 'refused') await sleep(pause)
      pause = outcome === 'refused' ? Math.min(MAX_RETRY_MS, pause * 2) : RETRY_MS
      if (outcome !== 'gone') continue
      ledger.sessionsLost++
      session = await openLoadSession(url, version, agent)
    }
  }
  // A session calls as soon as it is open, so that none expires while the others are opened.
  const running: Promise<void>[] = []
  while (running.length < sessions && !isOver()) {
    const count = Math.min(OPENED_AT_ONCE, sessions - running.length)
    const batch = await Promise.all(Array.from({ length: count }, () => openLoadSession(url, version, agent)))
    for (const session of batch) running.push(one(session))
  }
  await Promise.all(running)
  agent.destroy()
}

/** Opens a session, and tries again while servers come and go. */
async function openLoadSession(url: string, version: string, agent: Agent): Promise<Record<string, string>> {
  const started = performance.now()
  let reason = ''
  for (let pause = RETRY_MS; ; pause = Math.min(MAX_RETRY_MS, pause * 2)) {
    try {
      const { status, headers, text } = await within(HUNG_MS, http(url, { body: initializeMessage(version), agent }))
      const session = { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': version }
      if (status === 200) {
        const body = { jsonrpc: '2.0', method: 'notifications/initialized' }
        const ready = await within(HUNG_MS, http(url, { headers: session, body, agent }))
        if (ready.status === 202) return session
        reason = `initialized ${ready.status} ${ready.text}`
      } else if (status === 502 || status === 503) reason = `initialize ${status} ${text}`
      else throw new Error(`No session: ${status} ${text}`)
    } catch (error) {
      if (!isCut(error)) throw error
      reason = (error as Error).message
    }
    if (performance.now() - started > HUNG_MS) throw new Error(`No session could be opened; the last reason was: ${reason}`)
    await sleep(pause)
  }
}

/** Rejects with ETIMEDOUT if there is no answer in time. Nobody looks at one that comes later, and its socket ends with its agent. */
async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(`No answer after ${Math.round(ms)} ms`), { code: 'ETIMEDOUT' })), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

const isCut = (error: unknown): boolean =>
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT'].includes((error as NodeJS.ErrnoException).code ?? '')

let runs = 0

interface CallOptions {
  url: string
  /** Its headers. */
  session: Record<string, string>
  ledger: Ledger
  agent: Agent
  hungMs: number
}

/** One call of `count`, with everything that its client does until it has the answer. */
class CountedCall {
  readonly #options: CallOptions
  readonly #run = `run${++runs}`
  #last = 0
  readonly #missing = new Set<number>()
  #heardAt = 0
  #cursor: string | undefined
  #id = 0
  #outcome: 'answered' | 'lost' | undefined

  constructor(options: CallOptions) {
    this.#options = options
  }

  async run(id: number, to: number, ms: number): Promise<'answered' | 'lost' | 'refused' | 'hung' | 'gone'> {
    const { ledger, session } = this.#options
    this.#id = id
    ledger.sent++
    const params = { name: 'count', arguments: { to, ms, run: this.#run }, _meta: { progressToken: this.#run } }
    this.#heardAt = performance.now()
    let stream = await this.#open({ headers: session, body: { jsonrpc: '2.0', id, method: 'tools/call', params } })
    if (stream?.status === 404) return 'gone'
    for (;;) {
      if (stream?.status === 200) await this.#read(stream)
      // A call without a cursor is sent again, or hangs. Its client cannot come back for what it missed.
      if (this.#cursor !== undefined || this.#outcome !== undefined) ledger.received.set(this.#run, this.#last)
      if (this.#outcome === 'answered') {
        if (this.#last < to) ledger.fault('lost', to - this.#last)
        ledger.answered++
      } else if (this.#outcome === 'lost') ledger.endedWithError++
      if (this.#outcome !== undefined) return this.#outcome
      if (this.#leftMs() <= 0) {
        ledger.waited(this.#heardAt)
        ledger.fault('hung')
        return 'hung'
      }
      if (this.#cursor === undefined) {
        ledger.waited(this.#heardAt)
        ledger.refuse(this.#run, stream)
        return 'refused'
      }
      if (stream === undefined || stream.status !== 200) await sleep(RETRY_MS)
      ledger.resumed++
      const headers = { ...session, accept: 'text/event-stream', 'last-event-id': this.#cursor }
      stream = await this.#open({ method: 'GET', isBare: true, headers })
      if (stream?.status === 204) {
        // The stream is over, and its answer never came.
        ledger.fault('lost')
        return 'lost'
      }
      if (stream?.status === 400 || stream?.status === 404) {
        ledger.cursorsRefused++
        // The client knows that events are missing. They are counted as what they are: lost, but not silently.
        return stream.status === 404 ? 'gone' : 'lost'
      }
    }
  }

  /** How long the client waits for something of the call until it hangs. */
  #leftMs(): number {
    return this.#heardAt + this.#options.hungMs - performance.now()
  }

  /** undefined: the connection was refused or cut, or has no answer until the call hangs. */
  async #open(call: Parameters<typeof httpStream>[1]): Promise<EventReader | undefined> {
    const { url, agent } = this.#options
    try {
      return await within(this.#leftMs() + TIMER_MS, httpStream(url, { ...call, agent }))
    } catch (error) {
      if (isCut(error)) return undefined
      throw error
    }
  }

  /** Reads until the stream ends, or is silent for too long. */
  async #read(stream: EventReader): Promise<void> {
    let heard = 0
    let heardAt = performance.now()
    const watch = setInterval(() => {
      if (stream.text.length > heard) {
        heard = stream.text.length
        heardAt = performance.now()
      } else if (performance.now() - heardAt > SILENCE_MS) stream.destroy()
      // Signs of life are no events.
      if (this.#leftMs() <= 0) stream.destroy()
    }, 200)
    try {
      for (let event = await stream.next(); event; event = await stream.next()) {
        this.#take(event)
      }
    } finally {
      clearInterval(watch)
    }
  }

  #take({ id, data }: ServerEvent): void {
    if (id !== undefined) this.#cursor = id
    if (!data) return
    const { ledger } = this.#options
    ledger.waited(this.#heardAt)
    this.#heardAt = performance.now()
    const message = JSON.parse(data)
    if (message.method === 'notifications/progress') {
      const { progress, message: run } = message.params as { progress: number; message: string }
      ledger.delivered++
      if (run !== this.#run) ledger.fault('foreign')
      else if (progress > this.#last) {
        while (++this.#last < progress) {
          this.#missing.add(this.#last)
          ledger.fault('lost')
        }
      } else if (this.#missing.delete(progress)) {
        ledger.fault('lost', -1)
        ledger.fault('reordered')
      } else ledger.fault('duplicated')
    } else if (message.id === this.#id && this.#outcome === undefined) {
      if (message.error) {
        if (!['replica_lost', 'store_down'].includes(message.error.data?.reason)) throw new Error(`An error that was not expected: ${data}`)
        this.#outcome = 'lost'
      } else {
        this.#outcome = 'answered'
        if (message.result.content[0].text !== this.#run) ledger.fault('foreign')
      }
    } else ledger.fault('foreign')
  }
}
