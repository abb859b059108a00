/** Converts the return values of handlers to results, and creates content blocks. */

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

/**
 * A text block.
 *
 * @example
 * server.tool('greet', {}, () => [text('Hello'), text('For the model only', { annotations: { audience: ['assistant'] } })])
 */
export const text = (value: string, options?: BlockOptions): TextContent =>
  options ? { type: 'text', text: value, ...options } : { type: 'text', text: value }

/**
 * An image block.
 *
 * @example
 * server.tool('chart', {}, async () => image(await readFile('chart.png'), 'image/png'))
 *
 * @param data bytes, or base64 text
 */
export const image = (data: Uint8Array | string, mimeType: string, options: BlockOptions = {}): ImageContent => ({
  type: 'image',
  data: base64(data),
  mimeType,
  ...options,
})

/**
 * An audio block.
 *
 * @example
 * server.tool('speak', {}, async () => audio(await readFile('hello.wav'), 'audio/wav'))
 *
 * @param data bytes, or base64 text
 */
export const audio = (data: Uint8Array | string, mimeType: string, options: BlockOptions = {}): AudioContent => ({
  type: 'audio',
  data: base64(data),
  mimeType,
  ...options,
})

/**
 * A link to a resource that the client may read.
 *
 * @example
 * server.tool('find', {}, () => link({ uri: 'note://42', name: 'Shopping list' }))
 */
export const link = (resource: Resource): ResourceLink => ({ type: 'resource_link', ...resource })

/**
 * A resource with its content.
 *
 * @example
 * server.tool('report', {}, () => embed('report://today', '# Report', 'text/markdown'))
 */
export const embed = (uri: string, contents: string | Uint8Array, mimeType: string, options: BlockOptions = {}): EmbeddedResource => ({
  type: 'resource',
  resource: contentsOf(uri, contents, mimeType),
  ...options,
})

const base64 = (data: Uint8Array | string): string => (typeof data === 'string' ? data : toBase64(data))

/** The possible return values of a tool handler. */
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
 * A string becomes text; content blocks become content; an object with `content` is a whole result. Any other value becomes
 * structured content with a copy as text. With an output schema, every value except a whole result is structured content.
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

/** Older clients read the text instead of the structured content. */
const withTextCopy = (result: CallToolResult): CallToolResult =>
  result.structuredContent !== undefined && result.content.length === 0
    ? { ...result, content: [text(jsonOf(result.structuredContent))] }
    : result

export const errorResult = (message: string): CallToolResult => ({ content: [text(message)], isError: true })

/** A string becomes text, bytes become a blob, contents stay as they are, and any other value becomes JSON text. */
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

/** Contents whose blob was encoded here. Such a blob contains nothing that JSON must escape. */
const encodedHere = new WeakSet<object>()

function encoded<T extends object>(contents: T): T {
  encodedHere.add(contents)
  return contents
}

export const isEncodedHere = (contents: unknown): contents is { blob: string } =>
  typeof contents === 'object' && contents !== null && encodedHere.has(contents)

/** The possible return values of a prompt handler. */
export type PromptReturn = string | ContentBlock | ContentBlock[] | PromptMessage | PromptMessage[] | GetPromptResult

/** Text and content become messages of the user. Messages stay as they are. */
export function toPromptResult(value: PromptReturn, description: string | undefined): GetPromptResult {
  if (isObject(value) && Array.isArray(value.messages)) return value as GetPromptResult
  const list = Array.isArray(value) ? value : [value]
  const messages = list.map((each): PromptMessage => {
    if (typeof each === 'string') return { role: 'user', content: text(each) }
    return isContentBlock(each) ? { role: 'user', content: each } : (each as PromptMessage)
  })
  return description === undefined ? { messages } : { description, messages }
}
