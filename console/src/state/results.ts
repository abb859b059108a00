/** What a result is: which pictures and sounds are shown, what a text is, and whether data is a table. */

import { isObject } from '../../../src/base/json.ts'

/** Kinds of pictures that browsers only draw. SVG is a document that can contain scripts and addresses, so it stays text. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'])

const AUDIO_TYPES: ReadonlySet<string> = new Set([
  'audio/wav',
  'audio/x-wav',
  'audio/wave',
  'audio/mpeg',
  'audio/mp3',
  'audio/ogg',
  'audio/webm',
  'audio/mp4',
  'audio/aac',
  'audio/flac',
])

/** `Image/PNG; x=1` becomes `image/png`. */
export const plainType = (mimeType: string | undefined): string => (mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

export type MediaKind = 'image' | 'audio'

export function mediaKind(mimeType: string | undefined): MediaKind | undefined {
  const type = plainType(mimeType)
  if (IMAGE_TYPES.has(type)) return 'image'
  return AUDIO_TYPES.has(type) ? 'audio' : undefined
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The address of a picture or a sound. Undefined for other types and for data that is not base64. */
export function mediaUrl(mimeType: string | undefined, data: unknown): string | undefined {
  if (typeof data !== 'string' || mediaKind(mimeType) === undefined || data.length === 0 || !BASE64.test(data)) return undefined
  return `data:${plainType(mimeType)};base64,${data}`
}

/** The number of bytes in base64 text. */
export const base64Bytes = (data: string): number => Math.floor((data.replace(/=+$/, '').length * 3) / 4)

/** Longer text is not parsed to find out what it is. */
const MAX_PARSED = 4_000_000
/** Longer markdown is shown as plain text: laying it out takes too long. */
const MAX_MARKDOWN = 100_000

export type TextKind = { kind: 'text' } | { kind: 'markdown' } | { kind: 'json'; value: unknown }

/** What a text most probably is. @param mimeType counts more than the text itself */
export function textKind(text: string, mimeType?: string): TextKind {
  const type = plainType(mimeType)
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (isJson || type === '' || type === 'text/plain') {
    const value = parsedJson(text)
    if (value !== undefined) return { kind: 'json', value }
  }
  if (text.length > MAX_MARKDOWN) return { kind: 'text' }
  if (type === 'text/markdown' || ((type === '' || type === 'text/plain') && MARKDOWN.test(text.slice(0, LOOKED_THROUGH))))
    return { kind: 'markdown' }
  return { kind: 'text' }
}

/** Characters that are looked through for markdown. */
const LOOKED_THROUGH = 4_000

/** A heading, a list, a fence, a table, bold text or a link. No part looks far ahead, so hostile text takes no longer than other text. */
const MARKDOWN =
  /^#{1,6} \S|^ {0,3}[-*] \S.*\n {0,3}[-*] \S|^```|^\|.{1,300}\|[ \t]{0,9}\n\|[ :|-]{1,300}\||\*\*\S[^*\n]{0,300}\*\*|\[[^[\]\n]{1,300}\]\([^()\s]{1,300}\)/m

/** An object or an array that a text contains and nothing else. */
function parsedJson(text: string): unknown {
  if (text.length > MAX_PARSED || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface DataTable {
  /** The member that has the rows. Undefined: the value itself is the list. */
  name?: string
  columns: readonly string[]
  rows: readonly Readonly<Record<string, unknown>>[]
  /** The other members. */
  rest?: Readonly<Record<string, unknown>>
}

const MAX_COLUMNS = 24
/** Rows that are looked at to find the columns. */
const LOOKED_AT = 200

/** A list of objects, or an object with one such list, is a table. */
export function tableIn(value: unknown): DataTable | undefined {
  if (Array.isArray(value)) return tableOf(value)
  if (!isObject(value)) return undefined
  const lists = Object.entries(value).filter(([, each]) => Array.isArray(each) && each.length > 0 && isObject(each[0]))
  const only = lists.length === 1 ? lists[0] : undefined
  const table = only && tableOf(only[1] as unknown[])
  if (!only || !table) return undefined
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => name !== only[0]))
  return { ...table, name: only[0], ...(Object.keys(rest).length > 0 && { rest }) }
}

function tableOf(list: readonly unknown[]): DataTable | undefined {
  if (list.length === 0 || !list.every(isObject)) return undefined
  const columns = [...new Set(list.slice(0, LOOKED_AT).flatMap((row) => Object.keys(row)))]
  if (columns.length === 0 || columns.length > MAX_COLUMNS) return undefined
  // Objects that have little in common are easier to read as a tree.
  const filled = list.slice(0, LOOKED_AT).reduce((sum, row) => sum + Object.keys(row).length, 0)
  if (filled < (columns.length * Math.min(list.length, LOOKED_AT)) / 2) return undefined
  return { columns, rows: list as Record<string, unknown>[] }
}

/** The text of a cell. Texts stand without quotes, and so do short lists of them. */
export function cellText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && !each.includes(','))) return value.join(', ')
  return JSON.stringify(value) ?? ''
}

/** Cuts a long text at line ends into pieces of about `size` characters. Joined they are the text. */
export function piecesOf(text: string, size: number): string[] {
  const pieces: string[] = []
  let at = 0
  while (at < text.length) {
    let end = Math.min(text.length, at + size)
    if (end < text.length) {
      const line = text.indexOf('\n', end)
      if (line !== -1 && line - end < size) end = line + 1
      // A character of two units stays whole.
      else if (/[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end++
    }
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

/** A name for a file of the person, from the name of a tool or a URI. */
export function fileName(name: string, ending: string): string {
  const last =
    name
      .replace(/[?#].*$/, '')
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? ''
  const safe = last
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80)
  const base = safe === '' ? 'result' : safe
  return ending === '' || base.toLowerCase().endsWith(`.${ending}`) ? base : `${base}.${ending}`
}

const ENDINGS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/html': 'html',
  'text/csv': 'csv',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
}

/** The ending of files of a type. */
export function endingOf(mimeType: string | undefined): string {
  const type = plainType(mimeType)
  const short = type.split('/')[1] ?? ''
  return ENDINGS[type] ?? (mediaKind(type) && /^[a-z0-9]+$/.test(short) ? short : 'bin')
}

interface AnyBlock {
  type: string
  text?: unknown
  resource?: { text?: unknown; uri?: unknown }
  uri?: unknown
}

/** The texts of a content, to copy them or to use them in a chat. Pictures and sounds are left out. */
export const textOf = (content: readonly AnyBlock[]): string =>
  content
    .map(({ type, text, resource, uri }) => (type === 'resource' ? resource?.text : type === 'resource_link' ? uri : text))
    .filter((text) => typeof text === 'string')
    .join('\n\n')

/** Whether the content only repeats the structured content as JSON text, as the specification advises. */
export function isRepeated(content: readonly AnyBlock[], structured: unknown): boolean {
  const [block, ...others] = content
  if (structured === undefined || !block || others.length > 0 || block.type !== 'text' || typeof block.text !== 'string') return false
  const value = parsedJson(block.text)
  return value !== undefined && JSON.stringify(value) === JSON.stringify(structured)
}
