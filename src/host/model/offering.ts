/** Everything that a server offers at one moment. */

import type { Implementation } from '../../protocol/model/base.ts'
import type { ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import type { Prompt } from '../../protocol/model/prompts.ts'
import type { Resource, ResourceTemplate } from '../../protocol/model/resources.ts'
import type { Skill } from '../../protocol/model/skills.ts'
import type { Tool } from '../../protocol/model/tools.ts'

export interface Offering {
  info: Implementation | undefined
  instructions: string | undefined
  capabilities: ServerCapabilities
  tools: readonly Tool[]
  prompts: readonly Prompt[]
  resources: readonly Resource[]
  templates: readonly ResourceTemplate[]
  /** Skills that can be used, listed or asked for. Undefined: none. */
  skills?: readonly Skill[]
}

/** The kinds that a catalog lists. */
export type EntryKind = 'tool' | 'prompt' | 'resource' | 'template'

/** The kinds of items in an offering. All but resources are pinned. */
export type PrimitiveKind = EntryKind | 'skill' | 'instructions' | 'capabilities'
