/**
 * One round of a stateless call that replicas share: a repeated round gets the outcome of the first instead of running again. It is
 * loaded when it is needed. It imports types only, because shared code would have to be in a file of its own.
 */

import type { Params } from '../../jsonrpc/message.ts'
import type { SharedValues } from '../../protocol/interfaces/replaceable-services.ts'
import type { Surroundings } from '../dialect/stateless.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { seal, unseal } from './seal.ts'

/** A larger outcome is not kept, and its round runs again if it is repeated. */
const MAX_OUTCOME_CHARS = 256 * 1024
/** How long others wait for a process that has died. */
const HELD_MS = 10_000
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500

/** What it uses of the server. */
export interface SharedRoundTools {
  seal: typeof seal
  unseal: typeof unseal
  /** Names the round: the same caller, method, state and answers have the same name. */
  digestOf(round: unknown): Promise<string>
}

export class SharedRound {
  readonly #call: IncomingCall
  readonly #values: SharedValues
  readonly #around: Surroundings
  readonly #callId: string
  readonly #tools: SharedRoundTools

  /** @param callId the same in every round of the call */
  constructor(call: IncomingCall, values: SharedValues, around: Surroundings, callId: string, tools: SharedRoundTools) {
    this.#call = call
    this.#values = values
    this.#around = around
    this.#callId = callId
    this.#tools = tools
  }

  /** Returns the outcome that this round had before. Otherwise runs it, and keeps the outcome. While another runs it, waits. */
  async run(work: () => Params | Promise<Params>): Promise<Params> {
    const values = this.#values
    // Only what the handler and its questions use: a repetition may have other members.
    const { name, uri, arguments: args, requestState, inputResponses } = this.#call.params
    const params = [name, uri, args, requestState, inputResponses].map((each) => each ?? null)
    const round = await this.#tools.digestOf([this.#around.principal ?? null, this.#call.method, params])
    const [outcome, runner] = [`round ${round}`, `runner of ${round}`]
    const own = crypto.randomUUID()
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      // `keep` also extends the life of an existing value, so it is called only if no value exists.
      const isFree = (await values.kept(runner)) === undefined && (await values.keep(runner, own, HELD_MS)) === own
      const known = await this.#open(await values.kept(outcome), outcome)
      if (known !== undefined) {
        if (isFree) this.#release(runner, own)
        return JSON.parse(known) as Params
      }
      if (isFree) return this.#runOnce(work, outcome, runner, own)
      if (this.#call.exchange.isOver) throw new DOMException('The client disconnected', 'AbortError')
      await new Promise<void>((resolve) => this.#around.serverState.deadlines.set(waitMs, resolve))
    }
  }

  /** A step that a run before has finished is not run again, although that run did not end. */
  async step(name: string, run: () => Promise<string>): Promise<string> {
    const entry = `step ${this.#callId} ${name}`
    return (await this.#open(await this.#values.kept(entry), entry)) ?? this.#keep(entry, await run())
  }

  async #runOnce(work: () => Params | Promise<Params>, outcome: string, runner: string, own: string): Promise<Params> {
    const { deadlines } = this.#around.serverState
    const renew = (): void => {
      this.#extend(runner, own, HELD_MS)
      renewal = deadlines.set(HELD_MS / 3, renew)
    }
    let renewal = deadlines.set(HELD_MS / 3, renew)
    try {
      const result = await work()
      const json = JSON.stringify(result)
      // A handler that was told to stop may have returned less than the outcome.
      if (this.#call.exchange.isOver || json.length > MAX_OUTCOME_CHARS) return result
      // The client must get its answer, also if the store cannot be reached now.
      const kept = await this.#keep(outcome, json).catch(() => json)
      return kept === json ? result : (JSON.parse(kept) as Params)
    } finally {
      deadlines.clear(renewal)
      this.#release(runner, own)
    }
  }

  #release(runner: string, own: string): void {
    this.#extend(runner, own, 1)
  }

  /** After this process was stopped for a while, another one may run the round. Its entry must not be changed. */
  #extend(runner: string, own: string, ms: number): void {
    const values = this.#values
    void values
      .kept(runner)
      .then((holder) => (holder === own ? values.keep(runner, own, ms) : undefined))
      .catch(() => {})
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
