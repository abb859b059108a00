/** The interface of language models: messages in, parts of one message out. */

import type { EmbeddedResource } from '../../protocol/model/content.ts'
import type { SamplingContent, SamplingMessage, ToolChoice } from '../../protocol/model/sampling.ts'
import type { Tool } from '../../protocol/model/tools.ts'

/** What servers may send in sampling, and files of the person. */
export type ModelContent = SamplingContent | EmbeddedResource

/** A message of a conversation with a model. */
export interface ModelMessage extends Omit<SamplingMessage, 'content'> {
  content: ModelContent | ModelContent[]
}

/** A request to a model. */
export interface ModelRequest {
  system?: string
  messages: readonly ModelMessage[]
  tools?: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[]
  toolChoice?: ToolChoice
  maxTokens?: number
  temperature?: number
  stopSequences?: readonly string[]
}

/** A part of the answer of a model. */
export type ModelPart =
  | { type: 'text'; text: string }
  /** `fault`: why the model's arguments are invalid. `args` is empty in that case. */
  | { type: 'tool-call'; id: string; name: string; args: Record<string, unknown>; fault?: string }
  | { type: 'end'; reason: 'endTurn' | 'maxTokens' | 'stopSequence' | 'toolUse' | 'refused' | 'other'; usage: ModelUsage }

export interface ModelUsage {
  inputTokens: number
  outputTokens: number
}

/** Traits from 0 to 1, for choosing by a server's preferences. 1: the most expensive, the fastest, the most capable. */
export interface ModelTraits {
  cost?: number
  speed?: number
  intelligence?: number
}

/** A language model. `anthropic`, `openaiCompatible` and `fromAiSdk` create one. */
export interface Model {
  /** The name in results, such as `gpt-5`. */
  readonly id: string
  /** The name for people. Must say so if it is not a language model. */
  readonly label: string
  readonly traits?: ModelTraits
  /** A person writes the answers, so they need no further review. */
  readonly isPerson?: true
  /** Streams one answer, ending with exactly one `end`. Throws ERR_MODEL if the provider fails, and the signal's reason on abort. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>
}
