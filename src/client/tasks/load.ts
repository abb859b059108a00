/** What is loaded with the first task of a client. */

export { finishedTask } from './finished-task.ts'
export { FollowedTask } from './followed-task.ts'
export { readTask } from './task-view.ts'
