/** Recognises messages that a receiver can neither use nor answer. */

import type { Incoming } from './message.ts'

/** Whether a message is neither valid nor a request that could be answered with an error. */
export function isUnusable(message: Incoming): boolean {
  if (message.kind === 'batch') return message.messages.every(isUnusable)
  if (message.kind === 'malformed') return message.id === undefined || !message.isRequest
  return message.kind === 'ignored' && message.id === undefined
}
