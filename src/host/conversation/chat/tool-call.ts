/** One call that a model made: judged, run and reported back to it, whatever comes of it. */

import type { Clock } from '../../../base/clock.ts'
import { orAborted } from '../../../base/wait.ts'
import { RemoteError } from '../../../jsonrpc/remote-error.ts'
import { Cancelled, Declined, McpError } from '../../../protocol/errors.ts'
import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { ToolResultContent } from '../../../protocol/model/sampling.ts'
import type { CallToolResult, Tool } from '../../../protocol/model/tools.ts'
import { describeArgumentFault } from '../../catalog/check-arguments.ts'
import { CHARS_PER_TOKEN, estimateTokens } from '../../models/estimate.ts'
import type { ModelPart } from '../../models/model.ts'
import type { ChatLimits } from './limits.ts'

export type ChatTool = Pick<Tool, 'name' | 'description' | 'inputSchema'>

export type ToolCall = Extract<ModelPart, { type: 'tool-call' }>

/** What became of a call: the tool answered, or somebody said that it must not be made. */
export type CallOutcome = { kind: 'result'; result: CallToolResult } | { kind: 'refused'; reason: string; feedback?: string }

/** Calls a tool by the name it was offered under. `ERR_DENIED` and the like, or `Declined`, are refusals as well. */
export type CallTool = (name: string, args: Record<string, unknown>, options: { id: string; signal: AbortSignal }) => Promise<CallOutcome>

export interface CallSettings {
  tools: ReadonlyMap<string, ChatTool>
  callTool: CallTool
  limits: ChatLimits
  signal: AbortSignal
  clock: Clock
}

/** Never rejects: what goes wrong is an answer to the model. */
export async function runCall(call: ToolCall, settings: CallSettings): Promise<CallOutcome> {
  const { tools, callTool, limits, signal, clock } = settings
  const tool = tools.get(call.name)
  if (!tool) return failed(`There is no tool ${JSON.stringify(call.name)}. ${namesOf(tools)}`)
  if (call.fault !== undefined) return failed(`The tool was not called. ${call.fault}.`)
  const fault = await describeArgumentFault(tool, call.args)
  if (fault !== undefined) return failed(`The tool was not called. Its arguments do not fit: ${fault}`)
  const tooLong = new AbortController()
  const timer = clock.after(limits.callTimeoutMs, () => tooLong.abort())
  const either = AbortSignal.any([signal, tooLong.signal])
  try {
    either.throwIfAborted()
    return bounded(await orAborted(callTool(call.name, call.args, { id: call.id, signal: either }), either), limits)
  } catch (error) {
    if (signal.aborted) return failed('The call was cancelled.')
    if (tooLong.signal.aborted) return failed(`The call took longer than ${limits.callTimeoutMs} ms (callTimeoutMs) and was given up.`)
    return outcomeOf(error)
  } finally {
    timer.cancel()
  }
}

/** What the model is told. */
export function blockOf(call: ToolCall, outcome: CallOutcome): ToolResultContent {
  const block = { type: 'tool_result' as const, toolUseId: call.id }
  if (outcome.kind === 'refused') {
    const feedback = outcome.feedback ? ` They said: ${outcome.feedback}` : ''
    return { ...block, content: [text(`The call was refused: ${outcome.reason}.${feedback}`)], isError: true }
  }
  const { content, structuredContent, isError } = outcome.result
  return {
    ...block,
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
  }
}

const MAX_NAMES = 40

const namesOf = (tools: ReadonlyMap<string, ChatTool>): string =>
  tools.size === 0
    ? 'There are no tools.'
    : `There are: ${[...tools.keys()].slice(0, MAX_NAMES).join(', ')}${tools.size > MAX_NAMES ? ', …' : ''}.`

const text = (words: string): ContentBlock => ({ type: 'text', text: words })

/** What the model is told of a call that failed, with the words that were let in. */
export const failure = ({ content, ...rest }: CallToolResult): CallToolResult => {
  const [first, ...others] = content
  if (first?.type === 'text') return { ...rest, content: [text(`The call failed: ${first.text}`), ...others], isError: true }
  return { ...rest, content: [text('The call failed.'), ...content], isError: true }
}

export const failed = (words: string): CallOutcome => ({ kind: 'result', result: { content: [text(words)], isError: true } })

const REFUSALS: ReadonlySet<string> = new Set(['ERR_DENIED', 'ERR_CONSENT', 'ERR_QUARANTINED'])

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof Declined || error instanceof Cancelled)
    return { kind: 'refused', reason: 'the person did not agree', ...(error.message === '' ? {} : { feedback: error.message }) }
  if (error instanceof McpError && REFUSALS.has(error.code)) {
    const { feedback } = (error.data ?? {}) as { feedback?: unknown }
    return { kind: 'refused', reason: error.message, ...(typeof feedback === 'string' ? { feedback } : {}) }
  }
  // Words of a server come as a result, inspected and labelled; what reaches this place with an error was not.
  if (error instanceof RemoteError) return failed(`The call failed: the server answered with the error ${error.code}.`)
  return failed(`The call failed: ${error instanceof Error ? error.message : 'no reason was given'}`)
}

/** As much of a result as the model may be given. */
function bounded(outcome: CallOutcome, { maxResultTokens }: ChatLimits): CallOutcome {
  if (outcome.kind === 'refused' || estimateTokens(outcome.result) <= maxResultTokens) return outcome
  const { structuredContent, content, ...rest } = outcome.result
  let room = maxResultTokens
  const kept: ContentBlock[] = []
  for (const block of content.length > 0 ? content : [text(JSON.stringify(structuredContent))]) {
    const size = estimateTokens(block)
    if (size <= room) kept.push(block)
    else if (block.type === 'text') kept.push(text(block.text.slice(0, room * CHARS_PER_TOKEN)))
    room -= size
    if (room <= 0) break
  }
  kept.push(text(`(The result was cut off: it is larger than ${maxResultTokens} tokens (maxResultTokens).)`))
  return { kind: 'result', result: { ...rest, content: kept } }
}
