/** What handlers return, brought into the shape of the protocol: natural values in, content out. */

import { toBase64 } from '../base/bytes.ts'
import { isObject } from '../base/json.ts'
import { jsonOf } from '../jsonrpc/write.ts'
import type { Annotations } from '../protocol/model/base.ts'
import {
  type AudioContent,
  type ContentBlock,
  type EmbeddedResource,
  type ImageContent,
  isContentBlock,
  type ResourceLink,
  type TextContent,
} from '../protocol/model/content.ts'
import type { GetPromptResult, PromptMessage } from '../protocol/model/prompts.ts'
import type { ReadResourceResult, Resource, ResourceContents } from '../protocol/model/resources.ts'
import type { CallToolResult } from '../protocol/model/tools.ts'

interface BlockOptions {
  annotations?: Annotations
}

export const text = (value: string, options?: BlockOptions): TextContent =>
  options ? { type: 'text', text: value, ...options } : { type: 'text', text: value }

/** @param data bytes, or base64 text */
export const image = (data: Uint8Array | string, mimeType: string, options: BlockOptions = {}): ImageContent => ({
  type: 'image',
  data: base64(data),
  mimeType,
  ...options,
})

/** @param data bytes, or base64 text */
export const audio = (data: Uint8Array | string, mimeType: string, options: BlockOptions = {}): AudioContent => ({
  type: 'audio',
  data: base64(data),
  mimeType,
  ...options,
})

/** A resource the client may fetch. */
export const link = (resource: Resource): ResourceLink => ({ type: 'resource_link', ...resource })

/** A resource carried along. */
export const embed = (uri: string, contents: string | Uint8Array, mimeType: string, options: BlockOptions = {}): EmbeddedResource => ({
  type: 'resource',
  resource: contentsOf(uri, contents, mimeType),
  ...options,
})

const base64 = (data: Uint8Array | string): string => (typeof data === 'string' ? data : toBase64(data))

/** What a tool may return. */
export type ToolReturn =
  | string
  | number
  | boolean
  | null
  | undefined
  | ContentBlock
  | ContentBlock[]
  | CallToolResult
  | Record<string, unknown>
  | unknown[]

/**
 * A string is text, a content block or a list of them is content, an object with `content` is a whole result, and
 * anything else is structured content with a text copy. With an output schema, every other value is structured.
 */
export function toCallResult(value: unknown, isStructured: boolean): CallToolResult {
  if (isWholeResult(value)) return withTextCopy(value)
  if (isStructured) return { content: [text(jsonOf(value ?? null))], structuredContent: value ?? null }
  if (value === undefined || value === null) return { content: [] }
  if (typeof value === 'string') return { content: [text(value)] }
  if (typeof value !== 'object') return { content: [text(String(value))] }
  if (isContentBlock(value)) return { content: [value] }
  if (Array.isArray(value) && value.length > 0 && value.every(isContentBlock)) return { content: value }
  return { content: [text(jsonOf(value))], structuredContent: value }
}

export const isWholeResult = (value: unknown): value is CallToolResult =>
  isObject(value) && Array.isArray(value.content) && value.content.every(isContentBlock)

/** Clients that know nothing of structured content read the text. */
const withTextCopy = (result: CallToolResult): CallToolResult =>
  result.structuredContent !== undefined && result.content.length === 0
    ? { ...result, content: [text(jsonOf(result.structuredContent))] }
    : result

export const errorResult = (message: string): CallToolResult => ({ content: [text(message)], isError: true })

/** Text is text, bytes are a blob, contents are themselves, and any other value is JSON. */
export function toReadResult(value: unknown, uri: string, mimeType: string | undefined): ReadResourceResult {
  if (isObject(value) && Array.isArray(value.contents)) return value as ReadResourceResult
  if (Array.isArray(value) && value.length > 0 && value.every(isContents)) return { contents: value }
  if (isContents(value)) return { contents: [value] }
  return { contents: [contentsOf(uri, value, mimeType)] }
}

const isContents = (value: unknown): value is ResourceContents =>
  isObject(value) && typeof value.uri === 'string' && (typeof value.text === 'string' || typeof value.blob === 'string')

function contentsOf(uri: string, value: unknown, mimeType: string | undefined): ResourceContents {
  if (value instanceof Uint8Array) return encoded({ uri, mimeType: mimeType ?? 'application/octet-stream', blob: toBase64(value) })
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value }
  return { uri, mimeType: mimeType ?? 'application/json', text: jsonOf(value ?? null) }
}

/** Contents whose blob was encoded here, so that nobody needs to look for something to escape in it. */
const encodedHere = new WeakSet<object>()

function encoded<T extends object>(contents: T): T {
  encodedHere.add(contents)
  return contents
}

export const isEncodedHere = (contents: unknown): contents is { blob: string } =>
  typeof contents === 'object' && contents !== null && encodedHere.has(contents)

/** What a prompt handler may return. */
export type PromptReturn = string | ContentBlock | ContentBlock[] | PromptMessage | PromptMessage[] | GetPromptResult

/** Text or content is what the user says; messages are themselves. */
export function toPromptResult(value: PromptReturn, description: string | undefined): GetPromptResult {
  if (isObject(value) && Array.isArray(value.messages)) return value as GetPromptResult
  const list = Array.isArray(value) ? value : [value]
  const messages = list.map((each): PromptMessage => {
    if (typeof each === 'string') return { role: 'user', content: text(each) }
    return isContentBlock(each) ? { role: 'user', content: each } : (each as PromptMessage)
  })
  return description === undefined ? { messages } : { description, messages }
}
