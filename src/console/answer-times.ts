/** How long operations wait for answers of the person, which is no time of the server. */

import type { Question } from '../host/index.ts'
import type { QuestionEnd } from './api.ts'
import type { Operations } from './operations.ts'

interface Waiting {
  /** Questions that are open now. */
  open: Set<string>
  since: number
}

export class AnswerTimes {
  readonly #operations: Operations
  /** By operation. */
  readonly #waiting = new Map<string, Waiting>()

  constructor(operations: Operations) {
    this.#operations = operations
  }

  onAsked({ id, server, chain }: Question): void {
    // Questions of a model belong to a chat.
    if (chain.some((each) => each.startsWith('model '))) return
    const operation = this.#operations.usingServer(server.id)
    if (operation === undefined) return
    const known = this.#waiting.get(operation)
    if (known) known.open.add(id)
    else this.#waiting.set(operation, { open: new Set([id]), since: Date.now() })
  }

  onEnded({ id, answer }: QuestionEnd): void {
    for (const [operation, { open, since }] of this.#waiting) {
      if (!open.delete(id)) continue
      // Questions that are open at the same time count once.
      const isLast = open.size === 0
      this.#operations.waited(operation, isLast ? Date.now() - since : 0, answer === 'deny')
      if (isLast) this.#waiting.delete(operation)
    }
  }
}
