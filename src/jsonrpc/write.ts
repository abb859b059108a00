/**
 * Writes messages as JSON. The envelope is concatenated, because JSON.stringify would take as long for it as for a small
 * result.
 */

import type { ErrorObject, Id, Params } from './message.ts'

export const requestJson = (id: Id, method: string, params: Params | undefined): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)}}`
    : writtenRequestJson(id, method, jsonOf(params))

/** For params that are already JSON text. */
export const writtenRequestJson = (id: Id, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${idJson(id)},"method":${JSON.stringify(method)},"params":${params}}`

export const notificationJson = (method: string, params?: Params): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${jsonOf(params)}}`

export const resultJson = (id: Id, result: Params): string => writtenResultJson(id, jsonOf(result))

/** For a result that is already JSON text. */
export const writtenResultJson = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":${result}}`

/** The text before the result. A closing brace follows the result. */
export const resultHead = (id: Id): string => `{"jsonrpc":"2.0","id":${idJson(id)},"result":`

/** @param id null for an unreadable id, as JSON-RPC has it; undefined to omit the member */
export function errorJson(id: Id | null | undefined, error: ErrorObject): string {
  try {
    return JSON.stringify({ jsonrpc: '2.0', id, error })
  } catch {
    // Drop data that cannot be serialised: the peer must still get the error.
    const { code, message } = error
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
  }
}

/**
 * Throws a TypeError for values that JSON cannot represent: cycles, BigInt, objects whose toJSON returns undefined, and NaN
 * and the infinities, which JSON.stringify would turn into null.
 */
export function jsonOf(value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError('The value has no JSON form')
  // Only text that contains null can hide such a number.
  const lost = json.includes('null') ? lostNumberIn(value, '') : undefined
  if (lost !== undefined) throw new TypeError(`JSON cannot represent ${lost}`)
  return json
}

/** The first number that is not finite, with its path. */
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
