/** The four kinds of JSON-RPC 2.0 message, and what reading one may yield. */

import type { JsonObject } from '../base/json.ts'

export type Id = string | number

export type Params = JsonObject

export interface ErrorObject {
  code: number
  message: string
  data?: unknown
}

export interface RequestMessage {
  kind: 'request'
  id: Id
  method: string
  params: Params | undefined
}

export interface NotificationMessage {
  kind: 'notification'
  method: string
  params: Params | undefined
}

export interface ResultMessage {
  kind: 'result'
  id: Id
  result: Params
}

export interface ErrorMessage {
  kind: 'error'
  id: Id | undefined
  error: ErrorObject
}

/** Something that is owed an error answer; `id` is undefined when none could be read. */
export interface MalformedMessage {
  kind: 'malformed'
  id: Id | undefined
  error: ErrorObject
  /** It was meant as a request, so that its sender waits for an answer if it has an id. */
  isRequest: boolean
}

/** Something that is wrong and must not be answered: a bad notification or a bad response. */
export interface IgnoredMessage {
  kind: 'ignored'
  reason: string
  /** The request of ours that it answers in a way that cannot be used. */
  id?: Id | undefined
  /** A second id that the message has: nobody can tell which of the two it answers. */
  otherId?: Id | undefined
}

export type SingleMessage = RequestMessage | NotificationMessage | ResultMessage | ErrorMessage | MalformedMessage | IgnoredMessage

export interface BatchMessage {
  kind: 'batch'
  messages: SingleMessage[]
}

export type Incoming = SingleMessage | BatchMessage

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

export const isId = (value: unknown): value is Id => typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

/** An id as a number where it is the text of one: some peers turn the ids of requests into strings. Anything else as it is. */
export const numbered = <T>(id: T): T | number => (typeof id === 'string' && COUNTED.test(id) ? Number(id) : id)

const COUNTED = /^(?:0|[1-9]\d{0,14})$/
