/** Gets one message of a model for the server that requested it. */

import type { Clock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import {
  type CollectedMessage,
  collectMessage,
  emptyMessage,
  type ModelEnd,
  type ModelToolCall,
} from '../language-models/collect-message.ts'
import { estimateTokens, tokensIn } from '../language-models/estimate-tokens.ts'
import type { Model, ModelRequest } from '../language-models/language-model.ts'

export interface Sampled {
  result: CreateMessageResult
  /** Tokens of prompt and answer. */
  tokens: number
}

/** Counts while the message arrives, so that the usage is known when the model fails. */
export interface Meter {
  tokens: number
}

interface SampleOptions {
  signal: AbortSignal
  clock: Clock
  meter: Meter
  maxAnswerMs: number
  maxAnswerChars: number
}

/** @throws McpError ERR_MODEL when the model fails or uses a tool that was not offered */
export async function sample(model: Model, params: CreateMessageParams, options: SampleOptions): Promise<Sampled> {
  const { clock, maxAnswerMs, meter } = options
  const tooLong = new AbortController()
  const timer = clock.after(maxAnswerMs, () => tooLong.abort())
  try {
    const message = await collect(model, params, { ...options, signal: AbortSignal.any([options.signal, tooLong.signal]) })
    return { result: resultOf(model.id, message), tokens: meter.tokens }
  } catch (error) {
    // A cancellation wins over a timeout at the same moment.
    if (options.signal.aborted) throw options.signal.reason
    if (!tooLong.signal.aborted) throw error
    throw new McpError('ERR_MODEL', `The model ${model.id} took longer than ${maxAnswerMs} ms (maxAnswerMs)`)
  } finally {
    timer.cancel()
  }
}

type Answered = CollectedMessage & { end: ModelEnd }

async function collect(model: Model, params: CreateMessageParams, options: SampleOptions): Promise<Answered> {
  const { signal, meter, maxAnswerChars } = options
  const offered = new Set(params.toolChoice?.mode === 'none' ? [] : (params.tools ?? []).map(({ name }) => name))
  const prompt = promptTokens(params)
  const message = emptyMessage()
  meter.tokens = prompt
  try {
    for await (const part of collectMessage(model, requestOf(params), { signal, maxAnswerChars }, message))
      if (part.type === 'tool-call') checkCall(model, part, offered)
    return message as Answered
  } finally {
    const { inputTokens, outputTokens } = message.end?.usage ?? { inputTokens: 0, outputTokens: 0 }
    meter.tokens = (inputTokens || prompt) + (outputTokens || tokensIn(message.chars))
  }
}

const requestOf = ({
  messages,
  systemPrompt,
  maxTokens,
  temperature,
  stopSequences,
  tools,
  toolChoice,
}: CreateMessageParams): ModelRequest => ({
  messages,
  maxTokens,
  ...(systemPrompt !== undefined && { system: systemPrompt }),
  ...(temperature !== undefined && { temperature }),
  ...(stopSequences !== undefined && { stopSequences }),
  ...(tools !== undefined && { tools }),
  ...(toolChoice !== undefined && { toolChoice }),
})

function checkCall(model: Model, call: ModelToolCall, offered: ReadonlySet<string>): void {
  if (!offered.has(call.name)) throw new McpError('ERR_MODEL', `The model ${model.id} called a tool that the server did not offer`)
  if (call.fault !== undefined) throw new McpError('ERR_MODEL', `The model ${model.id} made an invalid tool call: ${call.fault}`)
}

function resultOf(model: string, { text, calls, end }: Answered): CreateMessageResult {
  const result: CreateMessageResult = { role: 'assistant', content: contentOf(text, calls), model }
  if (end.reason !== 'other') result.stopReason = end.reason
  return result
}

function contentOf(text: string, calls: readonly ModelToolCall[]): CreateMessageResult['content'] {
  const said = { type: 'text' as const, text }
  if (calls.length === 0) return said
  const uses = calls.map(({ id, name, args }) => ({ type: 'tool_use' as const, id, name, input: args }))
  return text === '' ? uses : [said, ...uses]
}

/** Estimated tokens of a request. */
export const promptTokens = ({ messages, systemPrompt, tools }: CreateMessageParams): number =>
  estimateTokens([messages, systemPrompt ?? '', tools ?? []])
