/** A language model, as the host sees it: whatever the provider, messages in, parts of one message out. */

import type { SamplingMessage, ToolChoice } from '../../protocol/model/sampling.ts'
import type { Tool } from '../../protocol/model/tools.ts'

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
  /** `fault` says in words why what the model wrote are no arguments; `args` is empty then. */
  | { type: 'tool-call'; id: string; name: string; args: Record<string, unknown>; fault?: string }
  | { type: 'end'; reason: 'endTurn' | 'maxTokens' | 'stopSequence' | 'toolUse' | 'refused' | 'other'; usage: ModelUsage }

export interface ModelUsage {
  inputTokens: number
  outputTokens: number
}

/** From 0 to 1, for choosing among several by what a server prefers: 1 is the dearest, the fastest, the most capable. */
export interface ModelTraits {
  cost?: number
  speed?: number
  intelligence?: number
}

export interface Model {
  /** What results name, such as `gpt-5`. */
  readonly id: string
  /** What people see; says so when there is no language model behind it. */
  readonly label: string
  readonly traits?: ModelTraits
  /** A person writes the answers: they have seen the prompt, and what they wrote. */
  readonly isPerson?: true
  /** Ends with exactly one `end`. Throws ERR_MODEL when the provider fails, and the reason of the signal when that is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>
}
