/** One conversation, or one headless run: what belongs together when it is decided what may be done next. */

import { randomUUID } from 'node:crypto'
import type { Conversation } from '../conversation/chat/conversation.ts'
import { FlowContext } from '../conversation/flow/context.ts'
import type { ProvenanceLimits } from '../conversation/flow/provenance.ts'

export class Run {
  readonly id: string
  /** What it has seen so far, and from where. */
  readonly flow: FlowContext
  readonly #conversation: Conversation | undefined

  constructor({ conversation, limits }: { conversation?: Conversation; limits?: Partial<ProvenanceLimits> | undefined } = {}) {
    this.id = randomUUID()
    this.flow = conversation?.flow(limits) ?? new FlowContext(limits)
    this.#conversation = conversation
  }

  /** Counts the person's messages. */
  get turn(): number {
    return this.#conversation?.turn ?? 0
  }
}
