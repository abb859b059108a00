/** Catalog entries: one tool, prompt, resource or template of one server. */

import type { Prompt } from '../../protocol/model/prompts.ts'
import type { Resource, ResourceTemplate } from '../../protocol/model/resources.ts'
import type { Tool } from '../../protocol/model/tools.ts'

interface EntryOf<Kind extends string, Definition> {
  kind: Kind
  /** The unique name. For tools and prompts it has at most 64 characters of `[A-Za-z0-9_-]`. Never parsed to find the server. */
  exposed: string
  server: string
  definition: Definition
}

/** A tool in the catalog of a host. */
export type ToolEntry = EntryOf<'tool', Tool>
/** A prompt in the catalog of a host. */
export type PromptEntry = EntryOf<'prompt', Prompt>
/**
 * A resource in the catalog of a host. `exposed` is the URI, or `server+uri` if several servers have the same one or the URI looks like
 * that.
 */
export type ResourceEntry = EntryOf<'resource', Resource>
/** A resource template in the catalog of a host. */
export type TemplateEntry = EntryOf<'template', ResourceTemplate>

export type CatalogEntry = ToolEntry | PromptEntry | ResourceEntry | TemplateEntry
