/** The tools that a model is offered, and its calls of them. */

import type { Catalog } from '../catalog/catalog.ts'
import { offerToModel, resolveModelCall } from '../catalog/offer.ts'
import type { ToolSearch } from '../catalog/search.ts'
import { type CallOutcome, type ChatTool, failure } from '../conversation/chat/tool-call.ts'
import type { UseOptions } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { callTool } from './call-tool.ts'
import type { TargetServices } from './find-target.ts'

export function toolsForModel(catalog: Catalog, limits: { maxTokens: number; favorites: readonly string[] }): ChatTool[] {
  const { inline, search } = offerToModel(catalog, limits)
  return [...inline.map(({ exposed, definition }) => ({ ...definition, name: exposed })), ...search]
}

/** A call through the tool search is decided like a direct call. */
export async function callForModel(
  services: ActionServices & TargetServices & { search: ToolSearch },
  name: string,
  args: Record<string, unknown>,
  options: UseOptions,
): Promise<CallOutcome> {
  const { catalog, fleet, search } = services
  const call = resolveModelCall(catalog, search, name, args)
  if (call.kind === 'answer') return { kind: 'result', result: { content: [{ type: 'text', text: call.text }] } }
  const { entry } = call
  const called = await callTool(services, fleet.get(entry.server), entry.definition.name, call.args, options)
  return { kind: 'result', result: 'error' in called ? failure(called.said) : called.result }
}
