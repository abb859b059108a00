/** Whether a message expects an answer, and for which id. */

import type { Id, Incoming } from '../../jsonrpc/message.ts'

export const expectsAnswer = (message: Incoming): boolean =>
  message.kind === 'request' ||
  (message.kind === 'batch' && message.messages.some(({ kind }) => kind === 'request' || kind === 'malformed'))

export const idOf = (message: Incoming): Id | undefined => (message.kind === 'request' ? message.id : undefined)
