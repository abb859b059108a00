/** Tasks in Redis. */

import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'
import type { TaskRecord } from '../protocol/interfaces/task-record.ts'
import { expiryOf } from '../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import { isFinal } from '../protocol/model/tasks.ts'
import { isUnreadable } from '../store/unreadable.ts'
import { type RedisContext, textOf } from './context.ts'
import { digestOf } from './keys.ts'
import { createTask } from './scripts/create-task.ts'
import { replaceTask } from './scripts/replace-task.ts'
import { reserveTask } from './scripts/reserve-task.ts'
import { type RedisTaskLimits, TaskBytes } from './task-bytes.ts'

/** How long a task stays in Redis after its time, for a server whose clock is late. Servers delete it before. */
const GRACE_MS = 60_000
/** How often to look for changes by other processes. */
const WATCH_MS = 250
/** How often to look for tasks of processes that died. */
const LOOK_MS = 1000
/** Tasks that one call of `neglected` returns. The next call returns more. */
const MAX_NEGLECTED = 1000

/** Ids come from clients and become names of keys. */
const TASK_ID = /^[\w-]{1,64}$/

/** When the task needs attention: its process is gone, or its time is over. */
const dueAt = (task: TaskRecord): number => (isFinal(task) ? expiryOf(task) : Math.min(expiryOf(task), task.lease.until))

const nameOf = (owner: string, taskId: string): string => `${digestOf(owner)} ${taskId}`

function taskIn(json: string): TaskRecord {
  const read: unknown = JSON.parse(json)
  if (isObject(read) && isObject(read.lease)) return read as unknown as TaskRecord
  throw new McpError('ERR_STORE', 'A value in Redis is not a task: expected an object with a lease')
}

export function redisTasks(context: RedisContext, leaseMs: number, limits: RedisTaskLimits = {}): TaskStore {
  const { connection, keys, values, reportUnreadable } = context
  const bytes = new TaskBytes(context, limits)
  const seal = (task: TaskRecord): Buffer | Promise<Buffer> => values.seal(JSON.stringify(task), keys.task(task.owner, task.taskId))
  const readAt = async (key: string): Promise<TaskRecord | undefined> => {
    const reply = await connection.command('HGET', key, 'record')
    return reply === null ? undefined : taskIn(await values.open(reply as Buffer, key))
  }
  /** One task that cannot be read must not hold up the others. `foreign`: another replica may have its key. */
  const readOrReport = async (key: string): Promise<TaskRecord | 'foreign' | 'damaged' | undefined> => {
    try {
      return await readAt(key)
    } catch (error) {
      const { code } = error as McpError
      if (code === 'ERR_STORE_DOWN' || code === 'ERR_CLOSED') throw error
      reportUnreadable('a task cannot be read', error)
      return isUnreadable(error) ? 'foreign' : 'damaged'
    }
  }
  const read = async (owner: string, taskId: string): Promise<TaskRecord | undefined> =>
    TASK_ID.test(taskId) ? readAt(keys.task(owner, taskId)) : undefined
  return {
    isShared: true,
    leaseMs,
    lookMs: Math.min(LOOK_MS, leaseMs / 3),
    /** The counts are on other nodes of a cluster, so they are reserved first. A process that dies in between leaves one behind until the task would have expired. */
    create: async (task, { perAccount, total }) => {
      const { owner, taskId } = task
      const [name, life] = [nameOf(owner, taskId), Math.ceil(task.ttlMs + GRACE_MS)]
      const account = keys.tasksOfAccount(task.account)
      if ((await connection.run(reserveTask, [account], [name, '', perAccount, life])) === 0) return 'account-full'
      if ((await connection.run(reserveTask, [keys.allTasks], [name, dueAt(task), total, life])) === 0) {
        await connection.command('ZREM', account, name)
        return 'store-full'
      }
      const sealed = await seal(task)
      try {
        await bytes.set(task.account, name, sealed.length, life)
      } catch (error) {
        await connection.command('ZREM', account, name)
        await connection.command('ZREM', keys.allTasks, name)
        throw error
      }
      const args = [task.edition, sealed, task.createdAt, taskId, life]
      await connection.run(createTask, [keys.task(owner, taskId), keys.tasksOf(owner)], args)
      return undefined
    },
    read,
    replace: async (task) => {
      const { owner, taskId } = task
      if (!TASK_ID.test(taskId)) return false
      const sealed = await seal(task)
      await bytes.set(task.account, nameOf(owner, taskId), sealed.length, expiryOf(task) + GRACE_MS - Date.now())
      const replaced = await connection.run(replaceTask, [keys.task(owner, taskId)], [task.edition, sealed])
      if (replaced === 0) {
        // Another process has removed it.
        if ((await connection.command('EXISTS', keys.task(owner, taskId))) === 0) await bytes.remove(task.account, nameOf(owner, taskId))
        return false
      }
      // Not created again if another process has removed it.
      await connection.command('ZADD', keys.allTasks, 'XX', dueAt(task), nameOf(owner, taskId))
      return true
    },
    remove: async (owner, taskId, given) => {
      // A creation or a removal that failed in the middle left counts without a record.
      const account = given ?? (await read(owner, taskId))?.account
      if (account === undefined) return
      await connection.command('DEL', keys.task(owner, taskId))
      await connection.command('ZREM', keys.tasksOf(owner), taskId)
      await connection.command('ZREM', keys.tasksOfAccount(account), nameOf(owner, taskId))
      await connection.command('ZREM', keys.allTasks, nameOf(owner, taskId))
      await bytes.remove(account, nameOf(owner, taskId))
    },
    list: async (owner) => {
      const ids = ((await connection.command('ZRANGE', keys.tasksOf(owner), 0, -1)) as Buffer[]).map(textOf)
      const tasks = await Promise.all(ids.map((id) => readOrReport(keys.task(owner, id))))
      return tasks.filter((task) => typeof task === 'object')
    },
    neglected: async (now) => {
      const due = (await connection.command('ZRANGEBYSCORE', keys.allTasks, '-inf', now, 'LIMIT', 0, MAX_NEGLECTED)) as Buffer[]
      const tasks = await Promise.all(
        due.map(textOf).map(async (name) => {
          const [owner = '', taskId = ''] = name.split(' ')
          const key = keys.taskOfDigest(owner, taskId)
          const task = await readOrReport(key)
          if (task === undefined || task === 'damaged') await connection.command('ZREM', keys.allTasks, name)
          return task
        }),
      )
      return tasks.filter((task) => typeof task === 'object' && dueAt(task) <= now) as TaskRecord[]
    },
    watch: (owner, taskId, listener) => {
      let last: string | undefined
      const look = async (): Promise<void> => {
        const edition = textOf(await connection.command('HGET', keys.task(owner, taskId), 'edition'))
        if (last !== undefined && edition !== last) listener()
        last = edition
      }
      // A look that fails is repeated by the next one.
      const timer = setInterval(() => void look().catch(() => {}), WATCH_MS).unref()
      look().catch(() => {})
      return () => clearInterval(timer)
    },
  }
}
