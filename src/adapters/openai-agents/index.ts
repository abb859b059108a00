/** portico/openai-agents: servers and hosts for programs that use the OpenAI Agents SDK (the package `@openai/agents`). */

import { type Tool, tool } from '@openai/agents'
import { isObject } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import type { Host } from '../../host/host.ts'
import { modelParts, textOnly } from '../model-parts.ts'
import { type ClientToolsOptions, type HostToolsOptions, type ListedTool, type ToolOutput, toolList } from '../tool-list.ts'

export type { ClientToolsOptions, HostToolsOptions } from '../tool-list.ts'

/** A tool for `new Agent({ tools })`. */
export type AgentTool = Extract<Tool, { type: 'function' }>

/**
 * The tools of a server or a host for the OpenAI Agents SDK. Calls of a host's tools are actions of the model: the policy decides, the
 * person may be asked, and the log records them. Get the tools of a host once for each message of the person.
 *
 * @example
 * const agent = new Agent({ name: 'Helper', tools: await agentTools(client) })
 *
 * @example
 * const tools = await agentTools(host, { conversation })
 */
export async function agentTools(client: Client, options?: ClientToolsOptions): Promise<AgentTool[]>
export async function agentTools(host: Host, options: HostToolsOptions): Promise<AgentTool[]>
export async function agentTools(source: Client | Host, options?: ClientToolsOptions | HostToolsOptions): Promise<AgentTool[]> {
  const listed = await toolList(source, options)
  return listed.map(({ name, description = '', inputSchema, run }) =>
    tool({
      name,
      description,
      parameters: parametersOf(inputSchema),
      // Strict mode would refuse schemas with optional properties.
      strict: false,
      execute: async (args, _context, details) => contentOf(await run(args, { id: details?.toolCall?.callId, signal: details?.signal })),
    }),
  )
}

interface Parameters {
  type: 'object'
  properties: Record<string, never>
  required: string[]
  additionalProperties: true
}

/** The SDK expects these members. They are optional in JSON Schema. */
function parametersOf(schema: ListedTool['inputSchema']): Parameters {
  const given = isObject(schema) ? schema : {}
  return { properties: {}, required: [], additionalProperties: true, ...given, type: 'object' } as Parameters
}

type Content = string | ({ type: 'text'; text: string } | { type: 'image'; image: { data: string; mediaType: string } })[]

function contentOf(output: ToolOutput): Content {
  const parts = modelParts(output)
  const text = textOnly(parts)
  // The interface has no mark for failures, so the text says it.
  if (text !== undefined) return output.isError && !output.refused ? `Error: ${text}` : text
  return parts.map((part) =>
    part.type === 'text' ? part : { type: 'image' as const, image: { data: part.data, mediaType: part.mediaType } },
  )
}
