/** Estimates token counts. A bound does not need the exact tokenizer of each model. */

import { isObject } from '../../base/json.ts'

export const CHARS_PER_TOKEN = 4
/** Tokens of one image, audio clip or binary file, independent of its size in bytes. */
const MEDIA_TOKENS = 1600

export const tokensIn = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

/** Estimates the tokens of messages, tools and other JSON. */
export function estimateTokens(value: unknown): number {
  let media = 0
  const json = JSON.stringify(value, (_key, each: unknown) => {
    if (!isObject(each) || (each.type !== 'image' && each.type !== 'audio' && typeof each.blob !== 'string')) return each
    media++
    return each.mimeType
  })
  return tokensIn(json?.length ?? 0) + media * MEDIA_TOKENS
}
