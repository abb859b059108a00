/** Tasks between two processes. They go as texts, because the content of a task may have null, which stands for undefined elsewhere. */

import { watchValue } from '../../base/watch-value.ts'
import { headOf, type TaskHead, type TaskLease, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { CreateRefusal, TaskCaps, TaskStore } from '../../protocol/interfaces/task-store.ts'

/** Reading and looking take one message each. */
const LEASE_MS = 10_000
const LOOK_MS = 1000

/** What the process with the store offers. */
export const taskTexts = (tasks: TaskStore): Record<string, (...args: never[]) => Promise<unknown>> => ({
  create: (task: string, caps: TaskCaps) => tasks.create(JSON.parse(task) as TaskRecord, caps),
  read: async (owner: string, taskId: string) => textOf(await tasks.read(owner, taskId)),
  head: async (owner: string, taskId: string) => textOf(await headIn(tasks, owner, taskId)),
  edition: async (owner: string, taskId: string) => (await tasks.head(owner, taskId))?.edition,
  replace: (task: string) => tasks.replace(JSON.parse(task) as TaskRecord),
  renew: (owner: string, taskId: string, lease: TaskLease) => tasks.renew(owner, taskId, lease),
  remove: (owner: string, taskId: string, account?: string) => tasks.remove(owner, taskId, account),
  list: async (owner: string) => textOf((await tasks.list(owner)).map(headOf)),
  neglected: async (now: number) => textOf((await tasks.neglected(now)).map(headOf)),
})

/** The tasks of the other process. */
export function remoteTasks(run: (method: string, args: unknown[]) => Promise<unknown>): TaskStore {
  const call = (name: string, ...args: unknown[]): Promise<unknown> => run(`tasks.${name}`, args)
  return {
    isShared: true,
    leaseMs: LEASE_MS,
    lookMs: LOOK_MS,
    create: async (task, caps) => (await call('create', JSON.stringify(task), caps)) as CreateRefusal | undefined,
    read: async (owner, taskId) => taskIn<TaskRecord>(await call('read', owner, taskId)),
    head: async (owner, taskId) => taskIn<TaskHead>(await call('head', owner, taskId)),
    replace: async (task) => (await call('replace', JSON.stringify(task))) as boolean,
    renew: async (owner, taskId, lease) => (await call('renew', owner, taskId, lease)) as boolean,
    remove: async (owner, taskId, account) => {
      await call('remove', owner, taskId, account)
    },
    list: async (owner) => taskIn<TaskHead[]>(await call('list', owner)) ?? [],
    neglected: async (now) => taskIn<TaskHead[]>(await call('neglected', now)) ?? [],
    watch: (owner, taskId, listener) => watchValue(() => call('edition', owner, taskId), listener),
  }
}

/** Stores may give the whole task as its head. */
const headIn = async (tasks: TaskStore, owner: string, taskId: string): Promise<TaskHead | undefined> => {
  const head = await tasks.head(owner, taskId)
  return head && headOf(head)
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))

const taskIn = <T>(text: unknown): T | undefined => (typeof text === 'string' ? (JSON.parse(text) as T) : undefined)
