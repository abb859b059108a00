/** Translates model requests into the provider interface of the AI SDK. */

import type { ContentBlock } from '../../protocol/model/content.ts'
import type { ResourceContents } from '../../protocol/model/resources.ts'
import type { ToolResultContent } from '../../protocol/model/sampling.ts'
import type { FilePart, Media, ResultMedia, VersionWords } from './ai-sdk-versions.ts'
import { blockText } from './block-text.ts'
import type { ModelContent, ModelMessage, ModelRequest } from './language-model.ts'
import type { ToolNames } from './tool-names.ts'

interface TextPart {
  type: 'text'
  text: string
}

interface ToolCallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
}

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

/**
 * Where images and audio of tool results go. `within`: into the result. `after`: into a user message after the results. `named`: left
 * out; the model only gets a note. Not every provider supports media in results; some convert it to text.
 */
export type ResultMediaPlace = 'within' | 'after' | 'named'

interface Wording {
  words: VersionWords
  names: ToolNames
  placeOf(mediaType: string): ResultMediaPlace
}

export function callOptions(request: ModelRequest, { signal, ...wording }: Wording & { signal: AbortSignal }): CallOptions {
  const { system, messages, tools, toolChoice, maxTokens, temperature, stopSequences } = request
  const options: CallOptions = { prompt: promptOf(system, messages, wording), abortSignal: signal }
  if (tools && tools.length > 0) {
    options.tools = tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name: wording.names.given(name),
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

function promptOf(system: string | undefined, messages: readonly ModelMessage[], wording: Wording): PromptMessage[] {
  const { words, names } = wording
  const prompt: PromptMessage[] = system === undefined || system === '' ? [] : [{ role: 'system', content: system }]
  const usedTools = new Map<string, string>()
  for (const { role, content } of messages) {
    const blocks = Array.isArray(content) ? content : [content]
    const results = blocks.filter((block) => block.type === 'tool_result')
    if (results.length > 0) prompt.push({ role: 'tool', content: results.map((each) => toolResult(each, usedTools, wording)) })
    const shown = results.flatMap((each) => shownAfter(each, usedTools, wording))
    for (const block of blocks) if (block.type === 'tool_use') usedTools.set(block.id, names.given(block.name))
    const said = [...shown, ...blocks.flatMap((block) => sayable(block, words))]
    if (role === 'user' && said.length > 0) prompt.push({ role, content: said })
    if (role !== 'assistant') continue
    const calls = blocks.flatMap((block): ToolCallPart[] =>
      block.type === 'tool_use' ? [{ type: 'tool-call', toolCallId: block.id, toolName: names.given(block.name), input: block.input }] : [],
    )
    if (said.length + calls.length > 0) prompt.push({ role, content: [...said, ...calls] })
  }
  return prompt
}

function sayable(block: ModelContent, words: VersionWords): (TextPart | FilePart)[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (block.type === 'image' || block.type === 'audio') return [words.file(mediaOf(block))]
  if (block.type === 'resource') return [filePart(block.resource, words)]
  return []
}

function filePart(file: ResourceContents, words: VersionWords): TextPart | FilePart {
  if ('text' in file) return { type: 'text', text: `The file ${file.uri}:\n${file.text}` }
  return words.file({ data: file.blob, mediaType: file.mimeType ?? 'application/octet-stream' })
}

function toolResult(block: ToolResultContent, usedTools: ReadonlyMap<string, string>, wording: Wording): ToolResultPart {
  const { toolUseId, content, structuredContent, isError } = block
  const parts = content.map((each) => resultPart(each, wording))
  if (parts.length === 0 && structuredContent !== undefined) parts.push({ type: 'text', text: JSON.stringify(structuredContent) })
  const texts = parts.filter((part) => part.type === 'text')
  const isPlain = texts.length === parts.length
  return {
    type: 'tool-result',
    toolCallId: toolUseId,
    toolName: nameOf(toolUseId, usedTools),
    // The interface has no errors with media: the text describes the error.
    output:
      isPlain || isError
        ? { type: isError ? 'error-text' : 'text', value: texts.map(({ text }) => text).join('\n') }
        : { type: 'content', value: parts },
  }
}

/** Media after the results. The text says where it comes from, because the message has the role of the user. */
function shownAfter(
  block: ToolResultContent,
  usedTools: ReadonlyMap<string, string>,
  { words, placeOf }: Wording,
): (TextPart | FilePart)[] {
  if (block.isError) return []
  const media = block.content.filter((each) => each.type === 'image' || each.type === 'audio')
  const shown = media.filter(({ mimeType }) => placeOf(mimeType) === 'after').map((each) => words.file(mediaOf(each)))
  if (shown.length === 0) return []
  return [{ type: 'text', text: `From the result of the tool ${nameOf(block.toolUseId, usedTools)}, not from the user:` }, ...shown]
}

const nameOf = (toolUseId: string, usedTools: ReadonlyMap<string, string>): string => usedTools.get(toolUseId) ?? 'unknown'

function resultPart(block: ContentBlock, { words, placeOf }: Wording): TextPart | ResultMedia {
  if (block.type === 'image' || block.type === 'audio') {
    const place = placeOf(block.mimeType)
    if (place === 'within') return words.resultMedia(mediaOf(block))
    if (place === 'after') return { type: 'text', text: `(${block.mimeType}, shown below)` }
  }
  return { type: 'text', text: blockText(block) }
}

const mediaOf = ({ data, mimeType }: { data: string; mimeType: string }): Media => ({ data, mediaType: mimeType })
