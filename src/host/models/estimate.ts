/** About how many tokens something is. No tokenizer is the right one for every model, and none is needed for a bound. */

import { isObject } from '../../base/json.ts'

export const CHARS_PER_TOKEN = 4
/** Of a picture or a piece of sound, whose bytes are not read as text. */
const MEDIA_TOKENS = 1600

export const tokensIn = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

/** Of messages, tools and whatever else goes to a model as JSON. */
export function estimateTokens(value: unknown): number {
  let media = 0
  const json = JSON.stringify(value, (_key, each: unknown) => {
    if (!isObject(each) || (each.type !== 'image' && each.type !== 'audio')) return each
    media++
    return each.mimeType
  })
  return tokensIn(json?.length ?? 0) + media * MEDIA_TOKENS
}
