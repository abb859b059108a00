/** One call, with everything that its client does until it has the answer: it is cut off, and comes back with its last position. */

import type { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventReader, http, httpStream, type ServerEvent } from '../support/http-requests.ts'
import type { Message } from '../support/raw-channel.ts'
import type { Ledger } from './ledger.ts'

/** A client takes a stream without any sign of life for dead after this time, and resumes it. Replicas send one every half second. */
export const SILENCE_MS = 3000
/** How much too early a timer may fire. */
const TIMER_MS = 5
export const RETRY_MS = 50

export interface CallOptions {
  url: string
  /** The headers of its session. */
  session: Record<string, string>
  id: number
  ledger: Ledger
  agent: Agent
  /** A call without any event for so long hangs. */
  hungMs: number
}

export type CallOutcome = 'answered' | 'lost' | 'refused' | 'hung' | 'gone'

let runs = 0

export abstract class ResumedCall {
  /** Its name in the ledger. */
  protected readonly name = `run${++runs}`
  protected readonly options: CallOptions
  protected outcome: 'answered' | 'lost' | undefined
  #heardAt = 0
  #cursor: string | undefined

  constructor(options: CallOptions) {
    this.options = options
  }

  protected abstract readonly params: Message
  /** Takes a message of the stream that is not the answer. */
  protected abstract takeOther(message: Message): void
  protected abstract checkResult(result: Message): void
  /** The stream has ended or was cut, and the client knows a position in it or has the answer. */
  protected onStreamOver(): void {}

  /** Whether the client can come back, or has the answer. */
  get #isKnown(): boolean {
    return this.#cursor !== undefined || this.outcome !== undefined
  }

  async run(): Promise<CallOutcome> {
    const { ledger, session, id } = this.options
    ledger.sent++
    this.#heardAt = performance.now()
    let stream = await this.#open({ headers: session, body: { jsonrpc: '2.0', id, method: 'tools/call', params: this.params } })
    if (stream?.status === 404) return 'gone'
    for (;;) {
      if (stream?.status === 200) await this.#read(stream)
      // A call without a position is sent again, or hangs. Its client cannot come back for what it missed.
      if (this.#isKnown) this.onStreamOver()
      if (this.outcome === 'answered') ledger.answeredRuns.push(this.name)
      else if (this.outcome === 'lost') ledger.endedWithError++
      if (this.outcome !== undefined) return this.outcome
      if (this.#leftMs() <= 0) {
        ledger.waited(this.#heardAt)
        ledger.fault('hung')
        return 'hung'
      }
      if (this.#cursor === undefined) {
        ledger.waited(this.#heardAt)
        ledger.refuse(this.name, stream)
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

  /** Sends a message that gets no answer, until a replica has accepted it. */
  protected async send(message: Message): Promise<void> {
    const { url, agent, session } = this.options
    while (this.#leftMs() > 0 && this.outcome === undefined) {
      try {
        const { status } = await within(this.#leftMs() + TIMER_MS, http(url, { headers: session, body: message, agent }))
        if (status === 202) return
      } catch (error) {
        if (!isCut(error)) throw error
      }
      await sleep(RETRY_MS)
    }
  }

  /** How long the client waits for something of the call until it hangs. */
  #leftMs(): number {
    return this.#heardAt + this.options.hungMs - performance.now()
  }

  /** undefined: the connection was refused or cut, or has no answer until the call hangs. */
  async #open(call: Parameters<typeof httpStream>[1]): Promise<EventReader | undefined> {
    const { url, agent } = this.options
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
    const { ledger } = this.options
    ledger.waited(this.#heardAt)
    this.#heardAt = performance.now()
    const message = JSON.parse(data)
    if (message.method !== undefined) this.takeOther(message)
    else if (message.id === this.options.id && this.outcome === undefined) {
      if (message.error) {
        if (!['replica_lost', 'store_down'].includes(message.error.data?.reason)) throw new Error(`An error that was not expected: ${data}`)
        this.outcome = 'lost'
      } else {
        this.outcome = 'answered'
        this.checkResult(message.result)
      }
    } else ledger.fault('foreign')
  }
}

/** Rejects with ETIMEDOUT if there is no answer in time. Nobody looks at one that comes later, and its socket ends with its agent. */
export async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
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

export const isCut = (error: unknown): boolean =>
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT'].includes((error as NodeJS.ErrnoException).code ?? '')
