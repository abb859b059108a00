/** Decides whether a message answers a request of ours, and describes the messages that do not. */

import { type Id, type Incoming, numbered } from '../../jsonrpc/message.ts'
import { excerpt } from './errors.ts'

/** A message as one request sees it: its answer, an invalid answer, or a message about something else. */
export type AnswerMatch = { kind: 'answer'; message: Incoming } | { kind: 'bad'; came: string } | { kind: 'other' }

/** Whether a message answers the request `id`. */
export function matchAnswer(id: Id, message: Incoming): AnswerMatch {
  switch (message.kind) {
    case 'result':
      return isFor(id, message.id) ? { kind: 'answer', message } : { kind: 'other' }
    case 'error':
      // An error without an id answers the request that the stream or response belongs to, which is this one.
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

/** Some servers send the numeric id of a request back as a string. */
const isFor = (ours: Id, theirs: Id | undefined): boolean => theirs === ours || (typeof ours === 'number' && numbered(theirs) === ours)

/** Describes a message that came instead of an answer, for an error. */
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
