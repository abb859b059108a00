/** Sampling: a server asks the client's model for a message. */

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
