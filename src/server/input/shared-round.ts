/** One round of a stateless call that replicas share: a repeated round gets the outcome of the first instead of running again. */

import { randomId } from '../../base/bytes.ts'
import { comparableJson } from '../../base/canonical-json.ts'
import type { Deadlines } from '../../base/deadlines.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { jsonOf } from '../../jsonrpc/write.ts'
import type { KeyRing, SharedValues } from '../../protocol/interfaces/replaceable-services.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { seal, sha256, unseal } from './seal.ts'

/** A larger outcome is not kept, and its round runs again if it is repeated. */
const MAX_OUTCOME_CHARS = 256 * 1024
/** How long others wait for a process that has died. */
const HELD_MS = 10_000
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1000

export interface SharedRoundOptions {
  values: SharedValues
  keys: KeyRing
  principal: string | undefined
  /** The same in every round of the call. */
  callId: string
  /** The life of the state that the round began with. What the store keeps of it lives as long. */
  stateTtlMs: number
  deadlines: Deadlines
}

export class SharedRound {
  readonly #options: SharedRoundOptions
  readonly #call: IncomingCall

  constructor(call: IncomingCall, options: SharedRoundOptions) {
    this.#call = call
    this.#options = options
  }

  /** Returns the outcome that this round had before. Otherwise runs it, and keeps the outcome. While another runs it, waits. */
  async run(work: () => Params | Promise<Params>): Promise<Params> {
    const { values } = this.#options
    const { _meta, ...params } = this.#call.params
    const round = await sha256(comparableJson([this.#options.principal ?? null, this.#call.method, params]))
    const [outcome, runner] = [`round ${round}`, `runner of ${round}`]
    const own = randomId()
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      // `keep` moves the end of what another has kept, so it is only called if there is nothing.
      const isFree = (await values.kept(runner)) === undefined && (await values.keep(runner, own, HELD_MS)) === own
      const known = await this.#open(await values.kept(outcome), outcome)
      if (known !== undefined) {
        if (isFree) this.#release(runner, own)
        return JSON.parse(known) as Params
      }
      if (isFree) return this.#runOnce(work, outcome, runner, own)
      if (this.#call.exchange.isOver) throw new DOMException('The client disconnected', 'AbortError')
      await new Promise<void>((resolve) => this.#options.deadlines.set(waitMs, resolve))
    }
  }

  /** A step that a run before has finished is not run again, although that run did not end. */
  async step(name: string, run: () => Promise<string>): Promise<string> {
    const entry = `step ${this.#options.callId} ${name}`
    return (await this.#open(await this.#options.values.kept(entry), entry)) ?? this.#keep(entry, await run())
  }

  async #runOnce(work: () => Params | Promise<Params>, outcome: string, runner: string, own: string): Promise<Params> {
    const { values, deadlines } = this.#options
    const renew = (): void => {
      values.keep(runner, own, HELD_MS).catch(() => {})
      renewal = deadlines.set(HELD_MS / 3, renew)
    }
    let renewal = deadlines.set(HELD_MS / 3, renew)
    try {
      const result = await work()
      const json = jsonOf(result)
      // A handler that was told to stop may have returned less than the outcome.
      if (this.#call.exchange.isOver || json.length > MAX_OUTCOME_CHARS) return result
      // The client must get its answer, also if the store cannot be reached now.
      return JSON.parse(await this.#keep(outcome, json).catch(() => json)) as Params
    } finally {
      deadlines.clear(renewal)
      this.#release(runner, own)
    }
  }

  #release(runner: string, own: string): void {
    this.#options.values.keep(runner, own, 1).catch(() => {})
  }

  /** Keeps text, and returns it, or what another has kept before. */
  async #keep(entry: string, text: string): Promise<string> {
    const { values, keys, stateTtlMs } = this.#options
    const sealed = await seal(text, entry, keys)
    const kept = await values.keep(entry, sealed, stateTtlMs)
    return kept === sealed ? text : ((await this.#open(kept, entry)) ?? text)
  }

  /** Undefined if there is nothing, or if another key sealed it. */
  async #open(sealed: string | undefined, entry: string): Promise<string | undefined> {
    const opened = sealed === undefined ? undefined : await unseal(sealed, entry, this.#options.keys)
    return opened && 'text' in opened ? opened.text : undefined
  }
}
