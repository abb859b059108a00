/** The handle of a call that the server answered at once, without a task. */

import type { Progress } from '../../protocol/model/progress.ts'
import type { ToolResult } from '../tool-results.ts'
import type { TaskHandle, TaskState } from './task-handle.ts'

export function finishedTask(result: ToolResult, progress: Progress | undefined): TaskHandle {
  const state: TaskState = {
    id: undefined,
    status: 'completed',
    statusMessage: undefined,
    createdAt: undefined,
    lastUpdatedAt: undefined,
    ttlMs: undefined,
    progress,
  }
  return {
    ...state,
    result: <T>() => Promise.resolve(result as ToolResult<T>),
    cancel: async () => {},
    leave: () => {},
    async *[Symbol.asyncIterator]() {
      yield state
    },
  }
}
