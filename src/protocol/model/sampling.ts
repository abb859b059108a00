/** Sampling: a server asks the client's model for a message. */

import { isObject } from '../../base/json.ts'
import type { Meta, Result, Role } from './base.ts'
import type { AudioContent, ContentBlock, ImageContent, TextContent } from './content.ts'
import { methodRows } from './method.ts'
import type { Tool } from './tools.ts'

export interface ToolUseContent {
  type: 'tool_use'
  id: string
  name: string
  input: Record<string, unknown>
  _meta?: Meta
}

export interface ToolResultContent {
  type: 'tool_result'
  toolUseId: string
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Meta
}

export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

export interface SamplingMessage {
  role: Role
  content: SamplingContent | SamplingContent[]
  _meta?: Meta
}

export interface ModelPreferences {
  /** Substrings of model names, most wanted first. */
  hints?: { name?: string }[]
  costPriority?: number
  speedPriority?: number
  intelligencePriority?: number
}

export interface ToolChoice {
  mode?: 'auto' | 'required' | 'none'
}

export interface CreateMessageParams {
  messages: SamplingMessage[]
  maxTokens: number
  modelPreferences?: ModelPreferences
  systemPrompt?: string
  /** `thisServer` and `allServers` are deprecated, together with sampling. */
  includeContext?: 'none' | 'thisServer' | 'allServers'
  temperature?: number
  stopSequences?: string[]
  metadata?: Record<string, unknown>
  tools?: Tool[]
  toolChoice?: ToolChoice
}

export interface CreateMessageResult extends Result {
  role: Role
  content: SamplingContent | SamplingContent[]
  model: string
  stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {})
}

export const samplingMethods = methodRows([{ method: 'sampling/createMessage', kind: 'request', from: 'server', capability: 'sampling' }])

const ROLES = new Set<unknown>(['user', 'assistant'])

/** What is wrong with a conversation that is to be continued, and where: a role, the content, or the use of tools. */
export function checkConversation(messages: readonly SamplingMessage[]): { index: number; what: string } | undefined {
  for (const [index, message] of messages.entries()) {
    if (!ROLES.has(message?.role)) return { index, what: 'must have the role "user" or "assistant"' }
    const { content } = message
    if (!(Array.isArray(content) ? content : [content]).every(isObject)) return { index, what: 'must have content' }
  }
  return checkToolUse(messages)
}

/**
 * What breaks the rules of tool use in a conversation, and where: every use is answered by the very next message, which holds
 * nothing but results, and only the assistant uses tools.
 * @see sampling, Message Content Constraints
 */
export function checkToolUse(messages: readonly SamplingMessage[]): { index: number; what: string } | undefined {
  let open: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = Array.isArray(content) ? content : [content]
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : []))
    const uses = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    const unanswered = open.filter((id) => !results.includes(id))
    if (results.length > 0 && results.length < blocks.length) return { index, what: 'mixes tool results with other content' }
    if (unanswered.length > 0) return { index, what: `leaves the tool use ${unanswered.join(', ')} without a result` }
    if (results.some((id) => !open.includes(id))) return { index, what: 'answers a tool use that was not made' }
    if (results.length > 0 && role !== 'user') return { index, what: 'has tool results that are not from the user' }
    if (uses.length > 0 && role !== 'assistant') return { index, what: 'has a tool use that is not from the assistant' }
    if (new Set(uses).size < uses.length) return { index, what: 'has two tool uses of one id' }
    open = uses
  }
  return open.length > 0 ? { index: messages.length - 1, what: `leaves the tool use ${open.join(', ')} without a result` } : undefined
}
