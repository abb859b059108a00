/** The record of a task that this host follows, and its file. */

import type { TaskState } from '../../client/tasks/task-handle.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { isFinal, type TaskStatus } from '../../protocol/model/tasks.ts'
import type { CallOfTool } from '../actions/call-tool.ts'
import { FOLLOWER_GONE_MS, type TaskFiles } from './task-files.ts'
import type { HostTaskState, TaskError, TaskRecord } from './task-record.ts'

/** Progress comes often, and a lost message matters little. */
const WRITE_PROGRESS_MS = 1_000

type OnChange = (record: TaskRecord, followed?: HostTaskState['followed']) => void

export class FollowedRecord {
  readonly #files: TaskFiles
  readonly #onChange: OnChange
  #record: TaskRecord
  /** The last status of the server. It is shown when the result is admitted. */
  #finalStatus: TaskStatus | undefined
  #finalMessage: string | undefined
  #writing: Promise<void> = Promise.resolve()
  /** A write that has not begun. It writes all changes until then, so a server that changes its task all the time fills no queue. */
  #queued: Promise<void> | undefined
  #writtenAt = 0
  #isDirty = false

  constructor(record: TaskRecord, files: TaskFiles, onChange: OnChange) {
    this.#record = record
    this.#files = files
    this.#onChange = onChange
  }

  get current(): TaskRecord {
    return this.#record
  }

  /** Takes what the server says now. */
  see(state: TaskState, shown: (progress: Progress) => Progress, now: number): void {
    const { status, statusMessage, progress } = state
    const message = statusMessage === undefined ? undefined : shown({ progress: 0, message: statusMessage }).message
    if (isFinal(state)) {
      this.#finalStatus = status
      this.#finalMessage = message
      return
    }
    const before = this.#record
    this.#record = {
      ...before,
      status,
      ...(message !== undefined && { statusMessage: message }),
      ...(progress && { progress: shown(progress) }),
      updatedAt: now,
    }
    this.#changed(before.status !== status, now)
  }

  seeProgress(progress: Progress, now: number): void {
    this.#record = { ...this.#record, progress, updatedAt: now }
    this.#changed(false, now)
  }

  setFollowed(followed: HostTaskState['followed']): void {
    this.#onChange(this.#record, followed)
  }

  /** The final record. It is not written yet. */
  end(called: CallOfTool | { error: unknown }, now: number): TaskRecord {
    // What the server said about a step is not true of a task that has ended.
    const { follower: _, statusMessage: __, progress: ___, ...record } = this.#record
    const statusMessage = this.#finalMessage
    const outcome = 'error' in called ? { error: errorOf(called) } : { result: called.result }
    this.#record = {
      ...record,
      status: this.#statusOf(called),
      ...(statusMessage !== undefined && { statusMessage }),
      updatedAt: now,
      endedAt: now,
      outcome,
    }
    return this.#record
  }

  /** Another process may follow the task. */
  async release(): Promise<void> {
    const { follower: _, ...record } = this.#record
    this.#record = record
    await this.write()
  }

  /** Shows other processes that this one is alive, and writes what is not written yet. */
  async renew(now: number): Promise<void> {
    if (!this.#record.follower) return
    const isDue = now - this.#writtenAt > (this.#isDirty ? WRITE_PROGRESS_MS : FOLLOWER_GONE_MS / 3)
    if (isDue) await this.write()
  }

  /** Resolves when the record is on the disk. */
  write(): Promise<void> {
    this.#isDirty = false
    this.#queued ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#queued = undefined
        if (this.#record.follower) this.#record = { ...this.#record, follower: this.#files.follower() }
        this.#writtenAt = this.#record.follower?.seenAt ?? this.#writtenAt
        return this.#files.write(this.#record)
      })
    this.#writing = this.#queued
    return this.#writing
  }

  #changed(isUrgent: boolean, now: number): void {
    this.#isDirty = true
    // A failure to write shows when the task ends.
    if (isUrgent) this.write().catch(() => {})
    else this.renew(now).catch(() => {})
    this.#onChange(this.#record)
  }

  #statusOf(called: CallOfTool | { error: unknown }): TaskStatus {
    if ('error' in called) {
      const isCancelled = called.error instanceof McpError && called.error.code === 'ERR_CANCELLED'
      return this.#finalStatus ?? (isCancelled ? 'cancelled' : 'failed')
    }
    return this.#finalStatus ?? 'completed'
  }
}

/** The text was admitted before: errors of servers have no other. */
function errorOf({ error }: { error: unknown }): TaskError {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return {
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? message : 'no reason was given',
  }
}
