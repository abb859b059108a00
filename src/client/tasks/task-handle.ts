/** Tasks as a client shows them to its users, the same in all revisions. Types only. */

import type { Progress } from '../../protocol/model/progress.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { CallOptions } from '../options.ts'
import type { ToolResult } from '../tool-results.ts'

/** A task at one moment. */
export interface TaskState {
  /** The id that the server gave the task. Undefined if the server answered the call at once, without a task. */
  id: string | undefined
  status: TaskStatus
  /** What the server says about the status, for people. */
  statusMessage: string | undefined
  /** ISO 8601, as the server sent it. */
  createdAt: string | undefined
  /** ISO 8601, as the server sent it. */
  lastUpdatedAt: string | undefined
  /** How long the server keeps the task after its creation, in milliseconds. null: forever. Undefined: the server did not say. */
  ttlMs: number | null | undefined
  /** The last progress of the handler, where the revision has progress of tasks. */
  progress: Progress | undefined
}

/** Options for `callTask`. */
export interface TaskCallOptions extends CallOptions {
  /** How long the server should keep the task. Only revisions in which the client asks for tasks have it. */
  ttlMs?: number
}

/** Options for `resumeTask`. */
export interface ResumeTaskOptions extends CallOptions {
  /** The name of the tool that was called. With it, the result is checked against the tool's output schema. */
  tool?: string
}

/**
 * A tool call that runs as a task. The client follows it until it ends, and answers its questions with the handlers of `answer`.
 * A loop over the task gets its state now and after each change, and ends with the task. Changes in quick succession are
 * delivered once.
 *
 * @example
 * const task = await client.callTask('report', { year: 2026 })
 * for await (const { status, statusMessage } of task) console.log(status, statusMessage)
 * console.log((await task.result()).content)
 */
export interface TaskHandle<T = unknown> extends Readonly<TaskState>, AsyncIterable<TaskState> {
  /**
   * The result of the call. Rejects with the server's error if the task failed, and with ERR_CANCELLED if it was cancelled.
   *
   * @example
   * const { content } = await task.result()
   */
  result(): Promise<ToolResult<T>>
  /**
   * Cancels the task. If it ended before, its result stays.
   *
   * @example
   * await task.cancel()
   */
  cancel(): Promise<void>
  /**
   * Stops following the task, which goes on. `client.resumeTask(task.id)` follows it again. `result()` rejects with ERR_CLOSED.
   *
   * @example
   * task.leave()
   */
  leave(): void
}
