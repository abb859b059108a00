/** Encodes values of a message for headers: unchanged where HTTP can carry them, in Base64 where it cannot. */

import { toBase64 } from '../base/bytes.ts'

const PREFIX = '=?base64?'
const SUFFIX = '?='
/** Visible ASCII, with spaces and tabs only inside. */
const PLAIN = /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/
/** The characters that a header may contain. */
const LEGAL = /^[\t -~]*$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

const isMarked = (text: string): boolean => text.startsWith(PREFIX) && text.endsWith(SUFFIX) && text.length >= PREFIX.length + SUFFIX.length

/** Encodes a string for a header. Lone surrogates become the replacement character. */
export function encodeHeaderValue(value: string): string {
  // A tab is legal inside a value, but proxies may change it, so it is encoded.
  if (PLAIN.test(value) && !value.includes('\t') && !isMarked(value)) return value
  return `${PREFIX}${toBase64(encoder.encode(value))}${SUFFIX}`
}

/** Decodes the value of a header; undefined for illegal characters or invalid Base64. */
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
