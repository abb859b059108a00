/** The conversations of a console. They last as long as the console. */

import { Conversation } from '../host/index.ts'
import type { ConversationView } from './api.ts'
import { conflict, notFound, tooMany } from './errors.ts'
import type { ConsoleLimits } from './limits.ts'

interface Kept {
  conversation: Conversation
  title: string
  startedAt: number
  updatedAt: number
  running?: string | undefined
}

const MAX_TITLE = 80

export class Conversations {
  readonly #limits: Pick<ConsoleLimits, 'maxConversations'>
  readonly #kept = new Map<string, Kept>()

  constructor(limits: Pick<ConsoleLimits, 'maxConversations'>) {
    this.#limits = limits
  }

  /** The newest first. */
  list(): ConversationView[] {
    return [...this.#kept.values()].map(viewOf).sort((one, other) => other.updatedAt - one.updatedAt)
  }

  /** @throws ApiError 404 */
  get(id: string): Conversation {
    return this.#find(id).conversation
  }

  view(id: string): ConversationView {
    return viewOf(this.#find(id))
  }

  /** Starts a turn. @param id undefined for a new conversation. @throws ApiError 404, 409 if it answers at the moment, or 429 */
  begin(id: string | undefined, message: string, operation: string): Conversation {
    const kept = id === undefined ? this.#create(message) : this.#find(id)
    if (kept.running !== undefined) throw conflict('The model answers in this conversation at the moment: wait, or stop it')
    kept.running = operation
    kept.updatedAt = Date.now()
    return kept.conversation
  }

  end({ id }: Conversation): void {
    const kept = this.#kept.get(id)
    if (!kept) return
    kept.running = undefined
    kept.updatedAt = Date.now()
  }

  /** @throws ApiError 404, or 409 if it answers at the moment */
  remove(id: string): Conversation {
    const { conversation, running } = this.#find(id)
    if (running !== undefined) throw conflict('The model answers in this conversation at the moment: stop it first')
    this.#kept.delete(id)
    return conversation
  }

  #create(message: string): Kept {
    const { maxConversations } = this.#limits
    if (this.#kept.size >= maxConversations)
      throw tooMany(`There are ${maxConversations} conversations already (maxConversations): remove one first`)
    const now = Date.now()
    const title = message.length > MAX_TITLE ? `${message.slice(0, MAX_TITLE)}…` : message
    const kept: Kept = { conversation: new Conversation(), title, startedAt: now, updatedAt: now }
    this.#kept.set(kept.conversation.id, kept)
    return kept
  }

  #find(id: string): Kept {
    const kept = this.#kept.get(id)
    if (!kept) throw notFound(`No conversation has the id ${JSON.stringify(id)}`)
    return kept
  }
}

const viewOf = ({ conversation, title, startedAt, updatedAt, running }: Kept): ConversationView => ({
  id: conversation.id,
  title,
  turns: conversation.turn,
  startedAt,
  updatedAt,
  ...(running !== undefined && { running }),
})
