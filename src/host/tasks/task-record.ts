/** A task of a host: as it is stored, and as programs see it. */

import type { ProcessMark } from '../../files/lock-file.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import type { Initiator } from '../model/action.ts'

/** Why a task has no result. */
export interface TaskError {
  /** The code of an `McpError`, or the number in the server's error. */
  code: string | number | undefined
  message: string
}

/** How a task ended: the admitted result, or the error. */
export type TaskOutcome = { result: CallToolResult } | { error: TaskError }

/** The arguments of a call without secrets. */
export interface ShownArguments {
  /** If they are too long, the beginning of their JSON as text. */
  preview: unknown
  isWhole: boolean
}

/** What does not change while a task runs. */
export interface TaskOrigin {
  /** The id in this host. */
  id: string
  server: string
  tool: string
  /** The id that the server gave the task. Undefined if the server answered at once, without a task. */
  taskId?: string
  /** Who started it, beginning with the person: `['you', 'model scripted']`. */
  chain: readonly string[]
  /** `user`: the person started it. */
  initiator: Initiator
  /** The id of the conversation that it belongs to. */
  conversation: string
  args: ShownArguments
  /** Milliseconds of the wall clock. */
  startedAt: number
  /** The number of its intent in the audit log. */
  intent: number
}

/** What changes while a task runs. */
export interface TaskProgress {
  status: TaskStatus
  /** What the server says about the status. */
  statusMessage?: string
  progress?: Progress
  updatedAt: number
  endedAt?: number
  /** When the server deletes the task, by its own word. */
  expiresAt?: number
}

/** The process that follows a task. */
export interface Follower extends ProcessMark {
  /** Random, so that a process recognises its own. */
  token: string
  /** When it was alive. */
  seenAt: number
}

/** A task in a file. */
export interface TaskRecord extends TaskOrigin, TaskProgress {
  fingerprint: string
  pin?: string
  project: string
  principal: string
  /** The most bytes of the result that may be admitted. */
  maxBytes: number
  mayContainFiles: boolean
  /** How long the host waits for the end of the task. */
  maxTotalMs?: number
  follower?: Follower
  outcome?: TaskOutcome
}

/** A task of a host at one moment. */
export interface HostTaskState extends TaskOrigin, TaskProgress {
  /** `here`: this host follows the task. `elsewhere`: another process does. `waiting`: its server is not connected. */
  followed: 'here' | 'elsewhere' | 'waiting'
  /** The person wants to cancel it, and the server does not know yet. */
  isCancelling: boolean
  result?: CallToolResult
  error?: TaskError
}

export const hasEnded = ({ outcome }: Pick<TaskRecord, 'outcome'>): boolean => outcome !== undefined

const DAY_MS = 24 * 60 * 60_000
/** For tasks without a limit of time. */
const MAX_TASK_MS = 7 * DAY_MS
/** Results stay for a while, also if the server deletes them at once. */
const MIN_KEPT_MS = 60 * 60_000
/** Servers may delete a task a little later than they say. */
const SLACK_MS = 60_000

/** When the host no longer waits for the task. */
export function givesUpAt({ startedAt, maxTotalMs, expiresAt }: TaskRecord): number {
  if (maxTotalMs !== undefined) return startedAt + maxTotalMs
  return Math.min(startedAt + MAX_TASK_MS, expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt + SLACK_MS)
}

/** How long an ended task is stored: as long as the server keeps it, between an hour and a week. */
export function keptUntil({ endedAt = 0, expiresAt }: TaskRecord): number {
  return Math.min(endedAt + MAX_TASK_MS, Math.max(endedAt + MIN_KEPT_MS, expiresAt ?? endedAt + DAY_MS))
}
