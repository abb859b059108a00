/** The beginning of a JSON value without secrets, to store or to show. */

import { isObject } from '../json.ts'
import { cutTexts, redact, redactText } from './redact.ts'

/** How far beyond the kept text registered secrets are searched, because a cut could leave the beginning of one. */
export const LONGEST_SECRET = 64 * 1024

const MAX_DEPTH = 32

/** @param scrub removes registered secrets from a text */
export function redactedPreview(value: unknown, maxBytes: number, scrub: (text: string) => string): { value: unknown; isCut: boolean } {
  const near = cutTexts(value, maxBytes + LONGEST_SECRET)
  const begun = cutTexts(plainCopy(near.value, scrub), maxBytes)
  const preview = plainCopy(redact(begun.value), (text) => redactText(scrub(text)))
  return { value: preview, isCut: near.isCut || begun.isCut }
}

/** Copies a value as plain JSON, with every text and member name passed through `change`. */
export function plainCopy(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((each) => plainCopy(each ?? null, change, depth + 1))
  if (!isObject(value)) return undefined
  const members = Object.entries(value).flatMap(([name, each]) => {
    const kept = plainCopy(each, change, depth + 1)
    return kept === undefined ? [] : [[change(name), kept] as const]
  })
  return Object.fromEntries(members)
}
