import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelPart } from '../../../src/host/language-models/language-model.ts'
import { type BrokerOptions, createBroker } from '../../../src/host/sampling/broker.ts'
import { Budget, fileBudgetStore, memoryBudgetStore } from '../../../src/host/sampling/budget.ts'
import { Declined } from '../../../src/protocol/errors.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'
import { ask, openGate, question, spyModel } from './gates.ts'

const folder = temporaryFolders()
const HOUR_MS = 3_600_000
const NOON = 20_000 * 24 * HOUR_MS + 12 * HOUR_MS

function timed(options: Partial<BrokerOptions> = {}) {
  const time = { now: NOON }
  const model = spyModel()
  return { time, model, broker: createBroker({ models: [model], gate: openGate(), now: () => time.now, ...options }) }
}

describe('the budget of a server', () => {
  test('a server has 20 requests an hour, and the next is refused until the first is an hour old', async () => {
    proves('T-SAMP-043')
    const { time, model, broker } = timed()
    for (let i = 0; i < 20; i++) await ask(broker, 'notes')
    expect(await broker.budgetLeft('notes')).toMatchObject({ requestsLeft: 0 })
    await expect(ask(broker, 'notes')).rejects.toMatchObject({
      code: 'ERR_BUDGET',
      message: 'The server notes has used up its sampling budget: 20 requests per hour (requestsPerHour)',
      data: { limit: 'requestsPerHour', retryAfterMs: HOUR_MS },
    })
    expect(model.asked).toHaveLength(20)
    time.now += HOUR_MS - 1
    await expect(ask(broker, 'notes')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
    time.now += 1
    await ask(broker, 'notes')
  })

  test('each server has its own budget', async () => {
    const { broker } = timed({ budget: (server) => ({ requestsPerHour: server === 'poor' ? 1 : 2 }) })
    await ask(broker, 'poor')
    await expect(ask(broker, 'poor')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
    await ask(broker, 'rich')
    await ask(broker, 'rich')
    await expect(ask(broker, 'rich')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
  })

  test('denied requests use the budget too, because each was a question', async () => {
    const gate = openGate({
      create: () => {
        throw new Declined('')
      },
    })
    const { broker } = timed({ gate, budget: { requestsPerHour: 2 } })
    await expect(ask(broker, 'notes')).rejects.toBeInstanceOf(Declined)
    await expect(ask(broker, 'notes')).rejects.toBeInstanceOf(Declined)
    await expect(ask(broker, 'notes')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
    expect(gate.created).toHaveLength(2)
    // No model was asked, so that no token was used.
    expect(await broker.budgetLeft('notes')).toMatchObject({ tokensLeft: 100_000 })
  })

  test('the token budget limits the answer, and refuses requests when it is used up', async () => {
    const { time, model, broker } = timed({ budget: { tokensPerDay: 60 } })
    await ask(broker, 'notes')
    expect(await broker.budgetLeft('notes')).toMatchObject({ tokensLeft: 45 })
    await ask(broker, 'notes')
    // The prompt is about 24 tokens long.
    expect(model.asked.map(({ maxTokens }) => maxTokens)).toEqual([expect.any(Number), expect.any(Number)])
    expect(Number(model.asked[1]?.maxTokens)).toBe(Number(model.asked[0]?.maxTokens) - 15)
    await ask(broker, 'notes')
    await expect(ask(broker, 'notes')).rejects.toMatchObject({
      code: 'ERR_BUDGET',
      message: expect.stringContaining('60 tokens per day (tokensPerDay)'),
      data: { limit: 'tokensPerDay', retryAfterMs: 12 * HOUR_MS },
    })
    time.now += 12 * HOUR_MS
    await ask(broker, 'notes')
  })

  test('tokens of a model that broke off or does not report usage are counted', async () => {
    const silent: ModelPart = { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }
    for (const parts of [[{ type: 'text', text: 'x'.repeat(400) }], [{ type: 'text', text: 'x'.repeat(400) }, silent]] as ModelPart[][]) {
      const { broker } = timed({ models: [spyModel(parts)] })
      await ask(broker, 'notes').catch(() => {})
      const { tokensLeft } = await broker.budgetLeft('notes')
      expect(tokensLeft).toBeLessThanOrEqual(100_000 - 100)
      expect(tokensLeft).toBeGreaterThan(100_000 - 200)
    }
  })

  test('an image counts with its tokens, not with its bytes', async () => {
    const { broker } = timed()
    const image = { type: 'image' as const, data: 'A'.repeat(1_000_000), mimeType: 'image/png' }
    await ask(broker, 'notes', { ...question(), messages: [{ role: 'user', content: image }] })
  })
})

test('parallel requests never reserve more than the budget', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          promptTokens: fc.nat(40),
          maxTokens: fc.integer({ min: 1, max: 60 }),
          used: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        {
          maxLength: 30,
        },
      ),
      fc.scheduler(),
      async (wishes, scheduler) => {
        const budget = new Budget(
          memoryBudgetStore(),
          () => ({ requestsPerHour: 10, tokensPerDay: 200 }),
          () => NOON,
        )
        let promised = 0
        let used = 0
        let requests = 0
        const runs = wishes.map(async ({ promptTokens, maxTokens, used: share }) => {
          await scheduler.schedule(Promise.resolve())
          const reservation = await budget.reserve('s', { promptTokens, maxTokens }).catch((error) => {
            expect(error).toMatchObject({ code: 'ERR_BUDGET' })
          })
          if (!reservation) return
          requests++
          const reserved = promptTokens + reservation.maxTokens
          promised += reserved
          expect(used + promised).toBeLessThanOrEqual(200)
          await scheduler.schedule(Promise.resolve())
          const tokens = Math.floor(share * reserved)
          promised -= reserved
          used += tokens
          await reservation.settle(tokens)
        })
        await scheduler.waitFor(Promise.all(runs))
        expect(requests).toBeLessThanOrEqual(10)
        expect(await budget.left('s')).toEqual({ tokensLeft: 200 - used, requestsLeft: 10 - requests })
      },
    ),
    { numRuns: 50 },
  )
})

describe('a budget in a file', () => {
  test('a budget in a file is shared by all processes and survives them', async () => {
    const file = join(folder(), 'budget.json')
    const brokers = [1, 2].map(() => timed({ store: fileBudgetStore(file), budget: { requestsPerHour: 4 } }).broker)
    await Promise.all(brokers.flatMap((broker) => [ask(broker, 'notes'), ask(broker, 'notes')]))
    const later = timed({ store: fileBudgetStore(file), budget: { requestsPerHour: 4 } })
    expect(await later.broker.budgetLeft('notes')).toEqual({ requestsLeft: 0, tokensLeft: 100_000 - 60 })
    await expect(ask(later.broker, 'notes')).rejects.toMatchObject({ code: 'ERR_BUDGET' })
  })

  test('an unreadable budget file refuses all requests, and the server does not learn its path', async () => {
    const file = join(folder(), 'budget.json')
    writeFileSync(file, '{"notes": "lots"}', { mode: 0o600 })
    const failures: unknown[] = []
    const { model, broker } = timed({ store: fileBudgetStore(file), onFailure: (_server, error) => failures.push(error) })
    await expect(ask(broker, 'notes')).rejects.toMatchObject({ code: 'ERR_INTERNAL', message: 'The sampling request failed' })
    expect(failures).toMatchObject([{ code: 'ERR_STORE' }])
    expect(model.asked).toEqual([])
  })

  test('a budget in a file forgets servers without a request for days', async () => {
    const store = fileBudgetStore(join(folder(), 'budget.json'))
    const { time, broker } = timed({ store })
    await ask(broker, 'old')
    time.now += 3 * 24 * HOUR_MS
    await ask(broker, 'new')
    expect(await store.read('old')).toBeUndefined()
    expect(await store.read('new')).toBeDefined()
  })
})
