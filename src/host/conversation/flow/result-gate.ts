/** Looks at a result before anybody, or any model, does: what is suspicious in it, and a copy that can do no harm by being shown. */

import { isObject } from '../../../base/json.ts'
import { redactText } from '../../../base/text/redact.ts'
import { hasInvisible, visibleText } from '../../../base/text/visible-text.ts'
import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { Finding } from '../../model/question.ts'
import { INJECTIONS } from './injections.ts'
import { jsonTexts } from './json-texts.ts'

export interface ResultLimits {
  /** How large a result may be, as JSON. */
  maxBytes: number
  /** How much of it is searched. */
  maxSearched: number
}

export const DEFAULT_RESULT_LIMITS: ResultLimits = { maxBytes: 1024 * 1024, maxSearched: 2_000_000 }

const MAX_HOSTS = 20
const EXCERPT_LENGTH = 120

/** Everything a person should know of before it is used. What is found is a reason to look, and what is not found is no proof. */
export function inspectResult(result: CallToolResult, limits: Partial<ResultLimits> = {}): Finding[] {
  const { maxBytes, maxSearched } = withDefaults(DEFAULT_RESULT_LIMITS, limits)
  const findings: Finding[] = []
  const bytes = sizeOf(result.content) + sizeOf(result.structuredContent)
  if (bytes > maxBytes) findings.push({ kind: 'too-large', text: `it has ${bytes} bytes, and ${maxBytes} are let in (maxBytes)` })
  const text = searched(result, maxSearched)
  const secrets = count(redactText(text), HIDDEN) - count(text, HIDDEN)
  if (secrets > 0)
    findings.push({ kind: 'secret', text: `${secrets} ${secrets === 1 ? 'place looks' : 'places look'} like a password, a key or a token` })
  for (const { what, pattern } of INJECTIONS) {
    const match = pattern.exec(text)
    if (match) findings.push({ kind: 'injection', text: `${what}: ${excerptOf(match[0])}` })
  }
  if (hasInvisible(text))
    findings.push({ kind: 'injection', text: 'it has characters that cannot be seen, and that a model reads all the same' })
  const hosts = new Set([...text.matchAll(LINK_HOST)].map(([, host = '']) => host.toLowerCase()))
  if (hosts.size > 0) findings.push({ kind: 'remote-content', text: `it has links or images that lead to ${listed(hosts)}` })
  const tags = new Set([...text.matchAll(ACTIVE_TAG)].map(([, tag = '']) => tag.toLowerCase()))
  if (tags.size > 0) findings.push({ kind: 'remote-content', text: `it has HTML that loads or runs something: ${listed(tags)}` })
  return findings
}

const HIDDEN = '[redacted]'
const LINK_HOST = /\]\(\s{0,8}<?(?:https?:)?\/\/([^\s/)>"'\\]{1,253})/gi
const ACTIVE_TAG =
  /<(img|image|script|iframe|frame|object|embed|link|style|svg|video|audio|source|track|picture|form|input|base|meta|a)(?=[\s/>])/gi

function searched(result: CallToolResult, maxSearched: number): string {
  const texts: string[] = []
  let left = maxSearched
  const take = (text: string): void => {
    if (left > 0) texts.push(text.slice(0, left))
    left -= text.length
  }
  for (const block of result.content) {
    if (!isObject(block)) continue
    // What is no text is not read as one: base64 is full of what looks like a key.
    const { data: _data, blob: _blob, ...rest } = { ...block, ...(block.type === 'resource' && block.resource) } as Record<string, unknown>
    for (const { text } of jsonTexts(rest)) take(text)
  }
  for (const { text } of jsonTexts(result.structuredContent)) take(text)
  return texts.join('\n')
}

/**
 * A copy in which no link can be followed and no image is loaded by being shown, and that is no larger than it may be; for
 * whoever shows results to people. Words stay: where a link led is then to be read. A model gets what the tool said:
 * it may have to write the same bytes back.
 */
export const neutralise = (result: CallToolResult, limits: Partial<ResultLimits> = {}): CallToolResult =>
  capped({ ...result, content: result.content.map(inert) }, limits)

/**
 * No larger than it may be, with a note where something is missing. Data for programs (`structuredContent`, `_meta`) is left
 * out as a whole. What is not a content block at all is dropped.
 */
export function capped(result: CallToolResult, limits: Partial<ResultLimits> = {}): CallToolResult {
  const { maxBytes } = withDefaults(DEFAULT_RESULT_LIMITS, limits)
  const { content, structuredContent, isError, ...rest } = result
  let left = maxBytes
  const kept: ContentBlock[] = []
  for (const block of content) {
    if (!isObject(block)) continue
    const bytes = sizeOf(block)
    if (bytes > left) {
      kept.push(...cut(block, left), note(`The rest is left out: the result has ${sizeOf(content)} bytes, and ${maxBytes} are let in`))
      left = -1
      break
    }
    left -= bytes
    kept.push(block)
  }
  const told: CallToolResult = { content: kept, ...(isError !== undefined && { isError }) }
  if (structuredContent !== undefined) {
    const bytes = sizeOf(structuredContent)
    if (bytes <= left) told.structuredContent = structuredContent
    else if (left >= 0) kept.push(note(`The data for programs is left out: with it the result has more than ${maxBytes} bytes`))
    left -= bytes
  }
  return sizeOf(rest) <= Math.max(left, SMALL_BYTES) ? { ...rest, ...told } : told
}

/** Members beside the content, such as `_meta`, always stay when they are this small. */
const SMALL_BYTES = 1024

function inert(block: ContentBlock): ContentBlock {
  if (!isObject(block)) return block
  if (block.type === 'text') return { ...block, text: inertText(block.text) }
  if (block.type === 'resource' && 'text' in block.resource)
    return { ...block, resource: { ...block.resource, text: inertText(block.resource.text) } }
  return block
}

/** A space in the one place where Markdown and HTML allow none. Applied again, it changes nothing. */
export const inertText = (text: string): string =>
  text
    .replaceAll('](', '] (')
    .replace(/^([ \t>*+-]{0,12}\[[^\]\n]{1,300}\]):/gm, '$1 :')
    .replace(/<(?=[a-z][a-z0-9+.-]{1,20}:)/gi, '< ')
    .replace(ACTIVE_TAG, '< $1')

/** The beginning of a text, also of one in an embedded resource; of anything else a part is worth nothing. */
function cut(block: ContentBlock, bytes: number): ContentBlock[] {
  if (block.type === 'text') return cutText(block.text, bytes, (text) => ({ ...block, text }))
  const { resource } = block as { resource?: unknown }
  if (block.type !== 'resource' || !isObject(resource)) return []
  return cutText(resource.text, bytes, (text) => ({ ...block, resource: { ...block.resource, text } }))
}

function cutText(whole: unknown, bytes: number, blockWith: (text: string) => ContentBlock): ContentBlock[] {
  if (typeof whole !== 'string') return []
  const room = bytes - sizeOf(blockWith(''))
  if (room <= 0) return []
  // Escapes make JSON longer than the text, at most sixfold; what is cut is too long anyway.
  let text = Buffer.from(whole.slice(0, room))
    .subarray(0, room)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
  while (text !== '' && sizeOf(blockWith(text)) > bytes) text = text.slice(0, Math.floor(text.length * 0.8))
  return [blockWith(text)]
}

const note = (text: string): ContentBlock => ({ type: 'text', text: `[${text}]` })

const sizeOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))

const count = (text: string, part: string): number => text.split(part).length - 1

const excerptOf = (text: string): string => visibleText(text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text)

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, MAX_HOSTS).map((name) => visibleText(name))
  return names.size > MAX_HOSTS ? `${shown.join(', ')} and ${names.size - MAX_HOSTS} more` : shown.join(', ')
}
