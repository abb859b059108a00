/** Renames, changes and hides what a mounted server offers. */

import { checkMembers } from '../protocol/check-members.ts'
import { mergeOptions } from '../protocol/with-defaults.ts'
import type { DefinedTool, MountChanges, PromptDefinition, ResourceDefinition, ToolDefinition } from '../server/index.ts'
import { type ArgumentChange, changeArguments } from './change-arguments.ts'

export type { ArgumentChange }

/** What to change about a tool. Members that are undefined or left out stay as they are; `scopes: []` removes the scopes. */
export interface ToolChange extends Pick<ToolDefinition, 'title' | 'description' | 'annotations' | 'icons' | 'scopes' | 'timeoutMs'> {
  /** Its new name, before the prefix. */
  name?: string
  /** Changes of its arguments, by name. */
  arguments?: Readonly<Record<string, ArgumentChange>>
}

/** What to change about a prompt. Members that you leave out stay as they are. */
export interface PromptChange extends Pick<PromptDefinition, 'title' | 'description' | 'icons' | 'scopes' | 'timeoutMs'> {
  /** Its new name, before the prefix. */
  name?: string
}

/** What to change about a resource. Members that you leave out stay as they are. */
export type ResourceChange = Partial<Omit<ResourceDefinition, 'complete'>>

/** What to change about a server. `false` leaves a tool, prompt or resource out. */
export interface Transformation {
  tools?: Readonly<Record<string, ToolChange | false>>
  prompts?: Readonly<Record<string, PromptChange | false>>
  /** By URI or URI template. */
  resources?: Readonly<Record<string, ResourceChange | false>>
  /** Leaves out all tools that this does not accept. Default: all tools are offered. */
  onlyTools?(name: string, definition: ToolDefinition): boolean
}

/**
 * Changes what a mounted server offers: other names and descriptions, arguments with fixed values or defaults, fewer tools.
 *
 * @example
 * server.mount('bugs', issues, transform({
 *   tools: {
 *     create_issue: { name: 'report', arguments: { repository: { fixed: 'acme/app' }, labels: { default: ['bug'] } } },
 *     delete_issue: false,
 *   },
 * }))
 */
export function transform(transformation: Transformation): MountChanges {
  checkMembers('transform', transformation, { tools: 1, prompts: 1, resources: 1, onlyTools: 1 })
  const { tools = {}, prompts = {}, resources = {}, onlyTools } = transformation
  const tool = (defined: DefinedTool): DefinedTool | undefined => {
    if (onlyTools && !onlyTools(defined.name, defined.definition)) return undefined
    const change = own(tools, defined.name)
    if (change === undefined) return defined
    if (change === false) return undefined
    const { name = defined.name, arguments: args, ...changes } = change
    const { definition, handler } = args ? changeArguments(defined, args) : defined
    return { name, definition: mergeOptions(definition, changes), handler }
  }
  return {
    tool,
    prompt: (defined) => {
      const change = own(prompts, defined.name)
      if (change === undefined) return defined
      if (change === false) return undefined
      const { name = defined.name, ...changes } = change
      return { ...defined, name, definition: mergeOptions(defined.definition, changes) }
    },
    resource: (defined) => {
      const change = own(resources, defined.name)
      if (change === false) return undefined
      return { ...defined, definition: mergeOptions(defined.definition, change) }
    },
    expected: { tools: Object.keys(tools), prompts: Object.keys(prompts), resources: Object.keys(resources) },
  }
}

/** Names such as `constructor` are not changes. */
const own = <T>(changes: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(changes, name) ? changes[name] : undefined
