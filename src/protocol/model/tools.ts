/** Tools: functions a model may call. */

import type { JsonSchema } from '../schema/json-schema.ts'
import type { Cacheable, Icon, Meta, Paged, Result } from './base.ts'
import type { ContentBlock } from './content.ts'
import { methodRows } from './method.ts'

/** Hints about behaviour. They come from the server, so they can tighten a policy and never loosen it. */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

export interface Tool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: ToolAnnotations
  /** Whether a call may or must become a task. */
  execution?: { taskSupport?: 'forbidden' | 'optional' | 'required' }
  icons?: Icon[]
  _meta?: Meta
}

export interface ListToolsResult extends Result, Paged, Cacheable {
  tools: Tool[]
}

export interface CallToolParams {
  name: string
  arguments?: Record<string, unknown>
}

export interface CallToolResult extends Result {
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
}

export const toolMethods = methodRows([
  { method: 'tools/list', kind: 'request', from: 'client', capability: 'tools', isCacheable: true },
  { method: 'tools/call', kind: 'request', from: 'client', capability: 'tools', mayAsk: true, target: 'name' },
  { method: 'notifications/tools/list_changed', kind: 'notification', from: 'server', capability: 'tools.listChanged' },
])
