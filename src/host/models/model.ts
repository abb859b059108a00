/** A language model, as the host sees it: whatever the provider, messages in, parts of one message out. */

import type { SamplingMessage, ToolChoice } from '../../protocol/sampling.ts'
import type { Tool } from '../../protocol/tools.ts'

export interface ModelRequest {
  system?: string
  messages: readonly SamplingMessage[]
  tools?: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[]
  toolChoice?: ToolChoice
  maxTokens?: number
  temperature?: number
  stopSequences?: readonly string[]
}

export type ModelPart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'end'; reason: 'endTurn' | 'maxTokens' | 'stopSequence' | 'toolUse' | 'refused' | 'other'; usage: ModelUsage }

export interface ModelUsage {
  inputTokens: number
  outputTokens: number
}

export interface Model {
  /** What results name, such as `gpt-5`. */
  readonly id: string
  /** What people see; says so when there is no language model behind it. */
  readonly label: string
  /** From 0 to 1, for choosing among several by what a server prefers. */
  readonly traits?: { cost?: number; speed?: number; intelligence?: number }
  /** Ends with exactly one `end`. Throws ERR_MODEL when the provider fails. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>
}
