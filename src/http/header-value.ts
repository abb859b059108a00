/** Values of the body mirrored into headers: as they are where HTTP can carry them, in Base64 where it cannot. */

import { toBase64 } from '../base/bytes.ts'

const PREFIX = '=?base64?'
const SUFFIX = '?='
/** Visible ASCII with spaces and tabs inside, none around. */
const PLAIN = /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/
/** What a header may hold at all. */
const LEGAL = /^[\t -~]*$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

const isMarked = (text: string): boolean => text.startsWith(PREFIX) && text.endsWith(SUFFIX) && text.length >= PREFIX.length + SUFFIX.length

/** How a string travels in a header. Lone surrogates have no form: they become the replacement character. */
export function encodeHeaderValue(value: string): string {
  // A tab is legal inside a value, but proxies fold it; encoded it arrives as it was.
  if (PLAIN.test(value) && !value.includes('\t') && !isMarked(value)) return value
  return `${PREFIX}${toBase64(encoder.encode(value))}${SUFFIX}`
}

/** The value a header stands for; undefined when it holds characters it may not, or Base64 that is none. */
export function decodeHeaderValue(text: string): string | undefined {
  if (!isMarked(text)) return LEGAL.test(text) ? text.replace(/^[ \t]+|[ \t]+$/g, '') : undefined
  const inner = text.slice(PREFIX.length, -SUFFIX.length)
  if (!BASE64.test(inner)) return undefined
  try {
    return decoder.decode(Uint8Array.from(atob(inner), (character) => character.charCodeAt(0)))
  } catch {
    return undefined
  }
}
