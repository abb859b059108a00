/** portico/tasks: tools whose calls run as tasks, and the stores that keep the tasks. */

export type { TaskOutcome } from '../protocol/model/kept-task.ts'
export type { TaskStatus } from '../protocol/model/tasks.ts'
export { DEFAULT_TASK_LIMITS, type TaskLimits } from '../server/tasks/limits.ts'
export { type MemoryTaskStoreOptions, memoryTaskStore } from '../server/tasks/memory-store.ts'
export { DEFAULT_TASK_OPTIONS, type TaskChange, type TaskOptions } from '../server/tasks/options.ts'
export { tasks } from '../server/tasks/support.ts'
export type { TaskHead, TaskJournal, TaskLease, TaskRecord } from '../server/tasks/task-record.ts'
export type { CreateRefusal, TaskCaps, TaskStore } from '../server/tasks/task-store.ts'
export { DEFAULT_FILE_TASK_STORE_LIMITS, type FileTaskStoreLimits, fileTaskStore } from './file-task-store.ts'
