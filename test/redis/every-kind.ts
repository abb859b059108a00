/** Puts something of every kind into a store in Redis: every key of the table in docs/redis.md. */

import { expect } from 'vitest'
import type { RedisStore } from '../../src/redis/index.ts'
import { sampleTask } from '../../src/testing/check-task-store.ts'

const BOUNDS = { maxEvents: 100, maxBytes: 100_000, maxSessionBytes: 100_000_000, endedTtlMs: 60_000, maxEnded: 16 }

/** @param lifeMs of the session and the counters. A task stays a minute longer than that, so it is not part of this. */
export async function useEveryKind(a: RedisStore, b: RedisStore, sid: string, lifeMs: number): Promise<void> {
  await a.sessions.create(sid, '{}', { ttlMs: lifeMs, maxAgeMs: lifeMs })
  await a.topics.add(`topic of ${sid}`, sid, lifeMs)
  await b.sessions.enter(sid, '1', 10)
  const epoch = (await b.streams.open(sid, 'r1', '{}')) as number
  await b.streams.append(sid, 'r1', { n: 1, epoch, events: [{ json: '1', question: 'q' }] }, BOUNDS)
  await a.streams.answer(sid, 'r1', 'q', '{}')
  await b.streams.record(sid, 'r1', epoch, 'step', '{}')
  const over = (await b.streams.open(sid, 'r2', '{}')) as number
  await b.streams.append(sid, 'r2', { n: 1, epoch: over, events: [{ json: '1' }], isLast: true }, BOUNDS)
  await a.streams.append(sid, '0', { n: 1, events: [{ json: '1', coalesce: 'x' }] }, BOUNDS)
  await a.streams.attach(sid, '0', undefined, 10)
  // The first notice was read just now. This one is not.
  await a.streams.append(sid, '0', { n: 2, events: [{ json: '2', coalesce: 'x' }] }, BOUNDS)
  await a.replica.send(b.replica.id, '{}')
  const { counters } = a
  await counters.take(sid, { perSecond: 1, burst: 1 })
  await counters.hold(sid, 'me', 1, 2, lifeMs)
  await counters.first(sid, lifeMs)
  await counters.lock(sid, lifeMs)
  await counters.keep(`kept ${sid}`, 'x', lifeMs)
  await counters.put(`put ${sid}`, 'x', lifeMs)
}

export const taskOf = (sid: string) => sampleTask(`task-${sid}`, { owner: sid, account: sid, createdAt: Date.now(), ttlMs: 1000 })

/** Every key of the documentation, and that each of them expires. */
export async function expectEveryKind(names: readonly string[], ttlOf: (name: string) => Promise<number>): Promise<void> {
  const kinds = [
    'session',
    'calls',
    'streams',
    'stream:r1',
    'log:r1',
    'log:r2',
    'stream:0',
    'dirty:0',
    'lease',
    'inbox',
    'runs',
    'claim',
    'sizes',
    'ends',
  ]
  for (const kind of kinds)
    expect(
      names.some((name) => name.endsWith(`}:${kind}`)),
      kind,
    ).toBe(true)
  for (const kind of ['replicas', 'topic:', 'rate:', 'places:', 'mark:', 'lock:', 'value:', 'account:', '{tasks:', 'tasks'])
    expect(
      names.some((name) => name.replace(/^[a-z]+:/, '').startsWith(kind)),
      kind,
    ).toBe(true)
  const lasting: string[] = []
  for (const name of names) if ((await ttlOf(name)) === -1) lasting.push(name)
  expect(lasting).toEqual([])
}
