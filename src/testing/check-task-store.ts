/** `checkTaskStore`: the rules that every store of tasks must keep. */

import { comparableJson } from '../base/canonical-json.ts'
import type { TaskHead, TaskRecord } from '../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import { requestedTask } from '../protocol/model/kept-task.ts'

const CAPS = { perAccount: 1000, total: 1000 }

/**
 * Checks that a store of tasks keeps the rules of `TaskStore`. Rejects with the first rule that it breaks.
 *
 * @example
 * await checkTaskStore(() => myStore())
 *
 * @param make creates an empty store
 */
export async function checkTaskStore(make: () => TaskStore | Promise<TaskStore>): Promise<void> {
  for (const check of TASK_RULES) await check(await make())
}

/** All rules. Each needs a store without tasks, and leaves its tasks behind. */
export const TASK_RULES: readonly ((store: TaskStore) => Promise<void>)[] = [
  keepsTasks,
  separatesOwners,
  comparesEditions,
  givesHeads,
  renewsLeases,
  hasLimits,
  findsNeglected,
  listsInOrder,
  survivesOddIds,
]

async function keepsTasks(store: TaskStore): Promise<void> {
  const task = sampleTask('a')
  expectEqual('create of a task', await store.create(task, CAPS), undefined)
  expectEqual('read after create', await store.read('o', 'a'), task)
  const next: TaskRecord = { ...task, edition: 2, status: 'completed', outcome: { result: { content: [] } } }
  expectEqual('replace', await store.replace(next), true)
  expectEqual('read after replace', await store.read('o', 'a'), next)
  await store.remove('o', 'a')
  expectEqual('read after remove', await store.read('o', 'a'), undefined)
  expectEqual('replace after remove', await store.replace({ ...next, edition: 3 }), false)
  await store.remove('o', 'a')
}

async function separatesOwners(store: TaskStore): Promise<void> {
  await store.create(sampleTask('a'), CAPS)
  for (const other of ['', 'O', 'other']) {
    expectEqual('read by another owner', await store.read(other, 'a'), undefined)
    expectEqual('list of another owner', await store.list(other), [])
    await store.remove(other, 'a')
  }
  expectEqual('replace by another owner', await store.replace(sampleTask('a', { owner: 'other', edition: 2 })), false)
  expectEqual('read by its owner', (await store.read('o', 'a'))?.taskId, 'a')
}

/** Of several changes at the same time, one is made. */
async function comparesEditions(store: TaskStore): Promise<void> {
  await store.create(sampleTask('a'), CAPS)
  const changes = await Promise.all(['x', 'y', 'z'].map((statusMessage) => store.replace(sampleTask('a', { edition: 2, statusMessage }))))
  expectEqual('changes of one edition', changes.filter(Boolean).length, 1)
  const kept = ['x', 'y', 'z'][changes.indexOf(true)]
  expectEqual('the change that was made', (await store.read('o', 'a'))?.statusMessage, kept)
  expectEqual('replace of an old edition', await store.replace(sampleTask('a', { edition: 2 })), false)
  expectEqual('replace that skips an edition', await store.replace(sampleTask('a', { edition: 4 })), false)
}

/** A head says what a list shows and what tending needs. */
async function givesHeads(store: TaskStore): Promise<void> {
  expectEqual('head of no task', await store.head('o', 'a'), undefined)
  const saidOf = (head: TaskHead | undefined): unknown => {
    if (!head) return undefined
    const { owner, account, edition, tool, lease } = head
    return { ...requestedTask(head), owner, account, edition, tool, lease }
  }
  const task = sampleTask('a', { statusMessage: 'half' })
  await store.create(task, CAPS)
  const result = { isError: true, content: [{ type: 'text', text: 'no' }] }
  const changes = [sampleTask('a', { edition: 2 }), sampleTask('a', { edition: 3, status: 'completed', outcome: { result } })]
  for (const change of [task, ...changes]) {
    if (change !== task) await store.replace(change)
    expectEqual('head', saidOf(await store.head('o', 'a')), saidOf(change))
    expectEqual('task in a list', saidOf((await store.list('o'))[0]), saidOf(change))
    expectEqual('neglected task', saidOf((await store.neglected(Number.MAX_SAFE_INTEGER))[0]), saidOf(change))
  }
  expectEqual('head of a task of another owner', await store.head('other', 'a'), undefined)
}

async function renewsLeases(store: TaskStore): Promise<void> {
  const task = sampleTask('a', { lease: { holder: 'h', epoch: 2, until: 1 } })
  await store.create(task, CAPS)
  for (const lease of [
    { holder: 'h', epoch: 1, until: 9 },
    { holder: 'i', epoch: 2, until: 9 },
  ])
    expectEqual('renew of a lease that is over', await store.renew('o', 'a', lease), false)
  expectEqual('renew by another owner', await store.renew('other', 'a', task.lease), false)
  const renewed: TaskRecord = { ...task, lease: { ...task.lease, until: 5 } }
  expectEqual('renew', await store.renew('o', 'a', renewed.lease), true)
  expectEqual('read after renew', await store.read('o', 'a'), renewed)
  const isNeglected = async (now: number): Promise<boolean> => (await store.neglected(now)).length > 0
  expectEqual('neglected before and after the end of the new lease', [await isNeglected(4), await isNeglected(5)], [false, true])
  const changed = { ...task, edition: 2, statusMessage: 'half' }
  expectEqual('replace that was prepared before renew', await store.replace(changed), true)
  expectEqual('read after a replace that was prepared before renew', await store.read('o', 'a'), { ...changed, lease: renewed.lease })
  const taken = { ...changed, edition: 3, lease: { holder: 'i', epoch: 3, until: 7 } }
  expectEqual('replace after renew', await store.replace(taken), true)
  expectEqual('read after another process took the task', await store.read('o', 'a'), taken)
  expectEqual('renew after another process took the task', await store.renew('o', 'a', task.lease), false)
  await store.replace({ ...taken, edition: 4, status: 'cancelled' })
  expectEqual('renew of a task that has ended', await store.renew('o', 'a', taken.lease), false)
}

async function hasLimits(store: TaskStore): Promise<void> {
  const caps = { perAccount: 2, total: 3 }
  const refusals = await Promise.all(['a', 'b', 'c'].map((id) => store.create(sampleTask(id), caps)))
  expectEqual('three tasks of an account that may have two', refusals.filter((each) => each === 'account-full').length, 1)
  expectEqual('a task of another account', await store.create(sampleTask('d', { account: 'y' }), caps), undefined)
  expectEqual('a task too many', await store.create(sampleTask('e', { account: 'z' }), caps), 'store-full')
  expectEqual('read of a refused task', await store.read('o', 'e'), undefined)
  await store.remove('o', 'd')
  expectEqual('create after remove', await store.create(sampleTask('e', { account: 'z' }), caps), undefined)
}

async function findsNeglected(store: TaskStore): Promise<void> {
  const now = 1_000_000
  const lease = { holder: 'h', epoch: 1, until: now + 1 }
  const base = { createdAt: now - 10, ttlMs: 1000, lease }
  await store.create(sampleTask('running', base), CAPS)
  await store.create(sampleTask('old', { ...base, ttlMs: 10 }), CAPS)
  await store.create(sampleTask('left', { ...base, lease: { ...lease, until: now } }), CAPS)
  await store.create(sampleTask('done', { ...base, status: 'completed', lease: { ...lease, until: 0 } }), CAPS)
  expectEqual('neglected tasks', (await store.neglected(now)).map(({ taskId }) => taskId).sort(), ['left', 'old'])
}

async function listsInOrder(store: TaskStore): Promise<void> {
  for (const [at, id] of ['c', 'a', 'b'].entries()) await store.create(sampleTask(id, { createdAt: at }), CAPS)
  await store.replace(sampleTask('c', { createdAt: 0, edition: 2 }))
  expectEqual(
    'tasks in order of creation',
    (await store.list('o')).map(({ taskId }) => taskId),
    ['c', 'a', 'b'],
  )
}

/** Clients choose the ids that are looked up. */
async function survivesOddIds(store: TaskStore): Promise<void> {
  const task = sampleTask('a')
  await store.create(task, CAPS)
  for (const id of ['', '..', '../a', 'a/../a', 'a\0', '__proto__', 'A'.repeat(10_000), 'ä ', 'a.json']) {
    const name = JSON.stringify(id.slice(0, 20))
    expectEqual(`read of ${name}`, await store.read('o', id), undefined)
    expectEqual(`head of ${name}`, await store.head('o', id), undefined)
    expectEqual(`renew of ${name}`, await store.renew('o', id, { holder: 'h', epoch: 1, until: 1 }), false)
    await store.remove('o', id)
  }
  expectEqual('read after operations with other ids', await store.read('o', 'a'), task)
}

export function sampleTask(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId,
    owner: 'o',
    account: 'x',
    edition: 1,
    tool: 'work',
    params: { name: 'work' },
    caller: { client: undefined, capabilities: {}, auth: undefined, revision: '' },
    status: 'working',
    createdAt: 0,
    updatedAt: 0,
    ttlMs: 1000,
    pollIntervalMs: 1000,
    questions: {},
    received: {},
    journal: { callId: 'c', asked: {}, answers: {}, steps: {} },
    lease: { holder: 'h', epoch: 1, until: Number.MAX_SAFE_INTEGER },
    runs: 1,
    ...more,
  }
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [found, expected].map((value) => (value === undefined ? 'nothing' : comparableJson(JSON.parse(JSON.stringify(value)))))
  if (a !== b) throw new Error(`TaskStore, ${what}: expected ${b}, got ${a}`)
}
