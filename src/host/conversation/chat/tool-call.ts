/** Runs one tool call of a model and reports the outcome to it. */

import type { Clock } from '../../../base/clock.ts'
import { orAborted } from '../../../base/wait.ts'
import { RemoteError } from '../../../jsonrpc/remote-error.ts'
import { Cancelled, Declined, McpError } from '../../../protocol/errors.ts'
import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { Progress } from '../../../protocol/model/progress.ts'
import type { ToolResultContent } from '../../../protocol/model/sampling.ts'
import type { CallToolResult, Tool } from '../../../protocol/model/tools.ts'
import type { ModelToolCall as ToolCall } from '../../language-models/collect-message.ts'
import { CHARS_PER_TOKEN, estimateTokens } from '../../language-models/estimate-tokens.ts'
import { isRefusal } from '../../model/refusal.ts'
import { cutNote } from '../flow/cap-result.ts'
import type { AllChatLimits, ChatLimits } from './limits.ts'

export type ChatTool = Pick<Tool, 'name' | 'description' | 'inputSchema'>

export type { ToolCall }

/** The outcome of a call: a result of the tool, or a refusal. */
export type CallOutcome = { kind: 'result'; result: CallToolResult } | { kind: 'refused'; reason: string; feedback?: string }

/** Calls a tool by the name it was offered under, and checks its arguments (ERR_INVALID_PARAMS). Refusals may also be thrown. */
export type CallTool = (
  name: string,
  args: Record<string, unknown>,
  options: { id: string; signal: AbortSignal; onProgress?(progress: Progress): void },
) => Promise<CallOutcome>

export interface CallSettings {
  tools: ReadonlyMap<string, ChatTool>
  callTool: CallTool
  limits: AllChatLimits
  signal: AbortSignal
  clock: Clock
}

/** Never rejects: a failure is a result for the model. */
export async function runCall(call: ToolCall, settings: CallSettings): Promise<CallOutcome> {
  const { tools, callTool, limits, signal, clock } = settings
  if (!tools.has(call.name)) return failed(`Unknown tool ${JSON.stringify(call.name)}. ${namesOf(tools)}`)
  if (call.fault !== undefined) return failed(`The tool was not called. ${call.fault}.`)
  const tooLong = new AbortController()
  const timer = clock.after(limits.callTimeoutMs, () => tooLong.abort())
  const either = AbortSignal.any([signal, tooLong.signal])
  try {
    either.throwIfAborted()
    return bounded(await orAborted(callTool(call.name, call.args, { id: call.id, signal: either }), either), limits)
  } catch (error) {
    if (signal.aborted) return failed('The call was cancelled.')
    if (tooLong.signal.aborted) return failed(`The call took longer than ${limits.callTimeoutMs} ms (callTimeoutMs) and was cancelled.`)
    return outcomeOf(error)
  } finally {
    timer.cancel()
  }
}

/** The outcome as the model gets it. */
export function blockOf(call: ToolCall, outcome: CallOutcome): ToolResultContent {
  const block = { type: 'tool_result' as const, toolUseId: call.id }
  if (outcome.kind === 'refused') {
    const feedback = outcome.feedback ? ` Feedback: ${outcome.feedback}` : ''
    return { ...block, content: [text(`The call was refused: ${outcome.reason}.${feedback}`)], isError: true }
  }
  const { content, structuredContent, isError } = outcome.result
  return {
    ...block,
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError && { isError }),
  }
}

const MAX_NAMES = 40

const namesOf = (tools: ReadonlyMap<string, ChatTool>): string =>
  tools.size === 0
    ? 'No tools are available.'
    : `Available: ${[...tools.keys()].slice(0, MAX_NAMES).join(', ')}${tools.size > MAX_NAMES ? ', …' : ''}.`

const text = (words: string): ContentBlock => ({ type: 'text', text: words })

/** A failed call as the model sees it, with the error text that passed inspection. */
export const failure = ({ content, ...rest }: CallToolResult): CallToolResult => {
  const [first, ...others] = content
  if (first?.type === 'text') return { ...rest, content: [text(`The call failed: ${first.text}`), ...others], isError: true }
  return { ...rest, content: [text('The call failed.'), ...content], isError: true }
}

export const failed = (words: string): CallOutcome => ({ kind: 'result', result: { content: [text(words)], isError: true } })

function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof Declined || error instanceof Cancelled)
    return { kind: 'refused', reason: 'the person denied it', ...(error.message !== '' && { feedback: error.message }) }
  if (isRefusal(error)) {
    const { feedback } = (error.data ?? {}) as { feedback?: unknown }
    return { kind: 'refused', reason: error.message, ...(typeof feedback === 'string' && { feedback }) }
  }
  if (error instanceof McpError && error.code === 'ERR_INVALID_PARAMS') return failed(`The tool was not called. ${error.message}`)
  // Text of a server arrives as a result, inspected and labelled. The text of an error is neither, so it is left out.
  if (error instanceof RemoteError) return failed(`The call failed: the server answered with the error ${error.code}.`)
  return failed(`The call failed: ${error instanceof Error ? error.message : 'unknown reason'}`)
}

/**
 * Cuts a result to the length that the model may read. The host has cut it to `maxResultBytes` before, for every reader; this limit is usually
 * tighter, and its note replaces that of the host, which stood at the end.
 */
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
  kept.push(cutNote(`about ${estimateTokens(outcome.result)} tokens`, `${maxResultTokens} (maxResultTokens)`))
  return { kind: 'result', result: { ...rest, content: kept } }
}
