/**
 * One round of a stateless call that replicas share: a repeated round gets the outcome of the first instead of running again. It is
 * loaded when it is needed. It imports types only, because shared code would have to be in a file of its own.
 */

import type { Deadline } from '../../base/deadlines.ts'
import type { Params } from '../../jsonrpc/message.ts'
import type { SharedValues } from '../../protocol/interfaces/replaceable-services.ts'
import type { Surroundings } from '../dialect/stateless.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { Journal } from './journal.ts'
import type { seal, unseal } from './seal.ts'

/** A larger outcome is not kept, and its round runs again if it is repeated. */
const MAX_OUTCOME_CHARS = 256 * 1024
/** How long others wait for a process that has died. A process that was stopped for longer must not go on with the round. */
const HELD_MS = 10_000
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500

/** What it uses of the server. */
export interface SharedRoundTools {
  seal: typeof seal
  unseal: typeof unseal
  /** Names the outcome of the round: the same caller, method, state and answers have the same name. */
  digestOf(round: unknown): Promise<string>
  /** The error of a process that was stopped while another one took the round. The client sends the request again. */
  lost(): Error
  /** The error of a round that has waited this long for an earlier one. The client may send the request again. */
  stillRuns(waitedMs: number): Error
}

export class SharedRound {
  readonly #call: IncomingCall
  readonly #values: SharedValues
  readonly #around: Surroundings
  readonly #journal: Journal
  readonly #tools: SharedRoundTools
  /** The store keeps the outcome under this name. */
  #outcomeName = ''
  /** All rounds of the call have one lock: two with different answers have the same steps, which must not run at once. */
  readonly #lockName: string
  /** Opens the lock. Undefined while this process does not have it. */
  #token: string | undefined
  #taking: Promise<number | undefined> | undefined
  /** Until then no other process takes the round. By the clock of this process, which goes on while it is stopped. */
  #heldUntil = 0
  #isLost = false
  #renewal: Deadline | undefined
  #runningSteps = 0
  /** The handler has ended, or has reached its time limit. */
  #isOver = false
  #endedAt = 0

  /** @param journal of the rounds before */
  constructor(call: IncomingCall, values: SharedValues, around: Surroundings, journal: Journal, tools: SharedRoundTools) {
    this.#call = call
    this.#values = values
    this.#around = around
    this.#journal = journal
    this.#tools = tools
    this.#lockName = `runner of ${journal.callId}`
  }

  /** Returns the outcome that this round had before. Otherwise runs it, and keeps the outcome. While a round of this call runs, waits. */
  async run(work: () => Params | Promise<Params>): Promise<Params> {
    // Only what the handler and its questions use: a repetition may have other members.
    const { name, uri, arguments: args, requestState } = this.#call.params
    const params = [name, uri, args, requestState, this.#answers()].map((each) => each ?? null)
    const round = await this.#tools.digestOf([this.#around.principal ?? null, this.#call.method, params])
    this.#outcomeName = `round ${round}`
    let known: Params | undefined
    try {
      known = await this.#wait()
    } catch (error) {
      this.#release()
      throw error
    }
    if (known === undefined) return this.#runOnce(work)
    this.#release()
    return known
  }

  /**
   * Waits until this round may run. Returns its outcome if another process has run it. A step of an earlier round may never end, so this one
   * waits only as long as a handler may run.
   */
  async #wait(): Promise<Params | undefined> {
    const { serverState } = this.#around
    const { handlerTimeoutMs } = serverState.limits
    const giveUpAt = serverState.now() + handlerTimeoutMs
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      this.#heldUntil = (await this.#take()) ?? 0
      const known = await this.#known()
      // This process may have been stopped since it took the round.
      if (known !== undefined || this.#isHeld) return known
      if (this.#call.exchange.isOver) throw new DOMException('The client disconnected', 'AbortError')
      if (serverState.now() >= giveUpAt) throw this.#tools.stillRuns(handlerTimeoutMs)
      await new Promise<void>((resolve) => serverState.deadlines.set(waitMs, resolve))
    }
  }

  /** A step that a run before has finished is not run again, although that run did not end. */
  async step(name: string, run: () => Promise<string>): Promise<string> {
    const entry = `step ${this.#journal.callId} ${name}`
    for (;;) {
      const known = await this.#open(await this.#values.kept(entry), entry)
      if (known !== undefined) return known
      // After its time limit a handler may still run, beside the round that comes next.
      if (this.#isOver) throw this.#tools.lost()
      if (this.#isHeld) return this.#runStep(entry, run)
      // While this process was stopped, a round with other answers may have run the step. So it looks again.
      if (!(await this.#isStillOurs())) throw this.#tools.lost()
    }
  }

  async #runStep(entry: string, run: () => Promise<string>): Promise<string> {
    this.#runningSteps++
    try {
      return await this.#keep(entry, await run())
    } finally {
      this.#runningSteps--
      this.#releaseIfOver()
    }
  }

  /** Answers to open questions. Others have no effect, so they make no other round. */
  #answers(): Record<string, unknown> {
    const { asked, answers } = this.#journal
    const given = Object.entries((this.#call.params.inputResponses ?? {}) as Record<string, unknown>)
    return Object.fromEntries(given.filter(([key]) => Object.hasOwn(asked, key) && !Object.hasOwn(answers, key)))
  }

  async #runOnce(work: () => Params | Promise<Params>): Promise<Params> {
    this.#renewLater()
    try {
      const result = await work()
      const json = JSON.stringify(result)
      // The client must get its answer, also if the store cannot be reached now.
      if (!(await this.#isStillOurs().catch(() => true))) return this.#lostOutcome()
      // A handler that was told to stop may have returned less than the outcome.
      if (this.#call.exchange.isOver || json.length > MAX_OUTCOME_CHARS) return result
      const kept = await this.#keep(this.#outcomeName, json).catch(() => json)
      return kept === json ? result : (JSON.parse(kept) as Params)
    } catch (error) {
      if (this.#isLost) return this.#lostOutcome()
      throw error
    } finally {
      this.#isOver = true
      this.#endedAt = this.#around.serverState.now()
      this.#releaseIfOver()
    }
  }

  #renewLater(): void {
    const { serverState } = this.#around
    this.#renewal = serverState.deadlines.set(HELD_MS / 3, () => {
      // By then the states of all rounds of this call have expired.
      if (this.#isOver && serverState.now() > this.#endedAt + serverState.limits.stateTtlMs) return
      this.#renew().catch(() => {})
      this.#renewLater()
    })
  }

  /** Steps may still run if the handler has reached its time limit. Until they have ended, no other round may run them. */
  #releaseIfOver(): void {
    if (!this.#isOver || this.#runningSteps > 0) return
    if (this.#renewal) this.#around.serverState.deadlines.clear(this.#renewal)
    this.#release()
  }

  get #isHeld(): boolean {
    return !this.#isLost && this.#around.serverState.now() < this.#heldUntil
  }

  /** Takes the round or keeps it, if no other process has it. Returns until when. */
  #take(): Promise<number | undefined> {
    // One attempt at a time: a second one would find the lock of the first.
    this.#taking ??= this.#lock().finally(() => {
      this.#taking = undefined
    })
    return this.#taking
  }

  async #lock(): Promise<number | undefined> {
    const sentAt = this.#around.serverState.now()
    const isKept = this.#token !== undefined && (await this.#values.extend(this.#lockName, this.#token, HELD_MS))
    if (!isKept) this.#token = await this.#values.lock(this.#lockName, HELD_MS)
    return this.#token === undefined ? undefined : sentAt + HELD_MS
  }

  /** Asks the store only after this process was stopped, or could not reach the store. */
  async #isStillOurs(): Promise<boolean> {
    if (!this.#isHeld && !this.#isLost) await this.#renew()
    return !this.#isLost
  }

  /** Another process may have run the round meanwhile, or may run it now. Then the handler is told to stop. */
  async #renew(): Promise<void> {
    const wasHeld = this.#isHeld
    const heldUntil = await this.#take()
    if (this.#isLost) return
    if (heldUntil !== undefined && (wasHeld || (await this.#values.kept(this.#outcomeName)) === undefined)) {
      this.#heldUntil = heldUntil
      return
    }
    this.#isLost = true
    this.#call.exchange.abort(this.#tools.lost())
  }

  async #lostOutcome(): Promise<Params> {
    const known = await this.#known()
    if (known === undefined) throw this.#tools.lost()
    return known
  }

  /** A renewal that is on its way may still take it. */
  #release(): void {
    void Promise.allSettled([this.#taking])
      .then(() => this.#token !== undefined && this.#values.unlock(this.#lockName, this.#token))
      .catch(() => {})
  }

  async #known(): Promise<Params | undefined> {
    const json = await this.#open(await this.#values.kept(this.#outcomeName), this.#outcomeName)
    return json === undefined ? undefined : (JSON.parse(json) as Params)
  }

  /** Keeps text, and returns it, or what another has kept before. */
  async #keep(entry: string, text: string): Promise<string> {
    const { keys, limits } = this.#around.serverState
    const sealed = await this.#tools.seal(text, entry, keys)
    // It lives as long as the state that the round began with.
    const kept = await this.#values.keep(entry, sealed, limits.stateTtlMs)
    return kept === sealed ? text : ((await this.#open(kept, entry)) ?? text)
  }

  /** Undefined if there is nothing, or if another key sealed it. */
  async #open(sealed: string | undefined, entry: string): Promise<string | undefined> {
    const opened = sealed === undefined ? undefined : await this.#tools.unseal(sealed, entry, this.#around.serverState.keys)
    return opened && 'text' in opened ? opened.text : undefined
  }
}
