/** Message to text, in one pass: text that is put together from parts has to be flattened before anybody can read it. */

import type { ErrorObject, Id, Params } from './message.ts'

export const requestJson = (id: Id, method: string, params: Params | undefined): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

export const notificationJson = (method: string, params?: Params): string => JSON.stringify({ jsonrpc: '2.0', method, params })

export const resultJson = (id: Id, result: Params): string => JSON.stringify({ jsonrpc: '2.0', id, result })

/** For a result that was written before. */
export const writtenResultJson = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

/** `null` writes JSON-RPC's own form for an unreadable id, `undefined` leaves the member out. */
export const errorJson = (id: Id | null | undefined, error: ErrorObject): string => JSON.stringify({ jsonrpc: '2.0', id, error })
