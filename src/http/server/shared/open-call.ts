/** What the store keeps of a request in progress, for another replica that continues it or answers it with an error. */

import { type ErrorObject, type Id, INTERNAL_ERROR, type Incoming, type RequestMessage } from '../../../jsonrpc/message.ts'
import { errorJson } from '../../../jsonrpc/write.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import { STORE_DOWN } from '../refusal.ts'

export interface OpenCall {
  /** The ids that must be answered. */
  ids: Id[]
  isBatch: boolean
  /** Set if another replica may run the request again. */
  restart?: RestartableCall
}

export interface RestartableCall {
  message: RequestMessage
  access: Access
  /** The address of the client. */
  address: string | undefined
  /** The size of the message, if requests are recorded. */
  bytes?: number | undefined
}

/** How often a call is run. A handler that ends its process each time must not end all replicas. */
export const MAX_RUNS = 3
/** The entry of a journal with the number of runs. */
export const RUNS = 'runs'

/** How a request is registered in the store: the number 1 and the text "1" are two ids. */
export const callName = (id: Id): string => JSON.stringify(id)

/** The names of the requests in a message. An id that is twice in a batch is refused when it runs. */
export const callNames = (message: Incoming): string[] =>
  message.kind === 'request' ? [callName(message.id)] : [...new Set(openCallOf(message, undefined).ids.map(callName))]

export function openCallOf(message: Incoming, restart: RestartableCall | undefined): OpenCall {
  const messages = message.kind === 'batch' ? message.messages : [message]
  const ids = messages.flatMap((each) => (each.kind === 'request' ? [each.id] : []))
  return { ids, isBatch: message.kind === 'batch', ...(restart && { restart }) }
}

/** Why a request has no other answer. */
const LOST = {
  ended: 'The replica that ran this request has ended. Send the request again',
  'lost its lease': 'The replica that ran this request has lost its lease. Send the request again',
  'had all runs': `Each of the ${MAX_RUNS} replicas that ran this request has ended`,
}

/** The answer to a request whose replica cannot go on with it. */
export const lostAnswer = (call: OpenCall, why: keyof typeof LOST = 'ended'): string =>
  answerAll(call, { code: INTERNAL_ERROR, message: LOST[why], data: { reason: 'replica_lost', retryable: why !== 'had all runs' } })

/** The answer to a request whose events the store refuses, for example because its memory is full. */
export const refusedAnswer = (call: OpenCall, message = 'The store of the server did not take the answer'): string =>
  answerAll(call, { code: INTERNAL_ERROR, message, data: STORE_DOWN.data })

function answerAll({ ids, isBatch }: OpenCall, error: ErrorObject): string {
  const answers = ids.map((id) => errorJson(id, error))
  return isBatch ? `[${answers.join(',')}]` : (answers[0] as string)
}
