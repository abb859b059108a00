/** Everything a server offers, as it was last listed: what a person approves, and what is pinned. */

import type { Implementation } from '../../protocol/base.ts'
import type { ServerCapabilities } from '../../protocol/lifecycle.ts'
import type { Prompt } from '../../protocol/prompts.ts'
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts'
import type { Tool } from '../../protocol/tools.ts'

export interface Surface {
  info: Implementation | undefined
  instructions: string | undefined
  capabilities: ServerCapabilities
  tools: readonly Tool[]
  prompts: readonly Prompt[]
  resources: readonly Resource[]
  templates: readonly ResourceTemplate[]
}

export type PrimitiveKind = 'tool' | 'prompt' | 'resource' | 'template' | 'instructions' | 'capabilities'
