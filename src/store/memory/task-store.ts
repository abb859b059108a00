/** The default store of tasks: the memory of this process. */

import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { expiryOf, isSameLease, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { memorySize } from './memory-size.ts'

/** Options of `memoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** The memory for all tasks together, about. More is refused with ERR_LIMIT. Default: 128 MiB. */
  maxBytes?: number
  /** The memory for the tasks of one caller: of one principal, or without authentication of one connection or address. Default: 32 MiB. */
  maxBytesPerCaller?: number
}

const MAX_BYTES = 128 * 1024 * 1024
const MAX_BYTES_PER_CALLER = 32 * 1024 * 1024
/** A full store has room for the reason why a task ended. */
const END_BYTES = 4096

/**
 * Keeps tasks in the memory of this process. They are lost when it ends.
 *
 * @example
 * server.extend(tasks({ store: memoryTaskStore({ maxBytes: 64 * 1024 * 1024 }) }))
 */
export function memoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  checkMembers('memoryTaskStore', options, { maxBytes: 1, maxBytesPerCaller: 1 })
  const { maxBytes = MAX_BYTES, maxBytesPerCaller = MAX_BYTES_PER_CALLER } = options
  const tasks = new Map<string, TaskRecord>()
  /** What each account uses. */
  const used = new Map<string, { tasks: number; bytes: number }>()
  const sizes = new Sizes()
  let bytes = 0
  const usedBy = (account: string): { tasks: number; bytes: number } => used.get(account) ?? { tasks: 0, bytes: 0 }
  /** Throws ERR_LIMIT if a task grows and there is no room for it. */
  const grow = (before: TaskRecord | undefined, after: TaskRecord | undefined): void => {
    const { account } = (after ?? before) as TaskRecord
    const own = usedBy(account)
    const change = (after ? sizes.of(after) : 0) - (before ? sizes.of(before) : 0)
    if (change > (after && isFinal(after) ? END_BYTES : 0)) {
      if (bytes + change > maxBytes) throw refused('All tasks together', 'maxBytes', maxBytes)
      if (own.bytes + change > maxBytesPerCaller) throw refused('The tasks of one caller', 'maxBytesPerCaller', maxBytesPerCaller)
    }
    bytes += change
    const count = own.tasks + (after ? 1 : 0) - (before ? 1 : 0)
    if (count === 0) used.delete(account)
    else used.set(account, { tasks: count, bytes: own.bytes + change })
  }
  const keyOf = (owner: string, taskId: string): string => `${taskId} ${owner}`
  const read = async (owner: string, taskId: string): Promise<TaskRecord | undefined> => tasks.get(keyOf(owner, taskId))
  return {
    isShared: false,
    create: async (task, { perAccount, total }) => {
      if (tasks.size >= total) return 'store-full'
      if (usedBy(task.account).tasks >= perAccount) return 'account-full'
      grow(undefined, task)
      tasks.set(keyOf(task.owner, task.taskId), task)
      return undefined
    },
    read,
    head: read,
    replace: async (task) => {
      const key = keyOf(task.owner, task.taskId)
      const before = tasks.get(key)
      if (before?.edition !== task.edition - 1) return false
      const after = isSameLease(before.lease, task.lease) ? { ...task, lease: before.lease } : task
      grow(before, after)
      tasks.set(key, after)
      return true
    },
    renew: async (owner, taskId, lease) => {
      const key = keyOf(owner, taskId)
      const task = tasks.get(key)
      if (!task || isFinal(task) || !isSameLease(task.lease, lease)) return false
      tasks.set(key, { ...task, lease })
      return true
    },
    remove: async (owner, taskId) => {
      const key = keyOf(owner, taskId)
      const task = tasks.get(key)
      if (!task || !tasks.delete(key)) return
      grow(task, undefined)
    },
    list: async (owner) => [...tasks.values()].filter((task) => task.owner === owner),
    neglected: async (now) => [...tasks.values()].filter((task) => expiryOf(task) <= now || (!isFinal(task) && task.lease.until <= now)),
  }
}

const refused = (what: string, limit: keyof MemoryTaskStoreOptions, max: number): McpError =>
  new McpError('ERR_LIMIT', `${what} take more than ${max} bytes (${limit} of memoryTaskStore)`, { data: { reason: 'limit', limit, max } })

const NONE = {}

/** Everything else in a task: ids, times, the status. */
const USUAL_SIZE = 2000

/** The sizes of tasks. Their large parts are measured once, because a change keeps the parts that it does not change. */
class Sizes {
  readonly #known = new WeakMap<object, number>()

  of({ params, journal, questions, received, outcome, statusMessage = '' }: TaskRecord): number {
    const parts = [params, journal, questions, received, outcome ?? NONE].map((part) => this.#measure(part))
    return parts.reduce((sum, size) => sum + size, USUAL_SIZE + statusMessage.length)
  }

  #measure(part: object): number {
    const size = this.#known.get(part) ?? memorySize(part)
    this.#known.set(part, size)
    return size
  }
}
