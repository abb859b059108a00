/** Validates sampling requests and answers, also after a person edited them. */

import { isBase64 } from '../../base/bytes.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import { isContentBlock } from '../../protocol/model/content.ts'
import { type CreateMessageParams, type CreateMessageResult, checkToolUse } from '../../protocol/model/sampling.ts'

export interface RequestLimits {
  /** Messages, system prompt and tools together, as JSON. */
  maxRequestChars: number
}

export const DEFAULT_REQUEST_LIMITS: RequestLimits = { maxRequestChars: 2_000_000 }

/** Real requests stay far below. `maxRequestChars` limits the size; these limit the number of small parts, which are checked one by one. */
const MAX_MESSAGES = 1000
const MAX_TOOLS = 128
const MAX_STOP_SEQUENCES = 16

/** @throws McpError ERR_INVALID_PARAMS with the expectation, or ERR_LIMIT with the limit */
export function checkSamplingParams(value: unknown, limits: RequestLimits = DEFAULT_REQUEST_LIMITS): CreateMessageParams {
  if (!isObject(value) || !Array.isArray(value.messages)) throw invalid('messages must be a list')
  const { messages, maxTokens, systemPrompt, includeContext, temperature, stopSequences } = value
  within(messages.length, MAX_MESSAGES, 'messages')
  if (messages.length === 0) throw invalid('messages must contain at least one message')
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`)
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1) throw invalid('maxTokens must be a whole number of at least 1')
  if (systemPrompt !== undefined && typeof systemPrompt !== 'string') throw invalid('systemPrompt must be a string')
  if (includeContext !== undefined && !CONTEXTS.has(includeContext)) throw invalid('includeContext must be none, thisServer or allServers')
  if (temperature !== undefined && !Number.isFinite(temperature)) throw invalid('temperature must be a number')
  if (stopSequences !== undefined) {
    if (!Array.isArray(stopSequences) || stopSequences.some((each) => typeof each !== 'string'))
      throw invalid('stopSequences must be a list of strings')
    within(stopSequences.length, MAX_STOP_SEQUENCES, 'stop sequences')
  }
  checkPreferences(value.modelPreferences)
  checkTools(value.tools, value.toolChoice)
  within(JSON.stringify([messages, systemPrompt, value.tools]).length, limits.maxRequestChars, 'characters (maxRequestChars)')
  const params = value as unknown as CreateMessageParams
  const fault = checkToolUse(params.messages)
  if (fault) throw invalid(`messages[${fault.index}] ${fault.what}`)
  return params
}

/** @throws McpError ERR_ANSWER_INVALID */
export function checkSamplingResult(value: unknown): CreateMessageResult {
  try {
    checkMessage(value, 'The answer')
    const { role, content, model } = value as { role: unknown; content: unknown; model?: unknown }
    if (role !== 'assistant') throw invalid('The answer must be from the assistant')
    if (typeof model !== 'string') throw invalid('The answer must name its model')
    if (blocksOf(content).some((block) => isObject(block) && block.type === 'tool_result'))
      throw invalid('The answer must not contain tool results')
    return value as CreateMessageResult
  } catch (error) {
    throw new McpError('ERR_ANSWER_INVALID', (error as Error).message)
  }
}

const CONTEXTS = new Set<unknown>(['none', 'thisServer', 'allServers'])
const MODES = new Set<unknown>([undefined, 'auto', 'required', 'none'])

const invalid = (what: string): McpError => new McpError('ERR_INVALID_PARAMS', what)

function within(count: number, max: number, what: string): void {
  if (count > max) throw new McpError('ERR_LIMIT', `A sampling request may contain at most ${max} ${what}; got ${count}`)
}

function checkMessage(message: unknown, where: string): void {
  if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant'))
    throw invalid(`${where} must have the role user or assistant`)
  const blocks = blocksOf(message.content)
  if (blocks.length === 0) throw invalid(`${where} must have content`)
  for (const block of blocks) checkBlock(block, where)
}

const blocksOf = (content: unknown): unknown[] => (Array.isArray(content) ? content : [content])

function checkBlock(block: unknown, where: string): void {
  if (!isObject(block)) throw invalid(`${where} must have content of a known type`)
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalid(`${where} has a text that is not a string`)
      return
    case 'image':
    case 'audio':
      if (typeof block.mimeType !== 'string' || typeof block.data !== 'string' || !isBase64(block.data))
        throw invalid(`${where} has ${block.type} without mimeType or base64 data`)
      return
    case 'tool_use':
      if (typeof block.id !== 'string' || typeof block.name !== 'string' || !isObject(block.input))
        throw invalid(`${where} has a tool use without id, name or input`)
      return
    case 'tool_result':
      if (typeof block.toolUseId !== 'string' || !Array.isArray(block.content) || !block.content.every(isContentBlock))
        throw invalid(`${where} has a tool result without toolUseId or content`)
      return
    default:
      throw invalid(`${where} must have content of the type text, image, audio, tool_use or tool_result`)
  }
}

function checkPreferences(preferences: unknown): void {
  if (preferences === undefined) return
  if (!isObject(preferences)) throw invalid('modelPreferences must be an object')
  for (const name of ['costPriority', 'speedPriority', 'intelligencePriority']) {
    const priority = preferences[name]
    if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1))
      throw invalid(`modelPreferences.${name} must be a number from 0 to 1`)
  }
  const { hints } = preferences
  if (hints !== undefined && !(Array.isArray(hints) && hints.every(isObject)))
    throw invalid('modelPreferences.hints must be a list of objects')
}

function checkTools(tools: unknown, choice: unknown): void {
  if (choice !== undefined && !(isObject(choice) && MODES.has(choice.mode))) throw invalid('toolChoice.mode must be auto, required or none')
  if (tools === undefined) return
  if (!Array.isArray(tools) || !tools.every((tool) => isObject(tool) && typeof tool.name === 'string' && isObject(tool.inputSchema)))
    throw invalid('tools must be a list of tools with name and inputSchema')
  within(tools.length, MAX_TOOLS, 'tools')
  if (new Set(tools.map(({ name }) => name)).size < tools.length) throw invalid('tools must have different names')
}
