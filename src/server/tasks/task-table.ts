/** The tasks of a store, with changes that cannot get lost and listeners for them. */

import { McpError } from '../../protocol/errors.ts'
import { expiryOf, type TaskHead, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { CreateRefusal, TaskCaps, TaskStore } from '../../protocol/interfaces/task-store.ts'
import { TASKS } from '../../protocol/model/tasks.ts'
import { memoryTaskStore } from '../../store/memory/task-store.ts'
import type { ServerState } from '../server-state.ts'
import { detailedTask } from './extension-form.ts'
import type { TaskLimits } from './limits.ts'
import { DEFAULT_TASK_OPTIONS, type TaskOptions } from './options.ts'
import { keyOf, principalOf, type TaskKey } from './owner.ts'
import { type NewsListener, TaskNews } from './task-news.ts'
import type { Transition } from './transitions.ts'

/** Attempts to change a task that other processes change at the same time. */
const MAX_ATTEMPTS = 50
/** What tasks of callers without authentication may take of `maxTasks`: anyone with enough addresses can create so many. */
const ANONYMOUS_PART = 3 / 4

/** A time by the clock of the server, and by that of leases. */
export interface Moment {
  clock: number
  time: number
}

export type TaskListener = (task: TaskRecord | undefined) => void

type TaskTableOptions = Pick<TaskOptions, 'onChange'> & { store: TaskStore | undefined; leaseMs: number | undefined }

export class TaskTable {
  #store: TaskStore | undefined
  readonly #serverState: ServerState
  readonly #limits: TaskLimits
  readonly #onChange: NonNullable<TaskOptions['onChange']>
  /** Undefined: as the store says. */
  readonly #leaseMs: number | undefined
  readonly #listeners = new Map<string, Set<TaskListener>>()
  readonly #news = new TaskNews(this)
  /** Milliseconds since 1970 when the clock of the server was 0. */
  readonly #epoch: number

  constructor(serverState: ServerState, limits: TaskLimits, { store, onChange = () => {}, leaseMs }: TaskTableOptions) {
    this.#serverState = serverState
    this.#limits = limits
    this.#store = store
    this.#onChange = onChange
    this.#leaseMs = leaseMs
    this.#epoch = Date.now() - serverState.now()
  }

  /** Decided when it is first used: a transport may have a store. */
  get store(): TaskStore {
    this.#store ??= this.#serverState.shared?.tasks ?? memoryTaskStore()
    return this.#store
  }

  /** Milliseconds since 1970. */
  now(): number {
    const { deadlines } = this.#serverState
    // Processes compare leases by the system time, which can be set, and goes on while the machine sleeps.
    if (deadlines.isOnSystemClock && this.store.isShared) return Date.now()
    return Math.round(this.#epoch + deadlines.now())
  }

  moment(): Moment {
    return { clock: this.#serverState.now(), time: this.now() }
  }

  /** How long ago that was. The longer time counts, because either clock may have missed some of it. */
  since({ clock, time }: Moment): number {
    return Math.max(this.#serverState.now() - clock, this.now() - time)
  }

  get leaseMs(): number {
    return this.#leaseMs ?? this.store.leaseMs ?? DEFAULT_TASK_OPTIONS.leaseMs
  }

  /** When a lease ends that is taken or renewed now. */
  leaseEnd(): number {
    return this.store.isShared ? this.now() + this.leaseMs : Number.MAX_SAFE_INTEGER
  }

  isKept(task: TaskHead): boolean {
    return expiryOf(task) > this.now()
  }

  /**
   * Throws ERR_LIMIT if there are too many tasks.
   *
   * @param leftOver the accounts of handlers and tasks that count, and that the store may not have
   * @param isAnonymous such tasks leave room for those of other callers
   */
  async create(task: TaskRecord, leftOver: readonly string[], isAnonymous: boolean): Promise<void> {
    const { maxTasksPerCaller: perAccount, maxTasks } = this.#limits
    const total = isAnonymous ? Math.ceil(maxTasks * ANONYMOUS_PART) : maxTasks
    const ofAccount = leftOver.filter((account) => account === task.account).length
    const caps = { perAccount: perAccount - ofAccount, total: total - leftOver.length }
    const refusal = fullWithout(caps) ?? (await this.store.create(task, caps))
    if (refusal) {
      const [limit, max] = refusal === 'account-full' ? ['maxTasksPerCaller', perAccount] : ['maxTasks', total]
      const data = { reason: 'limit', limit, max }
      const whose = max === maxTasks || limit !== 'maxTasks' ? '' : ' without authentication'
      throw new McpError('ERR_LIMIT', `Too many tasks: at most ${max}${whose} (limits.${limit}), finished tasks that are kept included`, {
        data,
      })
    }
    this.#tell(task)
  }

  async read({ owner, taskId }: TaskKey): Promise<TaskRecord | undefined> {
    const task = await this.store.read(owner, taskId)
    return task && this.isKept(task) ? task : undefined
  }

  /** Reads a task without its content. */
  async head({ owner, taskId }: TaskKey): Promise<TaskHead | undefined> {
    const task = await this.store.head(owner, taskId)
    return task && this.isKept(task) ? task : undefined
  }

  /** Changes a task, also if others do so at the same time. Undefined if the change is not possible. */
  async change(key: TaskKey, transition: Transition): Promise<TaskRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const task = await this.read(key)
      const changed = task && transition(task)
      if (!changed) return undefined
      const isVisible =
        changed.status !== task.status || changed.statusMessage !== task.statusMessage || changed.questions !== task.questions
      const updatedAt = isVisible ? Math.max(this.now(), task.updatedAt) : task.updatedAt
      const next = { ...changed, edition: task.edition + 1, updatedAt }
      if (!(await this.store.replace(next))) continue
      if (isVisible) this.#tell(next)
      return next
    }
    throw new McpError('ERR_STORE', `The task ${key.taskId} changes too often`)
  }

  /** Changes the end of the task's lease. False if the lease is over: the task has ended, or another process took it over. */
  renew({ owner, taskId, lease }: TaskRecord, until: number): Promise<boolean> {
    return this.store.renew(owner, taskId, { ...lease, until })
  }

  async remove(task: Pick<TaskHead, 'owner' | 'taskId' | 'account'>): Promise<void> {
    await this.store.remove(task.owner, task.taskId, task.account)
    for (const listener of this.#listeners.get(keyOf(task)) ?? []) listener(undefined)
  }

  /** Calls `listener` when the task changes, and with undefined when it is deleted. Returns a function that stops it. */
  listen(key: TaskKey, listener: TaskListener): () => void {
    const name = keyOf(key)
    const all = this.#listeners.get(name) ?? new Set()
    let told = ''
    // Stores also report changes of this process, and changes that no client sees.
    const tell: TaskListener = (task) => {
      if (!all.has(tell)) return
      const seen = task ? JSON.stringify([task.status, task.statusMessage, task.updatedAt, Object.keys(task.questions)]) : ''
      if (task && seen === told) return
      told = seen
      listener(task)
    }
    this.#listeners.set(name, all.add(tell))
    const stop = this.listenToOthers(key, (stored) => void stored.then(tell, () => {}))
    return () => {
      stop()
      all.delete(tell)
      if (all.size === 0) this.#listeners.delete(name)
    }
  }

  /** Calls `listener` after other processes may have changed the task. Returns a function that stops it. */
  listenToOthers(key: TaskKey, listener: NewsListener): () => void {
    return this.#news.listen(key, listener)
  }

  #tell(task: TaskRecord): void {
    const { taskId, tool, status, statusMessage } = task
    for (const listener of this.#listeners.get(keyOf(task)) ?? []) listener(task)
    this.#serverState.announce({ kind: 'extension', id: TASKS, method: 'notifications/tasks', params: detailedTask(task) })
    this.#onChange({ taskId, tool, status, statusMessage, principal: principalOf(task) })
  }
}

/** Why nothing can be created, whatever the store has: a store that is down could not say so. */
function fullWithout({ perAccount, total }: TaskCaps): CreateRefusal | undefined {
  if (perAccount <= 0) return 'account-full'
  return total <= 0 ? 'store-full' : undefined
}
