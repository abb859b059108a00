/**
 * Message to text. The envelope is written by hand: its members are known, and to have JSON.stringify go through them as
 * well costs as much as it does to go through a small result.
 */

import type { ErrorObject, Id, Params } from './message.ts'

export const requestJson = (id: Id, method: string, params: Params | undefined): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)}}`
    : writtenRequestJson(id, method, jsonOf(params))

/** For params that were written before. */
export const writtenRequestJson = (id: Id, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)},"params":${params}}`

export const notificationJson = (method: string, params?: Params): string => JSON.stringify({ jsonrpc: '2.0', method, params })

export const resultJson = (id: Id, result: Params): string => writtenResultJson(id, jsonOf(result))

/** For a result that was written before. */
export const writtenResultJson = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":${result}}`

/** What comes before the result; after it comes a brace. */
export const resultHead = (id: Id): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":`

/** `null` writes JSON-RPC's own form for an unreadable id, `undefined` leaves the member out. */
export const errorJson = (id: Id | null | undefined, error: ErrorObject): string => JSON.stringify({ jsonrpc: '2.0', id, error })

/** Throws for what has no JSON text: a circle, a BigInt, an object that makes nothing of itself. */
export function jsonOf(value: Params): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError('The value has no JSON text')
  return json
}

const idJson = (id: Id): string | number => (typeof id === 'number' ? id : JSON.stringify(id))
