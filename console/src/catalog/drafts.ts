/** What was typed and started on a panel, as long as this window is open. It is not stored, because it can be private. */

export interface Draft {
  value?: unknown
  /** The newest operation that was started there. */
  operation?: string
}

/** The message that is being written in the chat. */
export const CHAT_DRAFT = 'chat'

const MAX_DRAFTS = 200

const drafts = new Map<string, Draft>()

export const draftOf = (key: string): Draft => drafts.get(key) ?? {}

export function keepDraft(key: string, change: Draft): void {
  const next = { ...draftOf(key), ...change }
  drafts.delete(key)
  drafts.set(key, next)
  const oldest = drafts.keys().next().value
  if (drafts.size > MAX_DRAFTS && oldest !== undefined) drafts.delete(oldest)
}

/** @param start all drafts whose keys begin with it */
export function forgetDrafts(start: string): void {
  for (const key of [...drafts.keys()]) if (key.startsWith(start)) drafts.delete(key)
}
