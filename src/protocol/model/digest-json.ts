/** Canonical JSON for digests: definitions, arguments and audit records. */

import { type CanonicalRules, writeCanonical } from '../../base/canonical-json.ts'
import { McpError } from '../errors.ts'

/** Deeper than any message may be. Without a limit a peer could overflow our stack. */
const MAX_DEPTH = 1_000

const notJson = (got: string): McpError => new McpError('ERR_INVALID_PARAMS', `Expected a JSON value, got ${got}`)

const STRICT: CanonicalRules = {
  number: (value) => {
    throw notJson(String(value))
  },
  other: (value) => {
    throw notJson(typeof value)
  },
  checkDepth: (depth) => {
    if (depth > MAX_DEPTH) throw new McpError('ERR_LIMIT', `A JSON value is nested deeper than ${MAX_DEPTH} levels`)
  },
}

/**
 * The canonical form of RFC 8785: members sorted by UTF-16 code units, numbers and texts as ECMAScript writes them,
 * no spaces. Members that are undefined are left out, as on the wire. A lone surrogate is escaped, where the RFC requires
 * an error: otherwise a server could send a definition that has no digest.
 *
 * @throws McpError ERR_INVALID_PARAMS if the value is not JSON, ERR_LIMIT if it nests too deep
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export const canonicalJson = (value: unknown): string => writeCanonical(value, STRICT)
