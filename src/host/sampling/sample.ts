/** One message of a model, for the server that asked for it. */

import type { Clock } from '../../base/clock.ts'
import { orAborted } from '../../base/wait.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import { estimateTokens, tokensIn } from '../models/estimate.ts'
import type { Model, ModelPart, ModelRequest } from '../models/model.ts'

export interface Sampled {
  result: CreateMessageResult
  /** Of prompt and answer. */
  tokens: number
}

/** Counts while the model speaks, so that what was used is known when it breaks off. */
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

/** Throws ERR_MODEL for a model that fails, or uses a tool it was not given. */
export async function sample(model: Model, params: CreateMessageParams, options: SampleOptions): Promise<Sampled> {
  const { clock, maxAnswerMs, meter } = options
  const tooLong = new AbortController()
  const timer = clock.after(maxAnswerMs, () => tooLong.abort())
  try {
    const { text, calls, end } = await collect(model, params, { ...options, signal: AbortSignal.any([options.signal, tooLong.signal]) })
    return { result: resultOf(model.id, { text, calls, end }), tokens: meter.tokens }
  } catch (error) {
    // Whoever gave up hears that they did, also when the time was over in the same moment.
    if (options.signal.aborted) throw options.signal.reason
    if (!tooLong.signal.aborted) throw error
    throw new McpError('ERR_MODEL', `The model ${model.id} took longer than ${maxAnswerMs} ms (maxAnswerMs)`)
  } finally {
    timer.cancel()
  }
}

type ToolCall = Extract<ModelPart, { type: 'tool-call' }>
type End = Extract<ModelPart, { type: 'end' }>

interface Answered {
  text: string
  calls: ToolCall[]
  end: End
}

async function collect(model: Model, params: CreateMessageParams, options: SampleOptions): Promise<Answered> {
  const { signal, meter, maxAnswerChars } = options
  const offered = new Set(params.toolChoice?.mode === 'none' ? [] : (params.tools ?? []).map(({ name }) => name))
  const prompt = promptTokens(params)
  const calls: ToolCall[] = []
  let text = ''
  let chars = 0
  meter.tokens = prompt
  const parts = model.stream(requestOf(params), signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await orAborted(parts.next(), signal)
      if (done) throw new McpError('ERR_MODEL', `The model ${model.id} broke off in the middle of its answer`)
      if (value.type === 'end') {
        const { inputTokens, outputTokens } = value.usage
        meter.tokens = (inputTokens || prompt) + (outputTokens || tokensIn(chars))
        return { text, calls, end: value }
      }
      chars += value.type === 'text' ? value.text.length : JSON.stringify(value).length
      meter.tokens = prompt + tokensIn(chars)
      if (chars > maxAnswerChars)
        throw new McpError('ERR_MODEL', `The model ${model.id} answered with more than ${maxAnswerChars} characters (maxAnswerChars)`)
      if (value.type === 'text') text += value.text
      else calls.push(checkCall(model, value, offered))
    }
  } finally {
    // Not waited for: a model that does not listen to its signal would hold the request for ever.
    parts.return?.()?.then(undefined, () => {})
  }
}

const requestOf = (params: CreateMessageParams): ModelRequest => {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences, tools, toolChoice } = params
  return {
    messages,
    maxTokens,
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(tools === undefined ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  }
}

function checkCall(model: Model, call: ToolCall, offered: ReadonlySet<string>): ToolCall {
  if (!offered.has(call.name)) throw new McpError('ERR_MODEL', `The model ${model.id} used a tool that the server had not offered`)
  if (call.fault !== undefined) throw new McpError('ERR_MODEL', `The model ${model.id} used a tool wrongly: ${call.fault}`)
  return call
}

function resultOf(model: string, { text, calls, end }: Answered): CreateMessageResult {
  const result: CreateMessageResult = { role: 'assistant', content: contentOf(text, calls), model }
  if (end.reason !== 'other') result.stopReason = end.reason
  return result
}

function contentOf(text: string, calls: readonly ToolCall[]): CreateMessageResult['content'] {
  const said = { type: 'text' as const, text }
  if (calls.length === 0) return said
  const uses = calls.map(({ id, name, args }) => ({ type: 'tool_use' as const, id, name, input: args }))
  return text === '' ? uses : [said, ...uses]
}

/** About how many. */
export const promptTokens = ({ messages, systemPrompt, tools }: CreateMessageParams): number =>
  estimateTokens([messages, systemPrompt ?? '', tools ?? []])
