/** The interface of the stored conversations of a host. */

import type { Conversation } from './conversation.ts'

export interface ConversationStoreLimits {
  /** Stored conversations. The oldest are removed. */
  maxConversations: number
  /** Bytes of one conversation. */
  maxConversationBytes: number
  /** Bytes of all conversations. The oldest are removed. */
  maxTotalBytes: number
}

export const DEFAULT_CONVERSATION_STORE_LIMITS: ConversationStoreLimits = {
  maxConversations: 100,
  maxConversationBytes: 8 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
}

/** A stored conversation in a list: everything but its messages. */
export interface StoredConversation {
  id: string
  /** The beginning of the first message. */
  title: string
  turns: number
  startedAt: number
  updatedAt: number
}

/** Stores conversations, to list and continue them later. */
export interface ConversationStore {
  /** The newest first. `problems` says which files could not be read, and why. */
  list(): Promise<{ conversations: StoredConversation[]; problems: string[] }>
  /** Stores the conversation. If it was stored or loaded before, it keeps its id. Resolves with the id. */
  save(conversation: Conversation): Promise<string>
  /**
   * The conversation with this id, with its labels. Grants of the earlier run do not apply to it.
   * @param id the id, or the beginning of one
   */
  load(id: string): Promise<Conversation>
  /** Resolves with false if there is no such conversation. */
  remove(id: string): Promise<boolean>
}

export interface ConversationStoreOptions {
  folder: string
  /** Removes known secrets from text before it is stored. Default: only text that looks like a secret is removed. */
  scrub?(text: string): string
  limits?: Partial<ConversationStoreLimits>
  /** Milliseconds of the wall clock. */
  now?(): number
}
