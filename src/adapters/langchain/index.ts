/** portico/langchain: servers and hosts for programs that use LangChain (the package `@langchain/core`). */

import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import type { Client } from '../../client/client.ts'
import type { Host } from '../../host/host.ts'
import { modelParts, textOnly } from '../model-parts.ts'
import { type ClientToolsOptions, type HostToolsOptions, type ToolOutput, toolList } from '../tool-list.ts'

export type { ClientToolsOptions, HostToolsOptions, ToolOutput } from '../tool-list.ts'

/**
 * The tools of a server or a host for LangChain. Calls of a host's tools are actions of the model: the policy decides, the person may be
 * asked, and the log records them. Get the tools of a host once for each message of the person. The complete result of a call is the
 * `artifact` of its tool message.
 *
 * @example
 * const agent = createAgent({ model, tools: await langchainTools(client) })
 *
 * @example
 * const tools = await langchainTools(host, { conversation })
 */
export async function langchainTools(client: Client, options?: ClientToolsOptions): Promise<DynamicStructuredTool[]>
export async function langchainTools(host: Host, options: HostToolsOptions): Promise<DynamicStructuredTool[]>
export async function langchainTools(
  source: Client | Host,
  options?: ClientToolsOptions | HostToolsOptions,
): Promise<DynamicStructuredTool[]> {
  const listed = await toolList(source, options)
  return listed.map(
    ({ name, description = '', inputSchema, run }) =>
      new DynamicStructuredTool({
        name,
        description,
        schema: inputSchema as DynamicStructuredTool['schema'],
        responseFormat: 'content_and_artifact',
        // LangChain checks the arguments itself. With the details the model can correct them.
        verboseParsingErrors: true,
        func: async (args, _manager, config) => {
          const id = (config as { toolCall?: { id?: string } } | undefined)?.toolCall?.id
          const output = await run(args, { id, signal: config?.signal })
          const content = contentOf(output)
          // LangChain marks a result as a failure only in a message that the tool makes.
          if (output.isError && id !== undefined) {
            return [new ToolMessage({ status: 'error', content, artifact: output, tool_call_id: id, name }), output]
          }
          return [content, output]
        },
      }),
  )
}

type Content = string | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]

function contentOf(output: ToolOutput): Content {
  const parts = modelParts(output)
  return (
    textOnly(parts) ??
    parts.map((part) =>
      part.type === 'text' ? part : { type: 'image_url' as const, image_url: { url: `data:${part.mediaType};base64,${part.data}` } },
    )
  )
}
