/** The tools that a model is offered, and its calls of them. */

import { offerToModel, resolveModelCall } from '../catalog/offer.ts'
import type { ToolSearch } from '../catalog/search.ts'
import { type CallOutcome, type CallTool, type ChatTool, failure } from '../conversation/chat/tool-call.ts'
import type { UseOptions } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { callTool } from './call-tool.ts'
import type { TargetServices } from './find-target.ts'
import { callSkillTool, skillTools } from './skill-tools.ts'

type CallServices = ActionServices & TargetServices & { search: ToolSearch }

interface OfferSettings {
  limits: { maxDefinitionTokens: number }
  favorites: readonly string[]
}

export function toolsForModel({ catalog, fleet }: TargetServices, { limits, favorites }: OfferSettings): ChatTool[] {
  const { inline, search } = offerToModel(catalog, { maxTokens: limits.maxDefinitionTokens, favorites })
  return [...inline.map(({ exposed, definition }) => ({ ...definition, name: exposed })), ...search, ...skillTools(() => fleet.all())]
}

/** How a model calls the tools that it is offered. */
export function callerForModel(services: CallServices, use: UseOptions): CallTool {
  return (name, args, { signal, onProgress }) => callForModel(services, name, args, { ...use, signal, ...(onProgress && { onProgress }) })
}

/** A call through the tool search is decided like a direct call. */
async function callForModel(
  services: CallServices,
  name: string,
  args: Record<string, unknown>,
  options: UseOptions,
): Promise<CallOutcome> {
  const { catalog, fleet, search } = services
  const ofSkill = await callSkillTool(services, () => fleet.all(), name, args, options)
  if (ofSkill) return ofSkill
  const call = resolveModelCall(catalog, search, name, args)
  if (call.kind === 'answer') return { kind: 'result', result: { content: [{ type: 'text', text: call.text }] } }
  const { entry } = call
  const called = await callTool(services, fleet.get(entry.server), entry.definition.name, call.args, options)
  return { kind: 'result', result: 'error' in called ? failure(called.said) : called.result }
}
