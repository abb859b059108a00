/** The default store of tasks: the memory of this process. */

import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { expiryOf, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { memorySize } from './memory-size.ts'

/** Options of `memoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** The memory for all tasks together, about. More is refused with ERR_LIMIT. Default: 128 MiB. */
  maxBytes?: number
  /** The memory for the tasks of one caller, about: of a principal or, without authentication, of an address. Default: 32 MiB. */
  maxBytesPerCaller?: number
}

const MAX_BYTES = 128 * 1024 * 1024
const MAX_BYTES_PER_CALLER = 32 * 1024 * 1024

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
  /** Of each account. */
  const counts = new Map<string, number>()
  const bytesOf = new Map<string, number>()
  const sizes = new Sizes()
  let bytes = 0
  /** Throws ERR_LIMIT if a task grows and there is no room for it. */
  const grow = (before: TaskRecord | undefined, after: TaskRecord | undefined): void => {
    const change = (after ? sizes.of(after) : 0) - (before ? sizes.of(before) : 0)
    const { account } = (after ?? before) as TaskRecord
    const own = (bytesOf.get(account) ?? 0) + change
    if (change > 0 && own > maxBytesPerCaller) throw tooLarge('The tasks of one caller', 'maxBytesPerCaller', maxBytesPerCaller)
    if (change > 0 && bytes + change > maxBytes) throw tooLarge('All tasks together', 'maxBytes', maxBytes)
    bytes += change
    if (own > 0) bytesOf.set(account, own)
    else bytesOf.delete(account)
  }
  const keyOf = (owner: string, taskId: string): string => `${taskId} ${owner}`
  const count = (account: string, change: number): void => {
    const next = (counts.get(account) ?? 0) + change
    if (next === 0) counts.delete(account)
    else counts.set(account, next)
  }
  return {
    isShared: false,
    create: async (task, { perAccount, total }) => {
      if (tasks.size >= total) return 'store-full'
      if ((counts.get(task.account) ?? 0) >= perAccount) return 'account-full'
      grow(undefined, task)
      tasks.set(keyOf(task.owner, task.taskId), task)
      count(task.account, 1)
      return undefined
    },
    read: async (owner, taskId) => tasks.get(keyOf(owner, taskId)),
    replace: async (task) => {
      const key = keyOf(task.owner, task.taskId)
      const before = tasks.get(key)
      if (before?.edition !== task.edition - 1) return false
      grow(before, task)
      tasks.set(key, task)
      return true
    },
    remove: async (owner, taskId) => {
      const key = keyOf(owner, taskId)
      const task = tasks.get(key)
      if (!task || !tasks.delete(key)) return
      grow(task, undefined)
      count(task.account, -1)
    },
    list: async (owner) => [...tasks.values()].filter((task) => task.owner === owner),
    neglected: async (now) => [...tasks.values()].filter((task) => expiryOf(task) <= now || (!isFinal(task) && task.lease.until <= now)),
  }
}

const tooLarge = (what: string, limit: string, max: number): McpError =>
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
