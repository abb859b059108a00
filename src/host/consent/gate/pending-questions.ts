/** Limits how many questions are pending, in total and per server. */

import { counted } from '../../../base/text/counted.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Action } from '../../model/action.ts'

export interface PendingLimits {
  /** Maximum number of pending questions; more are refused. */
  maxQuestions: number
  /** Maximum number of pending questions that one server caused, so that a flood leaves room for the others. */
  maxServerQuestions: number
}

export class PendingQuestions {
  readonly #limits: PendingLimits
  readonly #byServer = new Map<string, number>()
  #count = 0

  constructor(limits: PendingLimits) {
    this.#limits = limits
  }

  /** Counts a question. Returns the function that ends it. @throws McpError ERR_LIMIT */
  enter({ initiator, server: { id } }: Pick<Action, 'initiator' | 'server'>): () => void {
    const { maxQuestions, maxServerQuestions } = this.#limits
    const isByServer = initiator === 'server'
    const ofServer = this.#byServer.get(id) ?? 0
    if (this.#count >= maxQuestions)
      throw new McpError('ERR_LIMIT', `${counted(this.#count, 'question is', 'questions are')} pending already (maxQuestions)`)
    if (isByServer && ofServer >= maxServerQuestions)
      throw new McpError(
        'ERR_LIMIT',
        `${counted(ofServer, 'question')} of ${id} ${ofServer === 1 ? 'is' : 'are'} pending already (maxServerQuestions)`,
      )
    this.#count++
    if (isByServer) this.#byServer.set(id, ofServer + 1)
    return () => {
      this.#count--
      if (isByServer) this.#leave(id)
    }
  }

  #leave(id: string): void {
    const left = (this.#byServer.get(id) ?? 1) - 1
    if (left === 0) this.#byServer.delete(id)
    else this.#byServer.set(id, left)
  }
}
