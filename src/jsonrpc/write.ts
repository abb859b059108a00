/** Message to text. Results and params arrive already serialised, so that what is constant is serialised once. */

import type { ErrorObject, Id } from './message.ts'

export const idJson = (id: Id): string => (typeof id === 'number' ? String(id) : JSON.stringify(id))

export const requestJson = (id: Id, method: string, params: string | undefined): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)},"params":${params}}`

export const notificationJson = (method: string, params: string | undefined): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`

export const resultJson = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":${result}}`

/** `null` writes JSON-RPC's own form for an unreadable id, `undefined` leaves the member out. */
export function errorJson(id: Id | null | undefined, error: ErrorObject): string {
  const body = JSON.stringify(error)
  if (id === undefined) return `{"jsonrpc":"2.0","error":${body}}`
  return `{"jsonrpc":"2.0","id":${id === null ? 'null' : idJson(id)},"error":${body}}`
}
