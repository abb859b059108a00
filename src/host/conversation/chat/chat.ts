/** One turn of a conversation: the model answers and calls tools until it is done, reaches a limit or is cancelled. */

import { type Clock, systemClock } from '../../../base/clock.ts'
import { orAborted } from '../../../base/wait.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { SamplingContent } from '../../../protocol/model/sampling.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { collectMessage, emptyMessage, type ModelEnd } from '../../language-models/collect-message.ts'
import { estimateTokens } from '../../language-models/estimate-tokens.ts'
import type { Model, ModelContent, ModelRequest, ModelUsage } from '../../language-models/language-model.ts'
import type { Conversation } from './conversation.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { type AllChatLimits, DEFAULT_CHAT_LIMITS, FIXED_CHAT_LIMITS } from './limits.ts'
import { blockOf, type CallOutcome, type CallTool, type ChatTool, failed, runCall, type ToolCall } from './tool-call.ts'

/** A part of the answer to a message, in the order of events. */
export type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'tool-result'; id: string; name: string; result: CallToolResult }
  | { type: 'refused'; id: string; name: string; reason: string; feedback?: string }
  | { type: 'error'; error: McpError }
  /** Always the last part. */
  | { type: 'end'; reason: ChatEnd; usage: ModelUsage; steps: number }

/** `steps` and `tokens`: a limit was reached. `cut-off`: the last answer is incomplete. `refused`: the model refused to answer. */
export type ChatEnd = 'done' | 'cancelled' | 'failed' | 'steps' | 'tokens' | 'cut-off' | 'refused'

export interface ChatRunOptions {
  model: Model
  conversation: Conversation
  /** The message of the person. */
  said: string | ModelContent[]
  /** The ids of the texts of views that go along. Default: all. */
  contexts?: readonly string[] | undefined
  system?: string
  /** The tools that the model is offered. A function is called before every step. */
  tools: readonly ChatTool[] | (() => readonly ChatTool[] | Promise<readonly ChatTool[]>)
  callTool: CallTool
  limits?: Partial<AllChatLimits>
  /** Stops the model and all running calls. */
  signal?: AbortSignal
  clock?: Clock
}

/** Never throws: failures are parts. However the turn ends, the conversation stays consistent and can be continued. */
export async function* runChat(options: ChatRunOptions): AsyncGenerator<ChatPart, void, undefined> {
  const { conversation, said } = options
  const limits = withDefaults({ ...DEFAULT_CHAT_LIMITS, ...FIXED_CHAT_LIMITS }, options.limits)
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const usage: ModelUsage = { inputTokens: 0, outputTokens: 0 }
  let steps = 0
  let release: (() => void) | undefined
  const end = (reason: ChatEnd): ChatPart => ({ type: 'end', reason, usage, steps })
  try {
    release = conversation.hold()
    conversation.begin(said, options.contexts)
    while (steps < limits.maxSteps) {
      steps++
      const step = yield* oneStep(options, { limits, signal, stop })
      usage.inputTokens += step.usage.inputTokens
      usage.outputTokens += step.usage.outputTokens
      if (signal.aborted) return yield end('cancelled')
      if (step.end) return yield end(step.end)
      if (usage.inputTokens + usage.outputTokens >= limits.maxTurnTokens) return yield end('tokens')
    }
    yield end('steps')
  } catch (error) {
    if (signal.aborted) return yield end('cancelled')
    yield { type: 'error', error: asModelError(error) }
    yield end('failed')
  } finally {
    // A reader that stops early also stops the running calls.
    stop.abort()
    release?.()
  }
}

const asModelError = (error: unknown): McpError =>
  error instanceof McpError ? error : new McpError('ERR_MODEL', 'The model failed', { cause: error })

interface Running {
  limits: AllChatLimits
  signal: AbortSignal
  stop: AbortController
}

interface Step {
  usage: ModelUsage
  /** Undefined when tools were called and the model continues. */
  end: ChatEnd | undefined
}

async function* oneStep(options: ChatRunOptions, running: Running): AsyncGenerator<ChatPart, Step, undefined> {
  const { conversation, tools } = options
  const offered = typeof tools === 'function' ? await orAborted(Promise.resolve(tools()), running.signal) : tools
  conversation.fit(running.limits, estimateTokens([offered, options.system ?? '']))
  const { calls, end } = yield* oneMessage(options, offered, running)
  if (calls.length > 0) {
    yield* runCalls(calls, offered, options, running)
    return { usage: end.usage, end: undefined }
  }
  return { usage: end.usage, end: ENDS[end.reason] ?? 'done' }
}

const ENDS: Readonly<Partial<Record<ModelEnd['reason'], ChatEnd>>> = { maxTokens: 'cut-off', refused: 'refused' }

/** Streams one message of the model, and adds it to the conversation as far as it arrived. */
async function* oneMessage(
  { model, conversation, system }: ChatRunOptions,
  tools: readonly ChatTool[],
  { limits, signal }: Running,
): AsyncGenerator<ChatPart, { calls: ToolCall[]; end: ModelEnd }, undefined> {
  const calls: ToolCall[] = []
  const used = usedIds(conversation)
  const message = emptyMessage()
  const request: ModelRequest = { messages: [...conversation.messages], maxTokens: limits.maxTokens }
  if (system !== undefined) request.system = system
  if (tools.length > 0) request.tools = tools
  try {
    for await (const part of collectMessage(model, request, { signal, maxAnswerChars: limits.maxAnswerChars }, message)) {
      if (part.type === 'text') {
        yield { type: 'text', text: part.text }
        continue
      }
      const call = { ...part, id: unusedId(part.id, used) }
      calls.push(call)
      yield { type: 'tool-call', id: call.id, name: call.name, args: call.args }
    }
    return { calls, end: message.end as ModelEnd }
  } finally {
    // Every remembered call needs a result, so calls of an incomplete message are left out.
    const uses = message.end ? calls.map(({ id, name, args }): SamplingContent => ({ type: 'tool_use', id, name, input: args })) : []
    const content: SamplingContent[] = message.text === '' ? uses : [{ type: 'text', text: message.text }, ...uses]
    if (content.length > 0) conversation.add({ role: 'assistant', content })
  }
}

const usedIds = ({ messages }: Conversation): Set<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      (Array.isArray(content) ? content : [content]).flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
    ),
  )

/** Some models number their calls from zero in every answer. */
function unusedId(id: string, used: Set<string>): string {
  let unused = id
  for (let number = 2; used.has(unused); number++) unused = `${id}-${number}`
  used.add(unused)
  return unused
}

/** Runs the calls in parallel and reports them in the order of the model. */
async function* runCalls(
  calls: readonly ToolCall[],
  tools: readonly ChatTool[],
  { callTool, conversation, clock = systemClock }: ChatRunOptions,
  { limits, signal, stop }: Running,
): AsyncGenerator<ChatPart, void, undefined> {
  const settings = { tools: new Map(tools.map((tool) => [tool.name, tool])), callTool, limits, signal, clock }
  const inTurn = limitConcurrency(limits.maxParallelCalls)
  const outcomes = calls.map((call, at) =>
    at < limits.maxCalls
      ? inTurn(() => runCall(call, settings))
      : Promise.resolve(failed(`The tool was not called: one answer may make at most ${limits.maxCalls} calls (maxCalls).`)),
  )
  let isComplete = false
  try {
    for (const [at, call] of calls.entries()) yield partOf(call, (await outcomes[at]) as CallOutcome)
    isComplete = true
  } finally {
    if (!isComplete) stop.abort()
    const done = await Promise.all(outcomes)
    conversation.add({ role: 'user', content: calls.map((call, at) => blockOf(call, done[at] as CallOutcome)) })
  }
}

function partOf({ id, name }: ToolCall, outcome: CallOutcome): ChatPart {
  if (outcome.kind === 'result') return { type: 'tool-result', id, name, result: outcome.result }
  const { reason, feedback } = outcome
  return { type: 'refused', id, name, reason, ...(feedback !== undefined && { feedback }) }
}
