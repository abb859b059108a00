/** The JSON-RPC 2.0 messages, and the outcomes of reading one. */

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

/** A message that gets an error answer. `id` is undefined when it could not be read. */
export interface MalformedMessage {
  kind: 'malformed'
  id: Id | undefined
  error: ErrorObject
  /** Whether it was meant as a request, so that its sender waits for an answer. */
  isRequest: boolean
}

/** An invalid notification or response, which must not be answered. */
export interface IgnoredMessage {
  kind: 'ignored'
  reason: string
  /** The id of our request that it answers in an unusable way. */
  id?: Id | undefined
  /** The second id, when the message has two and it is unclear which one it answers. */
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

/** Converts an id that is the text of a number to that number, because some peers turn ids into strings. */
export const numbered = <T>(id: T): T | number => (typeof id === 'string' && COUNTED.test(id) ? Number(id) : id)

const COUNTED = /^(?:0|[1-9]\d{0,14})$/
