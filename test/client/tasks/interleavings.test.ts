import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TaskHandle } from '../../../src/client/index.ts'
import { counted, proofRuns } from '../../support/proof.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { DONE, FORMS, type Form, pass, type Scripted, scripted, taskIn } from './scripted-tasks.ts'

const FINAL = ['completed', 'failed', 'cancelled']
const STATUSES = ['working', 'input_required', ...FINAL]
const ask = { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'object', properties: {} } } }

type Step =
  | { kind: 'set'; status: string }
  | { kind: 'notify'; status: string; isOld: boolean }
  | { kind: 'answer' | 'cancel' | 'abort' | 'leave' | 'lose' }
  | { kind: 'pass'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), status: fc.constantFrom(...STATUSES) }),
  fc.record({ kind: fc.constant('notify' as const), status: fc.constantFrom(...STATUSES), isOld: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom('answer' as const, 'answer' as const, 'cancel' as const, 'abort' as const, 'leave' as const, 'lose' as const),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(50, 1000, 5000) }),
)

/** A server that answers requests about its task when the test says so, in any order, with what is true then. */
class World {
  readonly form: Form
  readonly abort = new AbortController()
  readonly outcomes: unknown[] = []
  readonly seen: string[] = []
  readonly unanswered: { id: unknown; method: string }[] = []
  status = 'working'
  scripted: Scripted = undefined as never
  task: TaskHandle = undefined as never
  loop: Promise<unknown> = Promise.resolve()

  constructor(form: Form) {
    this.form = form
  }

  async open(): Promise<void> {
    const later = (_params: Message, { id, method }: Message): undefined => void this.unanswered.push({ id, method })
    this.scripted = await scripted(
      this.form,
      { 'tasks/get': later, 'tasks/result': later, 'tasks/cancel': later, 'tasks/update': later },
      { answer: { elicit: () => ({ action: 'accept', content: {} }) }, limits: { elicitations: false } },
    )
    this.task = await this.scripted.client.callTask('x', {}, { signal: this.abort.signal, timeoutMs: 3000, maxTotalMs: 60_000 })
    const record = (outcome: unknown) => void this.outcomes.push(outcome)
    this.task.result().then(record, record)
    this.loop = (async () => {
      for await (const { status } of this.task) this.seen.push(status)
    })().catch(() => {})
  }

  /** The task as it is now. */
  view(status = this.status): Message {
    return taskIn(this.form, {
      status,
      ...(status === 'input_required' && { inputRequests: { q: ask } }),
      ...(status === 'completed' && { result: DONE }),
      ...(status === 'failed' && { error: { code: 7, message: 'no' } }),
    })
  }

  answer({ id, method }: { id: unknown; method: string }): void {
    const isOver = FINAL.includes(this.status)
    const send = (message: Message): void => this.scripted.script.send({ jsonrpc: '2.0', id, ...message })
    const type = this.form === '2026-07-28' ? { resultType: 'complete' } : {}
    if (method === 'tasks/get') return send({ result: { ...type, ...this.view() } })
    if (method === 'tasks/update') return send({ result: type })
    if (method === 'tasks/cancel') {
      if (isOver && this.form === '2025-11-25') return send({ error: { code: -32602, message: 'ended' } })
      if (!isOver) this.status = 'cancelled'
      return send({ result: this.form === '2025-11-25' ? this.view() : type })
    }
    send(this.status === 'completed' ? { result: DONE } : { error: { code: 7, message: 'no' } })
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'set') this.status = step.status
    if (step.kind === 'notify') {
      const params = { ...this.view(step.status), lastUpdatedAt: step.isOld ? '2020-01-01T00:00:00.000Z' : '2026-01-01T00:00:01.000Z' }
      const method = this.form === '2025-11-25' ? 'notifications/tasks/status' : 'notifications/tasks'
      this.scripted.script.send({ jsonrpc: '2.0', method, params })
    }
    if (step.kind === 'answer') for (const request of this.unanswered.splice(0, 1)) this.answer(request)
    if (step.kind === 'lose') for (const { id } of this.unanswered.splice(0, 1)) this.scripted.script.lose(id, new Error('lost'))
    if (step.kind === 'cancel') void this.task.cancel().catch(() => {})
    if (step.kind === 'abort') this.abort.abort(new Error('enough'))
    if (step.kind === 'leave') this.task.leave()
    await pass(this.scripted, step.kind === 'pass' ? step.ms : 1, step.kind === 'pass' ? step.ms : 1)
  }

  /** The server answers everything, until the client asks nothing more. */
  async settle(): Promise<void> {
    for (let i = 0; i < 40 && this.outcomes.length === 0; i++) {
      for (const request of this.unanswered.splice(0)) this.answer(request)
      await pass(this.scripted, 2000, 1000)
    }
  }
}

test('any interleaving of answers, notifications and cancellation leaves exactly one outcome', async () => {
  proves('R-TASK-041', 'R-TASK-042', 'R-TASK-100', 'R-TASK-034', 'R-TASK-035', 'R-TASK-023')
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...FORMS), fc.array(step, { maxLength: 25 }), async (form, steps) => {
      const world = new World(form)
      await world.open()
      for (const each of steps) await world.run(each)
      await world.settle()
      expect(world.outcomes).toHaveLength(1)
      await world.loop
      const { status } = world.task
      const [outcome] = world.outcomes as [{ code?: unknown; content?: unknown }]
      // Once the outcome is there, nothing changes it, and the client asks nothing more.
      const asked = world.scripted.script.received.filter(({ method }) => method === 'tasks/get').length
      for (const changed of STATUSES) await world.run({ kind: 'notify', status: changed, isOld: false })
      await pass(world.scripted, 70_000, 10_000)
      expect(world.task.status).toBe(status)
      expect(world.outcomes).toEqual([outcome])
      expect(world.scripted.script.received.filter(({ method }) => method === 'tasks/get').length).toBeLessThanOrEqual(asked + 1)
      // A loop sees at most one final status, and it is the last.
      const finals = world.seen.filter((each) => FINAL.includes(each))
      expect(finals.length).toBeLessThanOrEqual(1)
      if (finals.length > 0) expect(world.seen.at(-1)).toBe(finals[0])
      // The outcome fits the status.
      if ('content' in outcome) expect(status).not.toBe('cancelled')
      if (outcome.code === 'ERR_CANCELLED') expect(status).toBe('cancelled')
      counted({ 'followed tasks': 1, 'tasks with a result': 'content' in outcome ? 1 : 0 })
      await world.scripted.client.close()
    }),
    { numRuns: proofRuns(150) },
  )
}, 300_000)
