/** Cuts a result to size. */

import { isObject } from '../../../base/json.ts'
import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'

export interface ResultLimits {
  /** Maximum size of a result as JSON. */
  maxBytes: number
  /** How many characters are searched. */
  maxSearched: number
}

export const DEFAULT_RESULT_LIMITS: ResultLimits = { maxBytes: 1024 * 1024, maxSearched: 2_000_000 }

/**
 * Cuts a result to `maxBytes`, with a note where something is missing. `structuredContent` and `_meta` stay as a whole or are left out as
 * a whole. Entries that are not content blocks are dropped.
 */
export function capResult(result: CallToolResult, limits: Partial<ResultLimits> = {}): CallToolResult {
  const { maxBytes } = withDefaults(DEFAULT_RESULT_LIMITS, limits)
  const { content, structuredContent, isError, ...rest } = result
  let left = maxBytes
  const kept: ContentBlock[] = []
  for (const block of content) {
    if (!isObject(block)) continue
    const bytes = jsonBytes(block)
    if (bytes > left) {
      kept.push(...cut(block, left), cutNote(`${jsonBytes(content)} bytes`, describeLimit(maxBytes)))
      left = -1
      break
    }
    left -= bytes
    kept.push(block)
  }
  const told: CallToolResult = { content: kept, ...(isError !== undefined && { isError }) }
  if (structuredContent !== undefined) {
    const bytes = jsonBytes(structuredContent)
    if (bytes <= left) told.structuredContent = structuredContent
    else if (left >= 0) kept.push(cutNote(`${bytes} bytes of structured content`, describeLimit(maxBytes)))
    left -= bytes
  }
  return jsonBytes(rest) <= Math.max(left, SMALL_BYTES) ? { ...rest, ...told } : told
}

/** Other members, such as `_meta`, always stay when they are this small. */
const SMALL_BYTES = 1024

/** Keeps the beginning of a text or of an embedded text resource. Other blocks are dropped, because a part of one is useless. */
function cut(block: ContentBlock, bytes: number): ContentBlock[] {
  if (block.type === 'text') return cutText(block.text, bytes, (text) => ({ ...block, text }))
  const { resource } = block as { resource?: unknown }
  if (block.type !== 'resource' || !isObject(resource)) return []
  return cutText(resource.text, bytes, (text) => ({ ...block, resource: { ...block.resource, text } }))
}

function cutText(whole: unknown, bytes: number, blockWith: (text: string) => ContentBlock): ContentBlock[] {
  if (typeof whole !== 'string') return []
  const room = bytes - jsonBytes(blockWith(''))
  if (room <= 0) return []
  // Escapes make the JSON longer than the text, at most sixfold: shorten until it fits.
  let text = Buffer.from(whole.slice(0, room))
    .subarray(0, room)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
  while (text !== '' && jsonBytes(blockWith(text)) > bytes) text = text.slice(0, Math.floor(text.length * 0.8))
  return [blockWith(text)]
}

/** The limit is the smaller one of the host's option and the limits of the matching rules. */
export const describeLimit = (maxBytes: number): string => `${maxBytes} bytes (maxResultBytes, or resultBytes in a rule)`

/** The note that replaces the missing part of a shortened result. */
export const cutNote = (size: string, limit: string): ContentBlock => ({
  type: 'text',
  text: `[The rest of the result is left out: it has ${size}; the limit is ${limit}]`,
})

/** The size of a value as JSON; 0 for undefined. */
export const jsonBytes = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
