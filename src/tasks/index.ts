/** portico/tasks: tools whose calls run as tasks, and the stores that keep the tasks. */

export type { TaskHead, TaskJournal, TaskLease, TaskRecord } from '../protocol/interfaces/task-record.ts'
export type { CreateRefusal, TaskCaps, TaskStore } from '../protocol/interfaces/task-store.ts'
export type { TaskOutcome } from '../protocol/model/kept-task.ts'
export type { TaskStatus } from '../protocol/model/tasks.ts'
export { DEFAULT_TASK_LIMITS, type TaskLimits } from '../server/tasks/limits.ts'
export { DEFAULT_TASK_OPTIONS, type TaskChange, type TaskOptions } from '../server/tasks/options.ts'
export { tasks } from '../server/tasks/support.ts'
export { type MemoryTaskStoreOptions, memoryTaskStore } from '../store/memory/task-store.ts'
export { DEFAULT_FILE_TASK_STORE_LIMITS, type FileTaskStoreLimits, fileTaskStore } from './file-task-store.ts'
