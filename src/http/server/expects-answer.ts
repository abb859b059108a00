/** Whether a message expects an answer, for which id, and how many requests it has. */

import type { Id, Incoming } from '../../jsonrpc/message.ts'

export const expectsAnswer = (message: Incoming): boolean =>
  message.kind === 'request' ||
  (message.kind === 'batch' && message.messages.some(({ kind }) => kind === 'request' || kind === 'malformed'))

export const idOf = (message: Incoming): Id | undefined => (message.kind === 'request' ? message.id : undefined)

/** How often a message counts where requests in progress are counted: a batch with each of its requests. */
export const requestsIn = (message: Incoming): number =>
  message.kind === 'batch' ? Math.max(1, message.messages.filter(({ kind }) => kind === 'request').length) : 1
