/** A task of a host, as programs use it. */

import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { ERRORS, type ErrorCode, McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import { Waiters } from '../servers/waiters.ts'
import { type HostTaskState, hasEnded, type TaskError, type TaskRecord } from './task-record.ts'

/**
 * A tool call that runs as a task. `host.callTask` starts one, `host.tasks` lists all. A loop over the task gets its state now and after
 * each change, and ends with the task.
 *
 * @example
 * const task = await host.callTask('reports__yearly', { year: 2026 }, { as: 'person' })
 * for await (const { status, statusMessage } of task) console.log(status, statusMessage)
 * console.log((await task.result()).content)
 */
export class HostTask implements AsyncIterable<HostTaskState> {
  /** The id in this host. */
  readonly id: string
  /** The name of the server. */
  readonly server: string
  /** The server's own name of the tool. */
  readonly tool: string
  readonly #cancel: () => Promise<void>
  readonly #waiters = new Waiters()
  #record: TaskRecord
  #followed: HostTaskState['followed'] = 'waiting'
  #isCancelling = false
  /** The error of this process. Errors of other processes are known by code and message only. */
  #error: unknown
  /** Counts the changes that loops see. */
  #edition = 0

  constructor(record: TaskRecord, cancel: () => Promise<void>) {
    this.id = record.id
    this.server = record.server
    this.tool = record.tool
    this.#record = record
    this.#cancel = cancel
  }

  /** The last known status. */
  get status(): TaskStatus {
    return this.#record.status
  }

  /** What the server says about the status, without secrets. */
  get statusMessage(): string | undefined {
    return this.#record.statusMessage
  }

  /** The last progress, if the server tells it. */
  get progress(): Progress | undefined {
    return this.#record.progress
  }

  /** Whether the task has ended. It never changes again. */
  get isOver(): boolean {
    return hasEnded(this.#record)
  }

  /** Everything about the task, without secrets. */
  get state(): HostTaskState {
    const {
      fingerprint: _f,
      pin: _p,
      project: _j,
      principal: _n,
      maxBytes: _m,
      mayContainFiles: _c,
      maxTotalMs: _t,
      ...rest
    } = this.#record
    const { follower: _, outcome, ...shown } = rest
    return { ...shown, followed: this.#followed, isCancelling: this.#isCancelling && !this.isOver, ...outcome }
  }

  /**
   * The result of the call, as the host admitted it. Rejects if the task failed, was cancelled or was lost.
   * @example
   * const { content } = await task.result()
   */
  async result(options: { signal?: AbortSignal } = {}): Promise<CallToolResult> {
    while (!this.#record.outcome) await this.#waiters.wait(options.signal)
    const { outcome } = this.#record
    if ('result' in outcome) return outcome.result
    throw this.#error ?? errorFrom(outcome.error)
  }

  /**
   * Cancels the task. If its server is not connected, it is told later. If the task ended before, its result stays.
   * @example
   * await task.cancel()
   */
  cancel(): Promise<void> {
    return this.#cancel()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HostTaskState> {
    for (let seen = -1; ; ) {
      if (seen !== this.#edition) {
        seen = this.#edition
        yield this.state
      } else if (this.isOver) return
      else await this.#waiters.wait()
    }
  }

  /** @internal The record changed. */
  update(record: TaskRecord, more: { followed?: HostTaskState['followed']; isCancelling?: boolean; error?: unknown } = {}): void {
    this.#record = record
    this.#followed = more.followed ?? this.#followed
    this.#isCancelling = more.isCancelling ?? this.#isCancelling
    this.#error = more.error ?? this.#error
    this.#edition++
    this.#waiters.wake()
  }

  /** @internal */
  get record(): TaskRecord {
    return this.#record
  }
}

function errorFrom({ code, message }: TaskError): Error {
  if (typeof code === 'number') return new RemoteError({ code, message })
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? new McpError(code as ErrorCode, message) : new Error(message)
}
