/** The arguments of a call as they may be stored: without secrets, and not too long. */

import { redact } from '../../base/text/redact.ts'
import type { ShownArguments } from './task-record.ts'

const MAX_CHARS = 16 * 1024

/** @param scrub removes known secrets */
export function shownArguments(args: Readonly<Record<string, unknown>>, scrub: (text: string) => string): ShownArguments {
  const scrubbed: unknown = JSON.parse(JSON.stringify(args), (_key, value) => (typeof value === 'string' ? scrub(value) : value))
  const preview = redact(scrubbed)
  const text = JSON.stringify(preview)
  return text.length <= MAX_CHARS ? { preview, isWhole: true } : { preview: `${text.slice(0, MAX_CHARS)}…`, isWhole: false }
}
