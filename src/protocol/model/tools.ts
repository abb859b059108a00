/** Tools: functions that a model may call. */

import type { JsonSchema } from '../schema/json-schema.ts'
import type { Cacheable, Icon, Meta, Paged, Result } from './base.ts'
import type { ContentBlock } from './content.ts'
import { methodRows } from './method.ts'

/** Hints about the behaviour of a tool. They come from the server, so they can make a policy stricter but never looser. */
export interface ToolAnnotations {
  title?: string
  /** The tool changes nothing. */
  readOnlyHint?: boolean
  /** The tool may delete or overwrite something. */
  destructiveHint?: boolean
  /** Calling it again with the same arguments has no further effect. */
  idempotentHint?: boolean
  /** The tool reaches outside of the server's own data, for example the web. */
  openWorldHint?: boolean
}

/** The definition of a tool, as a server lists it. */
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

/** The result of a tool call. `isError` marks a failure that the model should see. */
export interface CallToolResult extends Result {
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
}

export const toolMethods = methodRows([
  { method: 'tools/list', kind: 'request', from: 'client', capability: 'tools', isCacheable: true },
  { method: 'tools/call', kind: 'request', from: 'client', capability: 'tools', mayAsk: true, mayBecomeTask: true, target: 'name' },
  { method: 'notifications/tools/list_changed', kind: 'notification', from: 'server', capability: 'tools.listChanged' },
])
