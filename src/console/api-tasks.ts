/** Tasks in the API of the console. */

import type { HostTaskState } from '../host/index.ts'

/** A task in a list: without its result. */
export type TaskView = Omit<HostTaskState, 'result'>

/** A task with its result. */
export type TaskDetails = HostTaskState
