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

export const notificationJson = (method: string, params?: Params): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${jsonOf(params)}}`

export const resultJson = (id: Id, result: Params): string => writtenResultJson(id, jsonOf(result))

/** For a result that was written before. */
export const writtenResultJson = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":${result}}`

/** What comes before the result; after it comes a brace. */
export const resultHead = (id: Id): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":`

/** `null` writes JSON-RPC's own form for an unreadable id, `undefined` leaves the member out. */
export function errorJson(id: Id | null | undefined, error: ErrorObject): string {
  try {
    return JSON.stringify({ jsonrpc: '2.0', id, error })
  } catch {
    // The other side must hear of the failure, whatever the author put beside it.
    const { code, message } = error
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
  }
}

/**
 * Throws a TypeError for what has no JSON text: a circle, a BigInt, an object that makes nothing of itself, and NaN or
 * Infinity, which JSON.stringify would turn into null.
 */
export function jsonOf(value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError('The value has no JSON text')
  // Only a text with a null in it can hide such a number, so that nothing else is looked through.
  const lost = json.includes('null') ? lostNumberIn(value, '') : undefined
  if (lost !== undefined) throw new TypeError(`JSON cannot write ${lost}`)
  return json
}

/** The first number that is not finite, with where it stands. */
function lostNumberIn(value: unknown, where: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `the number ${value}${where === '' ? '' : ` at ${where}`}`
  if (typeof value !== 'object' || value === null) return undefined
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return lostNumberIn(toJSON.call(value, ''), where)
  for (const [key, each] of Object.entries(value)) {
    const lost = lostNumberIn(each, where === '' ? key : `${where}.${key}`)
    if (lost !== undefined) return lost
  }
  return undefined
}

const idJson = (id: Id): string | number => (typeof id === 'number' ? id : JSON.stringify(id))
