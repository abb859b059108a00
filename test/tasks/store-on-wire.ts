/** A process of a server whose store can be reached or not, and whose messages to it get lost. */

import { onTestFinished } from 'vitest'
import type { TaskRecord } from '../../src/protocol/interfaces/task-record.ts'
import { McpError } from '../../src/server/index.ts'
import { memoryTaskStore, type TaskOptions, type TaskStore } from '../../src/tasks/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { settle } from '../support/raw-channel.ts'
import { extensionClient, taskServer } from './task-server.ts'

const LEASE_MS = 1000

/** Whether the message about a change gets lost. `before` is undefined when a task is created. */
export type Fault = (task: TaskRecord, before: TaskRecord | undefined) => boolean

/** A shared store in memory that can be reached or not, and whose replies get lost. It tells nobody about changes. */
export function storeOnWire() {
  const memory = memoryTaskStore()
  const { create, read, head, replace, renew, remove, neglected } = memory
  const wire = { isDown: false, drops: (() => false) as Fault, loses: (() => false) as Fault }
  const reach = (): void => {
    if (wire.isDown) throw new McpError('ERR_STORE_DOWN', 'The store does not answer')
  }
  const unless = (isLost: boolean): void => {
    if (isLost) throw new McpError('ERR_STORE_DOWN', 'A message was lost')
  }
  const store: TaskStore = {
    ...memory,
    isShared: true,
    create: async (task, caps) => {
      reach()
      const refusal = await create(task, caps)
      unless(wire.loses(task, undefined))
      return refusal
    },
    read: async (...key) => {
      reach()
      return read(...key)
    },
    head: async (...key) => {
      reach()
      return head(...key)
    },
    renew: async (...lease) => {
      reach()
      return renew(...lease)
    },
    replace: async (task) => {
      reach()
      const before = await read(task.owner, task.taskId)
      unless(wire.drops(task, before))
      const isLost = wire.loses(task, before)
      const replaced = await replace(task)
      unless(isLost)
      return replaced
    },
    remove: async (...key) => {
      reach()
      await remove(...key)
    },
    neglected: async (now) => {
      reach()
      return neglected(now)
    },
  }
  return { store, wire, memory }
}

/** A fault that happens once. */
export const once = (fits: Fault): Fault => {
  let isOver = false
  return (task, before) => {
    if (isOver || !fits(task, before)) return false
    isOver = true
    return true
  }
}

/** A change that closes a question. */
export const closes: Fault = (task, before) => Object.keys(task.questions).length < Object.keys(before?.questions ?? {}).length

/** A process of a server that shares the store. Its tools `again` and `late` can be started again. */
export function processOf(store: TaskStore, limits: TaskOptions['limits'] = {}) {
  const clock = fakeClock()
  const made = taskServer({ store, leaseMs: LEASE_MS, afterMs: 20, limits }, { clock })
  let runs = 0
  for (const [name, task] of [['again', 'required'] as const, ['late', 'optional'] as const])
    made.server.tool(name, { task, restartable: true }, () => {
      runs++
      return made.go.opened as Promise<string>
    })
  onTestFinished(() => made.server.close())
  const wait = async (leases: number): Promise<void> => {
    for (let i = 0; i < leases * 4; i++) {
      await clock.advance(LEASE_MS / 4)
      await settle()
    }
  }
  return { ...made, client: extensionClient(made.server), wait, runs: () => runs }
}
