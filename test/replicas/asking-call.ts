/** A call of `ask_restartable`: the client answers its question, and gets a result that contains the answer, whichever replica ends. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../support/raw-channel.ts'
import { type CallOptions, ResumedCall } from './resumed-call.ts'

class AskingCall extends ResumedCall {
  protected readonly params: Message = { name: 'ask_restartable', arguments: { by: 'form', run: this.name } }
  readonly #thinkingMs: number
  #question: string | undefined

  constructor(options: CallOptions, thinkingMs: number) {
    super(options)
    this.#thinkingMs = thinkingMs
  }

  protected takeOther({ method, id }: Message): void {
    const { ledger } = this.options
    if (method !== 'elicitation/create') return ledger.fault('foreign')
    ledger.delivered++
    // A question that is open is not asked again, and no event comes twice.
    if (this.#question !== undefined) return ledger.fault('duplicated')
    this.#question = String(id)
    this.#answer(id).catch((error: unknown) => ledger.fail(error))
  }

  async #answer(id: unknown): Promise<void> {
    await sleep(Math.random() * this.#thinkingMs)
    const result = { action: 'accept', content: { name: this.name } }
    await this.send({ jsonrpc: '2.0', id, result })
  }

  protected checkResult(result: Message): void {
    const { ledger } = this.options
    if ((result.content as { text: string }[])[0]?.text !== `one step: Hello ${this.name}`) ledger.fault('foreign')
    if (this.#question === undefined) ledger.fault('lost')
  }
}

/** @param thinkingMs the longest time that a person takes for the answer */
export const asking =
  (thinkingMs: number) =>
  (options: CallOptions): ResumedCall =>
    new AskingCall(options, thinkingMs)
