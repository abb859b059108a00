/** Messages of a server as one of our requests sees them: its answer, something that cannot be it, or something else. */

import { type Id, type Incoming, numbered } from '../../jsonrpc/message.ts'
import { excerpt } from './faults.ts'

/** What `read` made of the only message that should answer a request. */
export type AnswerMatch = { kind: 'answer'; message: Incoming } | { kind: 'bad'; came: string } | { kind: 'other' }

/** Whether a message settles the request `id`. */
export function matchAnswer(id: Id, message: Incoming): AnswerMatch {
  switch (message.kind) {
    case 'result':
      return isFor(id, message.id) ? { kind: 'answer', message } : { kind: 'other' }
    case 'error':
      // An error without an id is about whatever was sent here, and that is this request.
      if (message.id === undefined) return { kind: 'answer', message: { ...message, id } }
      return isFor(id, message.id) ? { kind: 'answer', message } : { kind: 'other' }
    case 'malformed':
      return isFor(id, message.id) && !message.isRequest ? { kind: 'bad', came: message.error.message } : { kind: 'other' }
    case 'ignored':
      return isFor(id, message.id) || isFor(id, message.otherId) ? { kind: 'bad', came: message.reason } : { kind: 'other' }
    case 'batch':
      return message.messages.some((each) => matchAnswer(id, each).kind === 'answer') ? { kind: 'answer', message } : { kind: 'other' }
    default:
      return { kind: 'other' }
  }
}

/** Some servers answer with the number of a request as text. */
const isFor = (ours: Id, theirs: Id | undefined): boolean => theirs === ours || (typeof ours === 'number' && numbered(theirs) === ours)

/** In words, for an error that says what came instead of an answer. */
export function describeMessage(message: Incoming, text: string): string {
  switch (message.kind) {
    case 'result':
    case 'error':
      return `an answer to another request (id ${JSON.stringify(message.id)})`
    case 'request':
    case 'notification':
      return `a ${message.kind} (${message.method})`
    case 'batch':
      return 'a batch without the answer'
    case 'ignored':
      return message.reason
    case 'malformed':
      return `${excerpt(text)} (${message.error.message})`
  }
}

/** What is neither a message nor an answerable request: it can only be left out. */
export function isUnusable(message: Incoming): boolean {
  if (message.kind === 'batch') return message.messages.every(isUnusable)
  if (message.kind === 'malformed') return message.id === undefined || !message.isRequest
  return message.kind === 'ignored' && message.id === undefined
}

/** The type of a body without its parameters; two types are none. */
export const mediaTypeOf = (contentType: string | readonly string[] | undefined): string =>
  String(contentType ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase() ?? ''
