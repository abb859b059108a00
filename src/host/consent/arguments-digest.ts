/** What a grant for one exact call remembers of its arguments. */

import { createHash } from 'node:crypto'
import { canonicalJson } from '../../protocol/canonical-json.ts'

export const argumentsDigest = (args: Readonly<Record<string, unknown>>): string =>
  createHash('sha256').update(canonicalJson(args)).digest('base64url')
