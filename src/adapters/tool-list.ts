/** The tools of a client or a host, as every adapter needs them: listed, callable, with results for the model and for the program. */

import { isObject } from '../base/json.ts'
import type { Client } from '../client/client.ts'
import type { Conversation } from '../host/conversation/chat/conversation.ts'
import type { ModelTools } from '../host/conversation/chat/model-tools.ts'
import { blockOf, type CallOutcome, failed } from '../host/conversation/chat/tool-call.ts'
import type { Host } from '../host/host.ts'
import { toolNames } from '../host/language-models/tool-names.ts'
import { McpError } from '../protocol/errors.ts'
import type { ContentBlock } from '../protocol/model/content.ts'
import type { Progress } from '../protocol/model/progress.ts'
import type { Tool } from '../protocol/model/tools.ts'

/** Options for the tools of a client. */
export interface ClientToolsOptions {
  /** Receives the progress of every call. */
  onProgress?(progress: Progress, call: { tool: string; id: string | undefined }): void
}

/** Options for the tools of a host. */
export interface HostToolsOptions extends ClientToolsOptions {
  /** The conversation that the calls belong to. Use one for everything that the model can see together. */
  conversation: Conversation
  /** The name of the model, for questions to the person. Default: none. */
  model?: string
}

/** The result of a call, for the program. It is plain JSON. */
export interface ToolOutput {
  content: ContentBlock[]
  structuredContent?: unknown
  /** The tool failed, or the call was refused. */
  isError?: boolean
  /** Set if the policy or the person refused the call. */
  refused?: { reason: string; feedback?: string }
}

export interface RunOptions {
  /** The id that the model gave to the call. */
  id?: string | undefined
  signal?: AbortSignal | undefined
  onProgress?(progress: Progress): void
}

export interface ListedTool {
  /** The name for the model. Every provider accepts it. */
  name: string
  description: string | undefined
  inputSchema: Tool['inputSchema']
  /** Failures and refusals are outputs for the model. Rejects only when the signal is aborted. */
  run(args: unknown, options: RunOptions): Promise<ToolOutput>
}

/** Lists the tools of a client, or those that a host offers to a model. A host begins a turn of the conversation. */
export async function toolList(source: Client | Host, options: ClientToolsOptions | HostToolsOptions = {}): Promise<ListedTool[]> {
  const { tools, call } = isHost(source) ? await source.modelTools(options as HostToolsOptions) : await clientTools(source)
  const names = toolNames(tools.map(({ name }) => name))
  return tools.map(({ name: tool, description, inputSchema }) => ({
    name: names.given(tool),
    description,
    inputSchema,
    run: async (args, { id, signal, onProgress }) => {
      signal?.throwIfAborted()
      const report = (progress: Progress): void => {
        options.onProgress?.(progress, { tool, id })
        onProgress?.(progress)
      }
      const isWatched = onProgress !== undefined || options.onProgress !== undefined
      const outcome = await call(tool, args, {
        ...(id !== undefined && { id }),
        ...(signal && { signal }),
        ...(isWatched && { onProgress: report }),
      })
      return outputOf(outcome)
    },
  }))
}

function isHost(source: Client | Host): source is Host {
  if (typeof source === 'object' && source !== null) {
    if ('modelTools' in source) return true
    if ('call' in source && 'tools' in source) return false
  }
  throw new McpError('ERR_INVALID_PARAMS', 'Expected a client (from connect) or a host (from createHost)')
}

/** A client has no policy: calls go straight to the server. */
async function clientTools(client: Client): Promise<ModelTools> {
  return {
    tools: client.server.capabilities.tools ? await client.tools().all() : [],
    call: async (name, args, { signal, onProgress } = {}) => {
      if (!isObject(args)) return failed(`The tool was not called. Expected an object with the arguments, got ${JSON.stringify(args)}.`)
      try {
        const result = await client.call(name, args, { ...(signal && { signal }), ...(onProgress && { onProgress }) })
        return { kind: 'result', result }
      } catch (error) {
        signal?.throwIfAborted()
        return failed(`The call failed: ${error instanceof Error ? error.message : 'unknown reason'}`)
      }
    },
  }
}

function outputOf(outcome: CallOutcome): ToolOutput {
  const { content, structuredContent, isError } = blockOf({ type: 'tool-call', id: '', name: '', args: {} }, outcome)
  const output: ToolOutput = { content }
  if (structuredContent !== undefined) output.structuredContent = structuredContent
  if (isError) output.isError = true
  if (outcome.kind === 'refused') {
    const { reason, feedback } = outcome
    output.refused = { reason, ...(feedback !== undefined && { feedback }) }
  }
  return output
}
