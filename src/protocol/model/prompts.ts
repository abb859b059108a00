/** Prompts: templates that a person selects. */

import type { Cacheable, Icon, Meta, Paged, Result, Role } from './base.ts'
import type { ContentBlock } from './content.ts'
import { methodRows } from './method.ts'

export interface PromptArgument {
  name: string
  title?: string
  description?: string
  required?: boolean
}

/** A prompt in the list of a server. */
export interface Prompt {
  name: string
  title?: string
  description?: string
  arguments?: PromptArgument[]
  icons?: Icon[]
  _meta?: Meta
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role
  content: ContentBlock
}

export interface ListPromptsResult extends Result, Paged, Cacheable {
  prompts: Prompt[]
}

export interface GetPromptParams {
  name: string
  arguments?: Record<string, string>
}

/** A prompt with its arguments filled in. */
export interface GetPromptResult extends Result {
  description?: string
  messages: PromptMessage[]
}

export const promptMethods = methodRows([
  { method: 'prompts/list', kind: 'request', from: 'client', capability: 'prompts', isCacheable: true },
  { method: 'prompts/get', kind: 'request', from: 'client', capability: 'prompts', mayAsk: true, target: 'name' },
  { method: 'notifications/prompts/list_changed', kind: 'notification', from: 'server', capability: 'prompts.listChanged' },
])
