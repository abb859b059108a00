/** Names and attributes of the semantic conventions of OpenTelemetry for MCP. */

import type { Attributes } from '@opentelemetry/api'
import type { Params } from '../jsonrpc/message.ts'
import { METHODS } from '../protocol/methods.ts'

/** The upper bounds of the buckets for durations, in seconds, as the conventions recommend them. */
export const DURATION_BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Long names are cut, because peers choose them. */
const MAX_NAME = 200

/** A request in the words of the conventions. */
export interface Operation {
  /** The name of the span. It contains no URI, because there may be many. */
  name: string
  /** For spans and metrics: the number of different values is small. */
  common: Attributes
  /** For spans only. */
  detail: Attributes
}

/** @param isKnown whether the peer that gets the request has the method and the target. Otherwise their names are for the span only. */
export function operationOf(method: string, params: Params, revision: string, isKnown = true): Operation {
  const given = method.slice(0, MAX_NAME)
  const hasMethod = isKnown || METHODS.has(method)
  const name = hasMethod ? given : '_OTHER'
  const common: Attributes = { 'mcp.method.name': name, 'mcp.protocol.version': revision }
  const detail: Attributes = hasMethod ? {} : { 'mcp.method.name': given }
  const member = METHODS.get(method)?.target
  const value = member === undefined ? undefined : params[member]
  const target = typeof value === 'string' ? value.slice(0, MAX_NAME) : undefined
  if (target === undefined) return { name, common, detail }
  if (member === 'uri') {
    detail['mcp.resource.uri'] = target
    return { name, common, detail }
  }
  const attributes = isKnown ? common : detail
  if (method.startsWith('tools/')) {
    attributes['gen_ai.tool.name'] = target
    attributes['gen_ai.operation.name'] = 'execute_tool'
  } else if (method.startsWith('prompts/')) attributes['gen_ai.prompt.name'] = target
  return { name: isKnown ? `${name} ${target}` : name, common, detail }
}
