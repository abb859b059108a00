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

/** One message of a conversation with a model. */
export interface SamplingMessage {
  role: Role
  content: SamplingContent | SamplingContent[]
  _meta?: Meta
}

export interface ModelPreferences {
  /** Parts of model names, the preferred one first. */
  hints?: { name?: string }[]
  costPriority?: number
  speedPriority?: number
  intelligencePriority?: number
}

export interface ToolChoice {
  mode?: 'auto' | 'required' | 'none'
}

/** The request of a server for a message of the client's model. */
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

/** The message of the model. */
export interface CreateMessageResult extends Result {
  role: Role
  content: SamplingContent | SamplingContent[]
  model: string
  stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {})
}

export const samplingMethods = methodRows([{ method: 'sampling/createMessage', kind: 'request', from: 'server', capability: 'sampling' }])

const ROLES = new Set<unknown>(['user', 'assistant'])

/** Checks the roles, the content and the tool use of a conversation. Returns the first problem. */
export function checkConversation(messages: readonly SamplingMessage[]): { index: number; what: string } | undefined {
  for (const [index, message] of messages.entries()) {
    if (!ROLES.has(message?.role)) return { index, what: 'must have the role "user" or "assistant"' }
    const { content } = message
    if (!(Array.isArray(content) ? content : [content]).every(isObject)) return { index, what: 'must have content' }
  }
  return checkToolUse(messages)
}

/**
 * Checks the rules of tool use: only the assistant uses tools, and the next message answers every use and contains only
 * results. Returns the first problem.
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
