/** What a message in a session wants. */

import type { Id, Incoming } from '../../jsonrpc/message.ts'

/** Whether a message wants an answer. */
export const expectsAnswer = (message: Incoming): boolean =>
  message.kind === 'request' ||
  (message.kind === 'batch' && message.messages.some(({ kind }) => kind === 'request' || kind === 'malformed'))

export const idOf = (message: Incoming): Id | undefined => (message.kind === 'request' ? message.id : undefined)
