/** What of an entry goes into the log: bounded, without secrets, and with a digest in place of the arguments. */

import { createHmac } from 'node:crypto'
import { isObject } from '../../jsonrpc/message.ts'
import { canonicalJson } from '../../protocol/canonical-json.ts'
import { redact, redactText } from '../../protocol/redact.ts'
import type { AuditEntry, KeptArguments, KeptEntry, Outcome } from './record.ts'

export interface EntryLimits {
  /** How much of the arguments a record shows. */
  previewBytes: number
  /** How much a record may say about what was known when it was decided. */
  factsBytes: number
  /** The longest text of any other member, such as a reason or an error. */
  textLength: number
}

export const DEFAULT_ENTRY_LIMITS: EntryLimits = { previewBytes: 4096, factsBytes: 16 * 1024, textLength: 2048 }

/** Takes registered secrets out of a text. */
export type Scrub = (text: string) => string

const MAX_REASONS = 50
const MAX_DEPTH = 32

export interface Keeping {
  entry(entry: AuditEntry): KeptEntry
  outcome(outcome: Outcome): Outcome
}

export function keeping(salt: Uint8Array, scrub: Scrub, limits: EntryLimits): Keeping {
  const clean = (text: string): string => redactText(scrub(text))
  const short = (text: string): string => clip(clean(text), limits.textLength)

  const args = (value: unknown): KeptArguments => {
    const text = canonicalJson(value)
    const preview = plain(redact(plain(value, scrub)), clean)
    const shown = canonicalJson(preview)
    const isWhole = Buffer.byteLength(shown) <= limits.previewBytes
    return {
      digest: createHmac('sha256', salt).update(text).digest('hex'),
      bytes: Buffer.byteLength(text),
      preview: isWhole ? preview : clip(shown, limits.previewBytes),
      isWhole,
    }
  }

  const facts = (value: unknown): unknown => {
    // By the look of values only: the names are the host's own, such as a count of tokens.
    const kept = plain(value, clean)
    const bytes = Buffer.byteLength(canonicalJson(kept))
    return bytes <= limits.factsBytes ? kept : `[left out: ${bytes} bytes, and factsBytes is ${limits.factsBytes}]`
  }

  return {
    entry: ({ args: given, facts: known, reasons, ...rest }) => ({
      ...(plain(rest, short) as typeof rest),
      reasons: reasons.slice(0, MAX_REASONS).map(short),
      ...(given !== undefined && { args: args(given) }),
      ...(known !== undefined && { facts: facts(known) }),
    }),
    outcome: (outcome) => plain(outcome, short) as Outcome,
  }
}

/** A copy that JSON can hold, with every text, and the names of members, passed through `change`. */
function plain(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((each) => plain(each ?? null, change, depth + 1))
  if (!isObject(value)) return undefined
  const members = Object.entries(value).flatMap(([name, each]) => {
    const kept = plain(each, change, depth + 1)
    return kept === undefined ? [] : [[change(name), kept] as const]
  })
  return Object.fromEntries(members)
}

const clip = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length)}…`)
