/** Tasks in Redis. */

import { isObject } from '../base/json.ts'
import { watchValue } from '../base/watch-value.ts'
import { McpError } from '../protocol/errors.ts'
import { expiryOf, headOf, type TaskHead, type TaskLease, type TaskRecord } from '../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import { isFinal } from '../protocol/model/tasks.ts'
import { isUnreadable } from '../store/unreadable.ts'
import { type RedisContext, textOf } from './context.ts'
import { digestOf } from './keys.ts'
import { createTask } from './scripts/create-task.ts'
import { renewTask } from './scripts/renew-task.ts'
import { REPLACED, replaceTask } from './scripts/replace-task.ts'
import { reserveTask } from './scripts/reserve-task.ts'
import { type RedisTaskLimits, TaskBytes } from './task-bytes.ts'

/** How long a task stays in Redis after its time, for a server whose clock is late. Servers delete it before. */
const GRACE_MS = 60_000
/** How long the creation of a task may take. Until then a reserved place without a task is not taken for one that was left. */
const CREATING_MS = 60_000
/** How often to look for tasks of processes that died. */
const LOOK_MS = 1000
/** Tasks that one call of `neglected` returns. The next call returns more. */
const MAX_NEGLECTED = 1000

/** Ids come from clients and become names of keys. */
const TASK_ID = /^[\w-]{1,64}$/

/** When the task needs attention: its process is gone, or its time is over. */
const dueAt = (task: TaskHead): number => (isFinal(task) ? expiryOf(task) : Math.min(expiryOf(task), task.lease.until))

const nameOf = (owner: string, taskId: string): string => `${digestOf(owner)} ${taskId}`

/** The holder of a lease and its epoch. A task that has ended has no lease. */
const leaseName = ({ holder, epoch }: TaskLease): string => `${epoch} ${holder}`
const leaseNameOf = (task: TaskHead): string => (isFinal(task) ? '' : leaseName(task.lease))

/** @param until the end of the lease, which is renewed without writing the task again */
function taskIn<Task extends TaskHead>(json: string, until: number): Task {
  const read: unknown = JSON.parse(json)
  if (isObject(read) && isObject(read.lease) && Number.isFinite(until))
    return { ...read, lease: { ...read.lease, until } } as unknown as Task
  throw new McpError('ERR_STORE', 'A value in Redis is not a task: expected an object with a lease')
}

export function redisTasks(context: RedisContext, leaseMs: number, limits: RedisTaskLimits = {}): TaskStore {
  const { connection, keys, values, reportUnreadable } = context
  const bytes = new TaskBytes(context, limits)
  /** How many of the oldest neglected tasks the next look passes over: this replica can do nothing about them. */
  let passed = 0
  /** What is kept of a task in `field`: the record, or the head, which is small. */
  const placeOf = (key: string, field: 'record' | 'head'): string => `${key} ${field}`
  const seal = async (task: TaskRecord): Promise<{ record: Buffer; head: Buffer }> => {
    const key = keys.task(task.owner, task.taskId)
    const record = await values.seal(JSON.stringify(task), placeOf(key, 'record'))
    return { record, head: await values.seal(JSON.stringify(headOf(task)), placeOf(key, 'head')) }
  }
  const readAt = async <Task extends TaskHead>(key: string, field: 'record' | 'head'): Promise<Task | undefined> => {
    const [sealed, until] = (await connection.command('HMGET', key, field, 'until')) as (Buffer | null)[]
    if (!sealed) return undefined
    return taskIn<Task>(await values.open(sealed, placeOf(key, field), 'a task'), Number(textOf(until)))
  }
  /** One task that cannot be read must not hold up the others. `foreign`: another replica may have its key. */
  const headOrReport = async (key: string): Promise<TaskHead | 'foreign' | 'damaged' | undefined> => {
    try {
      return await readAt(key, 'head')
    } catch (error) {
      const { code } = error as McpError
      if (code === 'ERR_STORE_DOWN' || code === 'ERR_CLOSED') throw error
      reportUnreadable('a task cannot be read', error)
      return isUnreadable(error) ? 'foreign' : 'damaged'
    }
  }
  const read = async <Task extends TaskHead>(owner: string, taskId: string, field: 'record' | 'head'): Promise<Task | undefined> =>
    TASK_ID.test(taskId) ? readAt(keys.task(owner, taskId), field) : undefined
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
      if ((await connection.run(reserveTask, [keys.allTasks], [name, dueAt(task) + CREATING_MS, total, life])) === 0) {
        await connection.command('ZREM', account, name)
        return 'store-full'
      }
      const { record, head } = await seal(task)
      try {
        await bytes.set({ account: task.account, name, edition: task.edition, lifeMs: life }, record.length + head.length)
      } catch (error) {
        await connection.command('ZREM', account, name)
        await connection.command('ZREM', keys.allTasks, name)
        throw error
      }
      const { edition, lease, createdAt } = task
      const args = [edition, record, head, leaseNameOf(task), lease.until, expiryOf(task), createdAt, taskId, life]
      await connection.run(createTask, [keys.task(owner, taskId), keys.tasksOf(owner)], args)
      await connection.command('ZADD', keys.allTasks, 'XX', dueAt(task), name)
      return undefined
    },
    read: (owner, taskId) => read(owner, taskId, 'record'),
    head: (owner, taskId) => read(owner, taskId, 'head'),
    replace: async (task) => {
      const { owner, taskId, account, edition } = task
      if (!TASK_ID.test(taskId)) return false
      const name = nameOf(owner, taskId)
      const { record, head } = await seal(task)
      const length = record.length + head.length
      const change = { account, name, edition, lifeMs: expiryOf(task) + GRACE_MS - Date.now() }
      await bytes.set(change, length)
      const args = [edition, record, head, leaseNameOf(task), task.lease.until]
      const kept = (await connection.run(replaceTask, [keys.task(owner, taskId)], args)) as number
      if (kept !== REPLACED) {
        await bytes.undo(change, length, kept)
        return false
      }
      // Not created again if another process has removed it.
      await connection.command('ZADD', keys.allTasks, 'XX', dueAt(task), name)
      return true
    },
    renew: async (owner, taskId, lease) => {
      if (!TASK_ID.test(taskId)) return false
      const expiry = await connection.run(renewTask, [keys.task(owner, taskId)], [leaseName(lease), lease.until])
      if (expiry === null) return false
      await connection.command('ZADD', keys.allTasks, 'XX', Math.min(Number(textOf(expiry)), lease.until), nameOf(owner, taskId))
      return true
    },
    remove: async (owner, taskId, given) => {
      // A creation or a removal that failed in the middle left counts without a record.
      const account = given ?? (await read(owner, taskId, 'head'))?.account
      if (account === undefined) return
      await connection.command('DEL', keys.task(owner, taskId))
      await connection.command('ZREM', keys.tasksOf(owner), taskId)
      await connection.command('ZREM', keys.tasksOfAccount(account), nameOf(owner, taskId))
      await connection.command('ZREM', keys.allTasks, nameOf(owner, taskId))
      await bytes.remove(account, nameOf(owner, taskId))
    },
    list: async (owner) => {
      const ids = ((await connection.command('ZRANGE', keys.tasksOf(owner), 0, -1)) as Buffer[]).map(textOf)
      const tasks = await Promise.all(ids.map((id) => headOrReport(keys.task(owner, id))))
      const gone = ids.filter((_id, at) => tasks[at] === undefined)
      if (gone.length > 0) await connection.command('ZREM', keys.tasksOf(owner), ...gone)
      return tasks.filter((task) => typeof task === 'object')
    },
    neglected: async (now) => {
      const due = (await connection.command('ZRANGEBYSCORE', keys.allTasks, '-inf', now, 'LIMIT', passed, MAX_NEGLECTED)) as Buffer[]
      const tasks = await Promise.all(
        due.map(textOf).map(async (name) => {
          const [owner = '', taskId = ''] = name.split(' ')
          const key = keys.taskOfDigest(owner, taskId)
          const task = await headOrReport(key)
          if (task === undefined || task === 'damaged') await connection.command('ZREM', keys.allTasks, name)
          if (task === undefined) await connection.command('ZREM', keys.tasksOfDigest(owner), taskId)
          return task
        }),
      )
      const kept = tasks.filter((task) => task !== undefined && task !== 'damaged')
      const found = kept.filter((task) => task !== 'foreign' && dueAt(task) <= now) as TaskHead[]
      // After the last part it looks at all again: it may have got the keys.
      passed = due.length < MAX_NEGLECTED ? 0 : passed + kept.length - found.length
      return found
    },
    watch: (owner, taskId, listener) =>
      watchValue(async () => textOf(await connection.command('HGET', keys.task(owner, taskId), 'edition')), listener),
  }
}
