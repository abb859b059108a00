/** The digest that pins, fingerprints and grants for exact arguments compare. */

import { createHash } from 'node:crypto'
import { canonicalJson } from '../../protocol/model/digest-json.ts'

/** SHA-256 over the canonical JSON, in hexadecimal. */
export const digestOf = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex')
