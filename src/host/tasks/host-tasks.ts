/** The tasks of a host: starts, lists, cancels them, and resumes those that an earlier process left. */

import { asText } from '../../base/as-text.ts'
import type { Clock } from '../../base/clock.ts'
import { onAbort } from '../../base/on-abort.ts'
import type { TaskHandle } from '../../client/tasks/task-handle.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { UseOptions } from '../actions/action-request.ts'
import type { ActionServices } from '../actions/action-services.ts'
import { admitCall, type CallOfTool, callTool, shownProgress } from '../actions/call-tool.ts'
import { mayReadFiles } from '../actions/may-read-files.ts'
import { failedUse, sendPinned, sizeOf } from '../actions/send-through-gate.ts'
import { ActionGoesOn, type RecordedPermit } from '../consent/gate/gate.ts'
import { errorName } from '../consent/gate/refusal.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import type { Outcome } from '../model/audit-record.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { Waiters } from '../servers/waiters.ts'
import type { WritableAuditLog } from '../storage/audit/log.ts'
import { shortId } from '../storage/short-id.ts'
import { canResume, type FollowServices, isGone, TaskFollowing, TaskLost } from './follow-task.ts'
import { FollowedRecord } from './followed-record.ts'
import { HostTask } from './host-task.ts'
import type { RunningTasks } from './running-tasks.ts'
import { shownArguments } from './shown-arguments.ts'
import { TaskFiles } from './task-files.ts'
import { givesUpAt, hasEnded, type TaskRecord } from './task-record.ts'

export interface TaskServices extends ActionServices, FollowServices {
  audit: WritableAuditLog
  runningTasks: RunningTasks
  ownConversation: Conversation
  principal: string
  clock: Clock
}

export interface HostTasksOptions {
  folder: string
  onChange(task: HostTask): void
  onWarning(text: string): void
}

/** How often the host looks for wishes of other processes, and for tasks that they left. */
const LOOK_MS = 1_000
/** How long to wait for the tasks to be left when the host closes. */
const CLOSE_MS = 2_000

interface Followed {
  task: HostTask
  following: TaskFollowing
  record: FollowedRecord
  isCancelled: boolean
  /** Resolves when the task has ended or was left. */
  done: Promise<void>
}

export class HostTasks {
  readonly #services: TaskServices
  readonly #options: HostTasksOptions
  readonly #files: TaskFiles
  readonly #tasks = new Map<string, HostTask>()
  readonly #followed = new Map<string, Followed>()
  readonly #waiters = new Waiters()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isClosed = false

  constructor(services: TaskServices, options: HostTasksOptions) {
    this.#services = services
    this.#options = options
    this.#files = new TaskFiles({ folder: options.folder, now: services.wallNow, onWarning: options.onWarning })
  }

  /** Begins to look for tasks of earlier processes. Call it when the servers are configured. */
  open(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_MS).unref()
    this.look()
  }

  /** Looks for changes of tasks. Called when a server is connected, and from time to time. */
  look(): void {
    this.#waiters.wake()
    this.#lookNow().catch((error: unknown) => this.#options.onWarning(`Tasks could not be read: ${asText(error)}`))
  }

  /** The newest first. */
  async list(): Promise<HostTask[]> {
    await this.#lookNow()
    return [...this.#tasks.values()].sort((one, other) => other.record.startedAt - one.record.startedAt)
  }

  /** @throws McpError ERR_INVALID_PARAMS */
  async get(id: string): Promise<HostTask> {
    if (!this.#tasks.has(id)) await this.#lookNow()
    const task = this.#tasks.get(id)
    if (!task) throw new McpError('ERR_INVALID_PARAMS', `No task has the id ${JSON.stringify(id)}`)
    return task
  }

  /** Calls a tool as a task, through the gate. Resolves when the server has begun it. */
  async start(server: HostedServer, tool: string, args: Readonly<Record<string, unknown>>, options: UseOptions): Promise<HostTask> {
    await this.#files.makeRoom()
    // The signal of the caller ends the start only: a task outlives the code that started it.
    const starting = new AbortController()
    const unlink = options.signal ? onAbort(options.signal, () => starting.abort(options.signal?.reason)) : () => {}
    const use = { ...options, signal: starting.signal }
    let begun: Followed | undefined
    return new Promise<HostTask>((resolve, reject) => {
      const called = callTool(this.#services, server, tool, args, use, async (permit) => {
        const handle = await this.#begin(server, tool, permit, use)
        unlink()
        begun = this.#follow(this.#recordOf(server, tool, handle, permit, use), use.conversation, () => ended)
        await begun.record.write().catch(async (error: unknown) => {
          await handle.cancel().catch(() => {})
          throw error
        })
        resolve(begun.task)
        const { following } = begun
        return server.during(use.conversation, () => following.result(handle))
      })
      const ended: Promise<void> = called.then(
        (outcome) => this.#end(begun, outcome),
        (error: unknown) => this.#end(begun, { error }),
      )
      // Too late if the task has begun: then its result rejects.
      called.then((outcome) => ('error' in outcome ? reject(outcome.error) : undefined), reject).finally(unlink)
    })
  }

  async cancel(id: string): Promise<HostTask> {
    const task = await this.get(id)
    const followed = this.#followed.get(id)
    if (task.isOver) return task
    if (followed) await this.#cancel(followed)
    else {
      await this.#files.requestCancel(id)
      task.update(task.record, { isCancelling: true })
      this.#options.onChange(task)
      this.look()
    }
    return task
  }

  /** Leaves all tasks, so that the next host can follow them. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const leaving = [...this.#followed.values()]
    for (const { following } of leaving) following.leave()
    this.#waiters.wake()
    let late = (): void => {}
    const timer = setTimeout(() => late(), CLOSE_MS)
    await Promise.race([
      Promise.all(leaving.map(({ done }) => done)),
      new Promise<void>((resolve) => {
        late = resolve
      }),
    ])
    clearTimeout(timer)
  }

  async #begin(server: HostedServer, tool: string, { action }: RecordedPermit, options: UseOptions): Promise<TaskHandle> {
    const { signal, onProgress, timeoutMs, maxTotalMs } = options
    let handle: TaskHandle | undefined
    // Not returned from there, because answers of servers are copied without secrets.
    await sendPinned(server, { kind: 'tool', name: tool }, options, async (client) => {
      handle = await client.callTask(
        tool,
        { ...action.args },
        { signal, timeoutMs, maxTotalMs, onProgress: onProgress && ((progress) => onProgress(this.#shown(progress))) },
      )
    })
    return handle as TaskHandle
  }

  #recordOf(
    server: HostedServer,
    tool: string,
    handle: TaskHandle,
    { action, decision, intent }: RecordedPermit,
    use: UseOptions,
  ): TaskRecord {
    const { maxResultBytes, wallNow, redactor, project, principal } = this.#services
    const { primitive, args } = action
    const now = wallNow()
    return {
      id: shortId(),
      server: server.id,
      tool,
      ...(handle.id !== undefined && { taskId: handle.id }),
      chain: use.chain,
      initiator: use.initiator,
      conversation: use.conversation.id,
      args: shownArguments(args, (text) => redactor.scrub(text)),
      startedAt: now,
      updatedAt: now,
      intent,
      status: 'working',
      ...(typeof handle.ttlMs === 'number' && { expiresAt: now + handle.ttlMs }),
      fingerprint: action.server.fingerprint,
      ...(primitive?.pin !== undefined && { pin: primitive.pin }),
      project,
      principal,
      maxBytes: Math.min(maxResultBytes, decision.limits.resultBytes ?? maxResultBytes),
      mayContainFiles: mayReadFiles(server, args),
      ...(use.maxTotalMs !== undefined && { maxTotalMs: use.maxTotalMs }),
      follower: this.#files.follower(),
    }
  }

  #follow(record: TaskRecord, conversation: Conversation, done: () => Promise<void>): Followed {
    const task = this.#known(record)
    const kept = new FollowedRecord(record, this.#files, (changed, followed) => {
      task.update(changed, followed === undefined ? {} : { followed })
      this.#options.onChange(task)
    })
    const { taskId, id, tool, server } = record
    const forget = taskId === undefined ? () => {} : this.#services.runningTasks.add(server, taskId, { id, tool, conversation })
    const following = new TaskFollowing(this.#services, record, {
      onState: (state) => kept.see(state, (progress) => this.#shown(progress), this.#services.wallNow()),
      onProgress: (progress) => kept.seeProgress(this.#shown(progress), this.#services.wallNow()),
      onFollowed: (followed) => kept.setFollowed(followed),
      changed: () => this.#waiters.wait(),
    })
    const followed: Followed = {
      task,
      following,
      record: kept,
      isCancelled: false,
      // `done` is known when the caller has started the work.
      done: Promise.resolve().then(done).finally(forget),
    }
    this.#followed.set(id, followed)
    return followed
  }

  #shown<P extends Parameters<typeof shownProgress>[0]>(progress: P): ReturnType<typeof shownProgress> {
    return shownProgress(progress, (text) => this.#services.redactor.scrub(text))
  }

  /** The task has ended, or this host leaves it. */
  async #end(followed: Followed | undefined, called: CallOfTool | { error: unknown }): Promise<void> {
    if (!followed) return
    const { task, record } = followed
    try {
      if ('error' in called && called.error instanceof ActionGoesOn) {
        await record.release()
        return
      }
      const error = 'error' in called ? called.error : undefined
      const final = record.end(called, this.#services.wallNow())
      task.update(final, { isCancelling: false, ...(error !== undefined && { error }) })
      this.#options.onChange(task)
      await record.write()
      await this.#files.forgetCancel(task.id)
    } catch (error) {
      this.#options.onWarning(`The task ${task.id} could not be stored: ${asText(error)}`)
    } finally {
      // Not before it is written: until then the file says that the task is running.
      this.#followed.delete(task.id)
    }
  }

  #known(record: TaskRecord): HostTask {
    const known = this.#tasks.get(record.id)
    if (known) return known
    const task = new HostTask(record, async () => void (await this.cancel(record.id)))
    this.#tasks.set(record.id, task)
    return task
  }

  async #cancel(followed: Followed): Promise<void> {
    const { task, following, record } = followed
    followed.isCancelled = true
    task.update(record.current, { isCancelling: true })
    this.#options.onChange(task)
    await following.cancel()
  }

  #lookNow(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const records = await this.#files.list()
    const ids = new Set(records.map(({ id }) => id))
    for (const id of [...this.#tasks.keys()]) if (!ids.has(id) && !this.#followed.has(id)) this.#tasks.delete(id)
    for (const record of records) {
      const followed = this.#followed.get(record.id)
      if (followed) await this.#tend(followed, record)
      else await this.#consider(record)
    }
  }

  /** A task that this host follows. */
  async #tend(followed: Followed, { id, follower }: TaskRecord): Promise<void> {
    const { following, record } = followed
    // This process was suspended, and another one took the task over.
    if (follower && follower.token !== this.#files.token) return following.leave()
    await record.renew(this.#services.wallNow())
    if (!this.#files.isCancelRequested(id) || followed.isCancelled) return
    this.#cancel(followed).catch((error: unknown) => this.#options.onWarning(`The task ${id} was not cancelled: ${asText(error)}`))
  }

  /** A task that this host does not follow. */
  async #consider(record: TaskRecord): Promise<void> {
    const task = this.#known(record)
    // The file was read before the end of the task was written.
    if (task.isOver && !hasEnded(record)) return
    const isElsewhere = this.#files.isFollowedElsewhere(record)
    const isCancelling = this.#files.isCancelRequested(record.id)
    const { followed, isCancelling: wasCancelling } = task.state
    const now = isElsewhere ? 'elsewhere' : 'waiting'
    if (task.record !== record || followed !== now || (isCancelling !== wasCancelling && !hasEnded(record))) {
      task.update(record, { followed: now, isCancelling })
      this.#options.onChange(task)
    }
    if (hasEnded(record) || isElsewhere || this.#isClosed || !this.#isForThisHost(record)) return
    const claimed = await this.#files.claim(record.id)
    if (claimed && !this.#isClosed) this.#resume(claimed)
  }

  /** Whether this host can go on with a task, or knows that no host can. */
  #isForThisHost(record: TaskRecord): boolean {
    const server = this.#services.fleet.find(record.server)
    if (server && canResume(server)) return true
    return isGone(this.#services, record) || this.#services.wallNow() > givesUpAt(record)
  }

  #resume(record: TaskRecord): void {
    const { ownConversation, fleet } = this.#services
    const begun = this.#follow(record, ownConversation, () => ended)
    const work = (): Promise<CallOfTool> => this.#resumed(begun, record)
    const server = fleet.find(record.server)
    const ended: Promise<void> = (server ? server.during(ownConversation, work) : work()).then(
      (outcome) => this.#end(begun, outcome),
      (error: unknown) => this.#end(begun, { error }),
    )
  }

  /** The gate decided about the call when it began. Its result is decided about now. */
  async #resumed({ following }: Followed, record: TaskRecord): Promise<CallOfTool> {
    const { fleet, audit, wallNow, ownConversation } = this.#services
    const intent = audit.resumed(record.intent)
    const told = (outcome: Omit<Outcome, 'durationMs'>): Promise<void> =>
      intent.outcome({ durationMs: Math.max(0, wallNow() - record.startedAt), ...outcome })
    const options: UseOptions = { conversation: ownConversation, initiator: record.initiator, chain: record.chain }
    const origin = (): { server: HostedServer; tool: Tool; mayContainFiles: boolean } => {
      const server = fleet.get(record.server)
      return { server, tool: server.definition('tool', record.tool) as Tool, mayContainFiles: record.mayContainFiles }
    }
    const { maxBytes } = record
    try {
      const value = await following.result()
      await told({ kind: 'done', resultBytes: sizeOf(value), ...(value.isError && { isToolError: true }) })
      return await admitCall(this.#services, origin(), { value, maxBytes }, options)
    } catch (error) {
      if (error instanceof ActionGoesOn) throw error
      const kind = error instanceof McpError && error.code === 'ERR_CANCELLED' ? 'cancelled' : 'failed'
      await told({ kind, error: errorName(error) }).catch(() => {})
      if (error instanceof TaskLost) throw error
      return admitCall(this.#services, origin(), failedUse(error, maxBytes), options)
    }
  }
}
