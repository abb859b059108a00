import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createServer, ToolError } from '../../src/server/index.ts'
import { memoryTaskStore, type TaskChange, type TaskStore, tasks } from '../../src/tasks/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { counted, proofRuns } from '../support/proof.ts'
import type { Message } from '../support/raw-channel.ts'
import { type ExtensionClient, extensionClient } from './task-server.ts'

const TTL_MS = 10_000
const LEASE_MS = 1000
const RUNS = proofRuns(60)
const TIMEOUT_MS = 30_000 + RUNS * 1500
const FINAL = new Set(['completed', 'failed', 'cancelled'])

/** One run of a handler, which the test controls from outside. */
interface Work {
  process: number
  signal: AbortSignal
  ask(): void
  progress(): void
  step(): void
  end(error?: Error): void
}

/** Processes that share a store. Earlier ones are not closed: they behave like processes that hang and then go on. */
class World {
  readonly clock: FakeClock = fakeClock()
  readonly store: TaskStore = { ...slowly(memoryTaskStore()), isShared: true }
  readonly changes: TaskChange[] = []
  readonly works: Work[] = []
  readonly tasks: { taskId: string; createdAt: number }[] = []
  readonly ended = new Map<string, Message>()
  client: ExtensionClient = undefined as never
  processes = 0

  constructor() {
    this.restart()
  }

  restart(): void {
    const own = ++this.processes
    const server = createServer({
      name: 'world',
      version: '1',
      clock: this.clock,
      onError: () => {},
      limits: { toolCalls: false },
    })
    server.extend(
      tasks({
        store: this.store,
        ttlMs: TTL_MS,
        leaseMs: LEASE_MS,
        afterMs: 5,
        limits: { taskRequests: false },
        onChange: (change) => this.changes.push(change),
      }),
    )
    let number = 0
    const handler = (_args: unknown, ctx: Parameters<Parameters<typeof server.tool>[2]>[1]): Promise<string> =>
      new Promise((resolve, reject) => {
        const quiet = (promise: Promise<unknown>): void => void promise.catch(() => {})
        this.works.push({
          process: own,
          signal: ctx.signal,
          ask: () => quiet(ctx.elicit(`q${number++}`, 'Yes?', { type: 'object', properties: {} })),
          progress: () => quiet(ctx.progress(number++)),
          step: () => quiet(ctx.once(`s${number++}`, () => 1)),
          end: (error) => (error ? reject(error) : resolve(`done ${number}`)),
        })
      })
    server.tool('once', { task: 'required' }, handler)
    server.tool('again', { task: 'required', restartable: true }, handler)
    server.tool('later', { task: 'optional' }, handler)
    this.client = extensionClient(server)
  }

  async call(tool: string): Promise<void> {
    const answer = this.client.call(tool)
    await this.turn(5)
    const { result } = await Promise.race([answer, turn().then(() => ({}) as Message)])
    if (result?.taskId) this.tasks.push({ taskId: result.taskId, createdAt: this.clock.now() })
  }

  async answer(taskId: string): Promise<void> {
    const { inputRequests = {} } = (await this.client.get(taskId)) ?? {}
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: {} }]))
    await this.client.request('tasks/update', { taskId, inputResponses })
  }

  async cancel(taskId: string): Promise<void> {
    const before = await this.client.get(taskId)
    await this.client.request('tasks/cancel', { taskId })
    if (before && !FINAL.has(before.status)) expect(FINAL.has((await this.client.get(taskId))?.status)).toBe(true)
  }

  async turn(ms: number): Promise<void> {
    await this.clock.advance(ms)
    await turn()
  }

  /** What must hold after every step. */
  async check(): Promise<void> {
    const finals = new Map<string, number>()
    for (const { taskId, status } of this.changes) {
      expect(finals.get(taskId), `a change of ${taskId} after its end`).toBeUndefined()
      if (FINAL.has(status)) finals.set(taskId, 1)
    }
    for (const { taskId, createdAt } of this.tasks) {
      const { result: task, error } = await this.client.request('tasks/get', { taskId })
      if (this.clock.now() >= createdAt + TTL_MS + 10) expect(error?.code, 'a task after its time').toBe(-32602)
      if (!task) continue
      const known = this.ended.get(taskId)
      if (known) expect(task).toEqual(known)
      else if (FINAL.has(task.status)) this.ended.set(taskId, task)
    }
  }
}

/** Every operation takes some turns, so that operations of several processes overlap. */
function slowly(store: TaskStore): TaskStore {
  const later =
    <A extends unknown[], R>(operation: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await Promise.resolve()
      const result = await operation(...args)
      await Promise.resolve()
      return result
    }
  const { create, read, head, replace, renew, remove, list, neglected } = store
  return {
    isShared: true,
    create: later(create),
    read: later(read),
    head: later(head),
    replace: later(replace),
    renew: later(renew),
    remove: later(remove),
    list: later(list),
    neglected: later(neglected),
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))

const index = fc.nat(5)
const step = fc.oneof(
  fc.record({ do: fc.constant('call' as const), tool: fc.constantFrom('once', 'again', 'later') }),
  fc.record({ do: fc.constantFrom('ask' as const, 'progress' as const, 'step' as const, 'finish' as const, 'fail' as const), at: index }),
  fc.record({ do: fc.constantFrom('answer' as const, 'cancel' as const), at: index }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 250, LEASE_MS + 1, TTL_MS) }),
  fc.record({ do: fc.constant('restart' as const) }),
)

test(
  'whatever happens in which order, a task ends once, and nothing is recorded after its end',
  async () => {
    let ended = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const world = new World()
        await world.call('again')
        for (const each of steps) {
          const work = 'at' in each ? world.works[each.at % Math.max(1, world.works.length)] : undefined
          const task = 'at' in each ? world.tasks[each.at % Math.max(1, world.tasks.length)] : undefined
          if (each.do === 'call') await world.call(each.tool)
          else if (each.do === 'wait') await world.turn(each.ms)
          else if (each.do === 'restart') world.restart()
          else if (each.do === 'answer') task && (await world.answer(task.taskId))
          else if (each.do === 'cancel') task && (await world.cancel(task.taskId))
          else if (each.do === 'finish') work?.end()
          else if (each.do === 'fail') work?.end(new ToolError('no'))
          else work?.[each.do]()
          await world.turn(0)
          await world.check()
        }
        // The processes of the past are gone, and time passes: their tasks are taken over, and then they end.
        world.restart()
        await world.turn(LEASE_MS * 2)
        for (const work of world.works) work.end()
        await world.turn(LEASE_MS)
        for (const { taskId } of world.tasks) await world.cancel(taskId)
        await world.turn(0)
        await world.check()
        for (const { taskId } of world.tasks) {
          const task = await world.client.get(taskId)
          if (task) expect(FINAL.has(task.status)).toBe(true)
        }
        ended += world.ended.size
        await world.turn(TTL_MS)
        await world.check()
        for (const { signal, process } of world.works)
          if (process === world.processes) expect(signal.aborted || world.ended.size > 0).toBe(true)
      }),
      { numRuns: RUNS },
    )
    counted({ interleavings: RUNS, 'tasks that ended': ended })
    expect(ended).toBeGreaterThan(50)
  },
  TIMEOUT_MS,
)
