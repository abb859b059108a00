/** One text for one JSON value, whoever writes it: what digests of definitions, arguments and records are taken of. */

import { McpError } from './errors.ts'

/** Deeper values than any message may have are not followed, so that no peer chooses how deep our stack goes. */
const MAX_DEPTH = 1_000

/**
 * The canonical form of RFC 8785: members sorted by UTF-16 code units, numbers and texts as ECMAScript writes them,
 * no space. Members that are undefined are left out, as on the wire. A lone surrogate is escaped where the RFC wants
 * an error: otherwise a server could send a definition that has no digest.
 *
 * @throws McpError ERR_INVALID_PARAMS for what is no JSON value, ERR_LIMIT for what is nested too deep
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export const canonicalJson = (value: unknown): string => write(value, 0)

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new McpError('ERR_LIMIT', `A JSON value is nested deeper than ${MAX_DEPTH} levels`)
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notJson(String(value))
    return JSON.stringify(value)
  }
  if (typeof value !== 'object') throw notJson(typeof value)
  if (Array.isArray(value)) return `[${Array.from(value, (each) => write(each, depth + 1)).join(',')}]`
  const object = value as Record<string, unknown>
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${write(object[key], depth + 1)}`)
  return `{${members.join(',')}}`
}

const notJson = (got: string): McpError => new McpError('ERR_INVALID_PARAMS', `Expected a JSON value, got ${got}`)
