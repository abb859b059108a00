/** Appends, takeovers and resent batches in any order, on every store, compared with a model. */

import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { redis } from '../../src/redis/index.ts'
import { type Batch, memoryStore, type SharedStore } from '../../src/store/index.ts'
import { counted, proofRuns } from '../support/proof.ts'
import { redisOfFile } from '../support/redis-server.ts'

const BOUNDS = { maxEvents: 6, maxBytes: 1e6, maxSessionBytes: 100_000_000, endedTtlMs: 60_000, maxEnded: 16 }
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }
const REPLICAS = 3

type Step =
  /** A new batch. */
  | { kind: 'append'; by: number; events: number; isLast: boolean }
  /** The last or an older batch once more, as after a lost reply or from a slow network. */
  | { kind: 'resend'; by: number; back: number }
  | { kind: 'takeOver'; by: number; from: number }
  /** Asks in an event, and answers twice. */
  | { kind: 'ask'; by: number }
  | { kind: 'answer'; by: number }
  /** Resumes at a position that a client may have. */
  | { kind: 'resume'; by: number; back: number }

/** The owner of the stream at that moment, because most steps of others are refused. */
const OWNER = -1

const replica = fc.oneof(fc.integer({ min: 0, max: REPLICAS - 1 }), fc.constant(OWNER))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      by: replica,
      events: fc.integer({ min: 0, max: 3 }),
      isLast: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      by: replica,
      events: fc.integer({ min: 0, max: 2 }),
      isLast: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('resend' as const), by: replica, back: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('takeOver' as const), by: replica, from: replica }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask' as const), by: replica }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('answer' as const), by: replica }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resume' as const), by: replica, back: fc.integer({ min: 0, max: 12 }) }) },
)

interface Sent {
  batch: Batch
  outcome: unknown
}

/** Runs the steps on a store and checks each outcome against the model. Returns how many steps there were of each kind. */
async function play(stores: readonly SharedStore[], steps: readonly Step[]): Promise<void> {
  const sid = randomId()
  await stores[0]!.sessions.create(sid, '{}', LIFE)
  const opened = await stores[0]!.streams.open(sid, 'r1', '{}')
  // The model: who owns the stream, what is in it, and what each replica sent.
  let owner = 0
  let isOver = false
  const epochs: (number | undefined)[] = [opened as number]
  const log: { position: string; json: string }[] = []
  const sent: Sent[][] = Array.from({ length: REPLICAS }, () => [])
  const questions = new Map<string, 'open' | 'answered'>()
  let count = 0

  const append = async (by: number, batch: Batch): Promise<void> => {
    const outcome = await stores[by]!.streams.append(sid, 'r1', batch, BOUNDS)
    if (by === owner && !isOver) {
      expect(outcome).toMatchObject({ positions: batch.events.map(() => expect.any(String)) })
      const { positions } = outcome as { positions: string[] }
      batch.events.forEach(({ json, question }, at) => {
        log.push({ position: positions[at]!, json })
        if (question !== undefined) questions.set(question, 'open')
      })
      isOver = batch.isLast === true
    } else expect(outcome).toBe('fenced')
    sent[by]!.push({ batch, outcome })
  }

  for (const each of steps) {
    const by = each.by === OWNER ? owner : each.by
    // A replica that never owned the stream has no epoch. It tries the one of the owner.
    const own = { n: sent[by]!.length + 1, epoch: epochs[by] ?? epochs[owner]! }
    if (each.kind === 'append') {
      await append(by, {
        ...own,
        events: Array.from({ length: each.events }, () => ({ json: String(count++) })),
        ...(each.isLast && { isLast: true }),
      })
    } else if (each.kind === 'ask') {
      await append(by, { ...own, events: [{ json: String(count), question: `q${count++}` }] })
    } else if (each.kind === 'resend') {
      const again = sent[by]!.at(-1 - each.back)
      if (!again) continue
      const outcome = await stores[by]!.streams.append(sid, 'r1', again.batch, BOUNDS)
      const accepted = sent[by]!.filter((one) => typeof one.outcome === 'object')
      // The last accepted batch is recognised, also after a takeover. Others are refused, and nothing is added twice.
      if (accepted.at(-1) === again) expect(outcome).toMatchObject({ positions: (again.outcome as { positions: string[] }).positions })
      else expect(outcome).toBe('fenced')
    } else if (each.kind === 'takeOver') {
      const from = each.from === OWNER ? owner : each.from
      const taken = await stores[by]!.streams.takeOver(sid, 'r1', stores[from]!.replica.id)
      if (isOver || from !== owner) {
        expect(taken).toBeUndefined()
        continue
      }
      expect(taken?.epoch).toBeGreaterThan(epochs[owner]!)
      expect(taken?.questions.sort()).toEqual(
        [...questions]
          .filter(([, state]) => state === 'open')
          .map(([name]) => name)
          .sort(),
      )
      expect(Object.keys(taken?.answers ?? {}).length).toBe([...questions.values()].filter((state) => state === 'answered').length)
      owner = by
      epochs[by] = taken?.epoch
    } else if (each.kind === 'answer') {
      const [name, state] = [...questions].at(-1) ?? ['none', undefined]
      const outcome = await stores[by]!.streams.answer(sid, 'r1', name, '{}')
      expect(outcome).toBe(state === undefined || isOver ? 'unknown' : state === 'answered' ? 'duplicate' : 'accepted')
      if (outcome === 'accepted') questions.set(name, 'answered')
    } else {
      const from = log.length - each.back
      const after = from <= 0 ? '' : log[from - 1]!.position
      const read = await stores[by]!.streams.attach(sid, 'r1', after, 100)
      // Either everything after the position, or an error. Never a part.
      if (read !== 'lost') expect(read).toMatchObject({ events: log.slice(Math.max(0, from)), isOver })
      else expect(log.length - Math.max(0, from), 'a kept event was refused').toBeGreaterThan(BOUNDS.maxEvents - REPLICAS * 2)
    }
  }
}

const server = redisOfFile()
const opened: SharedStore[] = []
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()))
})

test.each(['memory', 'redis'])(
  'any order of appends, takeovers and resent batches keeps the log right: %s',
  async (kind) => {
    const memory = memoryStore()
    const { url } = await server()
    const stores = Array.from({ length: REPLICAS }, () => (kind === 'memory' ? memory.another() : redis(url, { prefix: 'play:' })))
    opened.push(...stores)
    for (const store of stores) await store.replica.join()
    let steps = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (each) => {
        steps += each.length
        await play(stores, each)
      }),
      { numRuns: proofRuns(150) },
    )
    counted({ [`steps of interleavings on the ${kind} store`]: steps })
  },
  120_000,
)
