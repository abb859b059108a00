/** What we say to a model, in the words of the AI SDK's interface for providers. */

import type { ContentBlock } from '../../protocol/content.ts'
import type { SamplingContent, SamplingMessage, ToolResultContent } from '../../protocol/sampling.ts'
import type { ModelRequest } from './model.ts'
import type { ToolNames } from './tool-names.ts'

/** The versions of the interface whose shapes, as far as they are used here, are known. */
export const SPECIFICATION_VERSIONS = ['v2', 'v3'] as const

export type SpecificationVersion = (typeof SPECIFICATION_VERSIONS)[number]

interface TextPart {
  type: 'text'
  text: string
}

interface FilePart {
  type: 'file'
  mediaType: string
  /** Base64. */
  data: string
}

interface ToolCallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
}

type ResultMedia = { type: 'media' | 'image-data' | 'file-data'; data: string; mediaType: string }

interface ToolResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string } | { type: 'content'; value: (TextPart | ResultMedia)[] }
}

type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (TextPart | FilePart)[] }
  | { role: 'assistant'; content: (TextPart | FilePart | ToolCallPart)[] }
  | { role: 'tool'; content: ToolResultPart[] }

export interface CallOptions {
  prompt: PromptMessage[]
  tools?: { type: 'function'; name: string; description?: string; inputSchema: unknown }[]
  toolChoice?: { type: 'auto' | 'required' | 'none' }
  maxOutputTokens?: number
  temperature?: number
  stopSequences?: string[]
  abortSignal: AbortSignal
}

export function callOptions(
  request: ModelRequest,
  { version, names, signal }: { version: SpecificationVersion; names: ToolNames; signal: AbortSignal },
): CallOptions {
  const { system, messages, tools, toolChoice, maxTokens, temperature, stopSequences } = request
  const options: CallOptions = { prompt: promptOf(system, messages, version, names), abortSignal: signal }
  if (tools && tools.length > 0) {
    options.tools = tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name: names.given(name),
      ...(description === undefined ? {} : { description }),
      inputSchema,
    }))
    options.toolChoice = { type: toolChoice?.mode ?? 'auto' }
  }
  if (maxTokens !== undefined) options.maxOutputTokens = maxTokens
  if (temperature !== undefined) options.temperature = temperature
  if (stopSequences && stopSequences.length > 0) options.stopSequences = [...stopSequences]
  return options
}

function promptOf(
  system: string | undefined,
  messages: readonly SamplingMessage[],
  version: SpecificationVersion,
  names: ToolNames,
): PromptMessage[] {
  const prompt: PromptMessage[] = system === undefined || system === '' ? [] : [{ role: 'system', content: system }]
  const usedTools = new Map<string, string>()
  for (const { role, content } of messages) {
    const blocks = Array.isArray(content) ? content : [content]
    const results = blocks.filter((block) => block.type === 'tool_result')
    if (results.length > 0) prompt.push({ role: 'tool', content: results.map((each) => toolResult(each, usedTools, version)) })
    for (const block of blocks) if (block.type === 'tool_use') usedTools.set(block.id, names.given(block.name))
    const said = blocks.flatMap((block) => sayable(block))
    if (role === 'user' && said.length > 0) prompt.push({ role, content: said })
    if (role !== 'assistant') continue
    const calls = blocks.flatMap((block): ToolCallPart[] =>
      block.type === 'tool_use' ? [{ type: 'tool-call', toolCallId: block.id, toolName: names.given(block.name), input: block.input }] : [],
    )
    if (said.length + calls.length > 0) prompt.push({ role, content: [...said, ...calls] })
  }
  return prompt
}

function sayable(block: SamplingContent): (TextPart | FilePart)[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (block.type === 'image' || block.type === 'audio') return [{ type: 'file', mediaType: block.mimeType, data: block.data }]
  return []
}

function toolResult(block: ToolResultContent, usedTools: ReadonlyMap<string, string>, version: SpecificationVersion): ToolResultPart {
  const { toolUseId, content, structuredContent, isError } = block
  const parts = content.map((each) => resultPart(each, version))
  if (parts.length === 0 && structuredContent !== undefined) parts.push({ type: 'text', text: JSON.stringify(structuredContent) })
  const texts = parts.filter((part) => part.type === 'text')
  const isPlain = texts.length === parts.length
  return {
    type: 'tool-result',
    toolCallId: toolUseId,
    toolName: usedTools.get(toolUseId) ?? 'unknown',
    // There is no error with pictures in it: the text alone says what went wrong.
    output:
      isPlain || isError
        ? { type: isError ? 'error-text' : 'text', value: texts.map(({ text }) => text).join('\n') }
        : { type: 'content', value: parts },
  }
}

function resultPart(block: ContentBlock, version: SpecificationVersion): TextPart | ResultMedia {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: version === 'v2' ? 'media' : 'image-data', data: block.data, mediaType: block.mimeType }
    case 'audio':
      return { type: version === 'v2' ? 'media' : 'file-data', data: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return { type: 'text', text: `${block.name}: ${block.uri}` }
    case 'resource':
      return { type: 'text', text: 'text' in block.resource ? String(block.resource.text) : `(binary content of ${block.resource.uri})` }
  }
}
