/** The tools of a host for a model that another program runs. */

import { type Clock, systemClock } from '../../../base/clock.ts'
import { isObject } from '../../../base/json.ts'
import { orAborted } from '../../../base/wait.ts'
import type { Progress } from '../../../protocol/model/progress.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { type AllChatLimits, DEFAULT_CHAT_LIMITS, FIXED_CHAT_LIMITS } from './limits.ts'
import { type CallOutcome, type CallTool, type ChatTool, failed, runCall } from './tool-call.ts'

/** Options for a call of a model. */
export interface ModelCallOptions {
  /** The id of the call, if the model gave it one. */
  id?: string
  /** Cancels the call. */
  signal?: AbortSignal
  /** Receives the progress of the call. */
  onProgress?(progress: Progress): void
}

/** The tools of one turn, and the way to call them as the model. */
export interface ModelTools {
  /** The tools to offer to the model: the approved ones, or a search over them if there are too many. */
  readonly tools: readonly ChatTool[]
  /** Calls a tool as the model. Failures and refusals are outcomes for the model. Rejects only when the signal is aborted. */
  call(name: string, args: unknown, options?: ModelCallOptions): Promise<CallOutcome>
}

export interface ModelToolsSettings {
  tools: readonly ChatTool[]
  callTool: CallTool
  limits?: Partial<AllChatLimits> | undefined
  clock?: Clock
}

export function modelTools({ tools, callTool, limits, clock = systemClock }: ModelToolsSettings): ModelTools {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const chatLimits = withDefaults({ ...DEFAULT_CHAT_LIMITS, ...FIXED_CHAT_LIMITS }, limits)
  const inTurn = limitConcurrency(chatLimits.maxParallelCalls)
  return {
    tools,
    call: async (name, args, { id = '', signal = new AbortController().signal, onProgress } = {}) => {
      if (!isObject(args)) return failed(`The tool was not called. Expected an object with the arguments, got ${JSON.stringify(args)}.`)
      const call = { type: 'tool-call' as const, id, name, args }
      const settings = {
        tools: byName,
        callTool: ((tool, given, options) => callTool(tool, given, { ...options, ...(onProgress && { onProgress }) })) satisfies CallTool,
        limits: chatLimits,
        signal,
        clock,
      }
      const outcome = await orAborted(
        inTurn(() => runCall(call, settings)),
        signal,
      )
      signal.throwIfAborted()
      return outcome
    },
  }
}
