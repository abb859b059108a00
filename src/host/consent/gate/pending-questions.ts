/** Questions that wait for a person: only so many, and only some of them because one server wants something. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action } from '../../model/action.ts'

export interface WaitingLimits {
  /** Questions that wait at the same time; more are refused. */
  maxQuestions: number
  /** Of these, what one server asks for by itself: a flood of its questions leaves room for those of the person. */
  maxServerQuestions: number
}

export class WaitingQuestions {
  readonly #limits: WaitingLimits
  readonly #byServer = new Map<string, number>()
  #count = 0

  constructor(limits: WaitingLimits) {
    this.#limits = limits
  }

  /** Returns what ends it. @throws McpError ERR_LIMIT */
  enter({ initiator, server: { id } }: Pick<Action, 'initiator' | 'server'>): () => void {
    const { maxQuestions, maxServerQuestions } = this.#limits
    const isTheirs = initiator === 'server'
    const theirs = this.#byServer.get(id) ?? 0
    if (this.#count >= maxQuestions)
      throw new McpError('ERR_LIMIT', `${this.#count} questions are waiting for a person already (maxQuestions)`)
    if (isTheirs && theirs >= maxServerQuestions)
      throw new McpError('ERR_LIMIT', `${theirs} questions of ${id} are waiting for a person already (maxServerQuestions)`)
    this.#count++
    if (isTheirs) this.#byServer.set(id, theirs + 1)
    return () => {
      this.#count--
      if (isTheirs) this.#leave(id)
    }
  }

  #leave(id: string): void {
    const left = (this.#byServer.get(id) ?? 1) - 1
    if (left === 0) this.#byServer.delete(id)
    else this.#byServer.set(id, left)
  }
}
