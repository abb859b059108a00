/** One turn of a conversation: the model speaks and calls tools until it has nothing more to do, or somebody stops it. */

import { type Clock, systemClock } from '../../../base/clock.ts'
import { orAborted } from '../../../base/wait.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { SamplingContent } from '../../../protocol/model/sampling.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { estimateTokens } from '../../models/estimate.ts'
import type { Model, ModelPart, ModelUsage } from '../../models/model.ts'
import type { Conversation } from './conversation.ts'
import { type ChatLimits, DEFAULT_CHAT_LIMITS } from './limits.ts'
import { atMost } from './parallel.ts'
import { blockOf, type CallOutcome, type CallTool, type ChatTool, failed, runCall, type ToolCall } from './tool-call.ts'

export type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'tool-result'; id: string; name: string; result: CallToolResult }
  | { type: 'refused'; id: string; name: string; reason: string; feedback?: string }
  | { type: 'error'; error: McpError }
  /** The last part, always. */
  | { type: 'end'; reason: ChatEnd; usage: ModelUsage; steps: number }

/** `steps` and `tokens`: a limit was reached. `cut-off`: the last answer is not whole. `refused`: the model would not answer. */
export type ChatEnd = 'done' | 'cancelled' | 'failed' | 'steps' | 'tokens' | 'cut-off' | 'refused'

export interface ChatOptions {
  model: Model
  conversation: Conversation
  /** What the person says. */
  said: string | SamplingContent[]
  system?: string
  /** All that the model hears of; asked for again before every step. */
  tools: readonly ChatTool[] | (() => readonly ChatTool[] | Promise<readonly ChatTool[]>)
  callTool: CallTool
  limits?: Partial<ChatLimits>
  /** Stops the model and the calls that run. */
  signal?: AbortSignal
  clock?: Clock
}

/** Does not throw: failures are parts. The conversation is whole afterwards, however the turn ended, and can be continued. */
export async function* runChat(options: ChatOptions): AsyncGenerator<ChatPart, void, undefined> {
  const { conversation, said } = options
  const limits = withDefaults(DEFAULT_CHAT_LIMITS, options.limits)
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const usage: ModelUsage = { inputTokens: 0, outputTokens: 0 }
  let steps = 0
  let release: (() => void) | undefined
  const end = (reason: ChatEnd): ChatPart => ({ type: 'end', reason, usage, steps })
  try {
    release = conversation.hold()
    conversation.begin(said)
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
    // Whoever stops listening stops the calls as well.
    stop.abort()
    release?.()
  }
}

const asModelError = (error: unknown): McpError =>
  error instanceof McpError ? error : new McpError('ERR_MODEL', 'The model failed', { cause: error })

interface Running {
  limits: ChatLimits
  signal: AbortSignal
  stop: AbortController
}

interface Step {
  usage: ModelUsage
  /** Undefined when tools were called and the model is to go on. */
  end: ChatEnd | undefined
}

async function* oneStep(options: ChatOptions, running: Running): AsyncGenerator<ChatPart, Step, undefined> {
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

type End = Extract<ModelPart, { type: 'end' }>

const ENDS: Readonly<Partial<Record<End['reason'], ChatEnd>>> = { maxTokens: 'cut-off', refused: 'refused' }

/** What the model says goes out as it comes, and into the conversation when it is over, or as far as it got. */
async function* oneMessage(
  { model, conversation, system }: ChatOptions,
  tools: readonly ChatTool[],
  { limits, signal }: Running,
): AsyncGenerator<ChatPart, { calls: ToolCall[]; end: End }, undefined> {
  const calls: ToolCall[] = []
  const used = usedIds(conversation)
  let said = ''
  let chars = 0
  let end: End | undefined
  const request = { messages: [...conversation.messages], maxTokens: limits.maxTokens, ...(system === undefined ? {} : { system }) }
  const parts = model.stream(tools.length > 0 ? { ...request, tools } : request, signal)[Symbol.asyncIterator]()
  try {
    while (!end) {
      const { done, value } = await orAborted(parts.next(), signal)
      if (done) throw new McpError('ERR_MODEL', `The model ${model.id} broke off in the middle of its answer`)
      if (value.type === 'end') {
        end = value
        break
      }
      chars += value.type === 'text' ? value.text.length : JSON.stringify(value).length
      if (chars > limits.maxAnswerChars)
        throw new McpError(
          'ERR_LIMIT',
          `The model ${model.id} answered with more than ${limits.maxAnswerChars} characters (maxAnswerChars)`,
        )
      if (value.type === 'text') {
        said += value.text
        yield { type: 'text', text: value.text }
        continue
      }
      const call = { ...value, id: unusedId(value.id, used) }
      calls.push(call)
      yield { type: 'tool-call', id: call.id, name: call.name, args: call.args }
    }
    return { calls, end }
  } finally {
    // Calls that were not made are not remembered: each would need a result.
    const uses = end ? calls.map(({ id, name, args }): SamplingContent => ({ type: 'tool_use', id, name, input: args })) : []
    const content: SamplingContent[] = said === '' ? uses : [{ type: 'text', text: said }, ...uses]
    if (content.length > 0) conversation.add({ role: 'assistant', content })
    // Not waited for: a model that does not listen to its signal would hold the turn for ever.
    if (!end) parts.return?.()?.then(undefined, () => {})
  }
}

const usedIds = ({ messages }: Conversation): Set<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      (Array.isArray(content) ? content : [content]).flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
    ),
  )

/** Some models count their calls from nought in every answer. */
function unusedId(id: string, used: Set<string>): string {
  let unused = id
  for (let number = 2; used.has(unused); number++) unused = `${id}-${number}`
  used.add(unused)
  return unused
}

/** At the same time, and reported in the order in which they were made. */
async function* runCalls(
  calls: readonly ToolCall[],
  tools: readonly ChatTool[],
  { callTool, conversation, clock = systemClock }: ChatOptions,
  { limits, signal, stop }: Running,
): AsyncGenerator<ChatPart, void, undefined> {
  const settings = { tools: new Map(tools.map((tool) => [tool.name, tool])), callTool, limits, signal, clock }
  const inTurn = atMost(limits.maxParallelCalls)
  const outcomes = calls.map((call, at) =>
    at < limits.maxCalls
      ? inTurn(() => runCall(call, settings))
      : Promise.resolve(failed(`The tool was not called: ${limits.maxCalls} calls at a time are enough (maxCalls).`)),
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
  return { type: 'refused', id, name, reason, ...(feedback === undefined ? {} : { feedback }) }
}
