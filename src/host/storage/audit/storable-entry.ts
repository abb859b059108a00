/** Prepares an entry for the log: limits sizes, removes secrets, and replaces the arguments with a digest and a preview. */

import { createHmac } from 'node:crypto'
import { redactHead, redactText } from '../../../base/text/redact.ts'
import { LONGEST_SECRET, plainCopy, redactedPreview } from '../../../base/text/redacted-preview.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { AuditEntry, KeptArguments, KeptEntry, Outcome } from '../../model/audit-record.ts'

export interface EntryLimits {
  /** Maximum size of the preview of the arguments. */
  previewBytes: number
  /** Maximum size of the recorded facts of a decision. */
  factsBytes: number
  /** Maximum length of any other text, such as a reason or an error. */
  textLength: number
}

export const DEFAULT_ENTRY_LIMITS: EntryLimits = { previewBytes: 4096, factsBytes: 16 * 1024, textLength: 2048 }

/** Removes registered secrets from a text. */
export type Scrub = (text: string) => string

const MAX_REASONS = 50
const MANY_TIMES = 8

export interface Keeping {
  entry(entry: AuditEntry): KeptEntry
  outcome(outcome: Outcome): Outcome
}

export function keeping(salt: Uint8Array, scrub: Scrub, limits: EntryLimits): Keeping {
  const clean = (text: string): string => redactText(scrub(text))
  // Only the kept text is searched for secrets, and a little more for registered ones: a cut through a secret would leave its
  // beginning, and a registered secret may contain spaces.
  const short = (text: string): string => {
    const { textLength } = limits
    const scrubbed = scrub(text.slice(0, textLength + LONGEST_SECRET))
    return clip(redactHead(scrubbed, textLength), textLength, scrubbed.length > textLength)
  }

  const args = (value: unknown): KeptArguments => {
    const { previewBytes } = limits
    const text = canonicalJson(value)
    const { value: preview, isCut } = redactedPreview(value, previewBytes, scrub)
    const shown = canonicalJson(preview)
    const isWhole = !isCut && Buffer.byteLength(shown) <= previewBytes
    return {
      digest: createHmac('sha256', salt).update(text).digest('hex'),
      bytes: Buffer.byteLength(text),
      preview: isWhole ? preview : clip(shown, previewBytes, true),
      isWhole,
    }
  }

  const facts = (value: unknown): unknown => {
    const { factsBytes } = limits
    const leftOut = (bytes: number): string => `[left out: ${bytes} bytes, and factsBytes is ${factsBytes}]`
    const bytesOf = (each: unknown): number => Buffer.byteLength(canonicalJson(each))
    const whole = plainCopy(value, (text) => text)
    // Far too large, even after redaction: redaction never shortens a text this much, so it can be skipped.
    if (bytesOf(whole) > MANY_TIMES * factsBytes) return leftOut(bytesOf(whole))
    // Redacts values only. The member names are the host's own, and one such as `tokens` would look like a secret.
    const kept = plainCopy(whole, clean)
    return bytesOf(kept) <= factsBytes ? kept : leftOut(bytesOf(kept))
  }

  return {
    entry: ({ args: given, facts: known, reasons, ...rest }) => ({
      ...(plainCopy(rest, short) as typeof rest),
      reasons: reasons.slice(0, MAX_REASONS).map(short),
      ...(given !== undefined && { args: args(given) }),
      ...(known !== undefined && { facts: facts(known) }),
    }),
    outcome: (outcome) => plainCopy(outcome, short) as Outcome,
  }
}

const clip = (text: string, length: number, isCut: boolean): string =>
  text.length <= length && !isCut ? text : `${text.slice(0, length)}…`
