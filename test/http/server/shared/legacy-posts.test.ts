/** POSTs of 2024-11-05 that wait for another replica: how many, how long, and what their clients are told. */

import { expect, test } from 'vitest'
import type { LegacySse } from '../../../../src/http/server/legacy-sse.ts'
import type { Refusal } from '../../../../src/http/server/refusal.ts'
import { LegacyPosts } from '../../../../src/http/server/shared/legacy-posts.ts'
import { ReplicaMessages } from '../../../../src/http/server/shared/replica-messages.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import { markNotRun } from '../../../../src/store/faults.ts'
import { memoryStore } from '../../../../src/store/index.ts'
import { fakeClock } from '../../../../src/testing/index.ts'

/** POSTs of a replica to another one, which hears them and answers when it is asked to. */
async function passing() {
  const store = memoryStore()
  const other = store.another()
  await Promise.all([store.replica.join(), other.replica.join()])
  const heard: { from: string; n: number }[] = []
  other.replica.listen((message) => message.kind === 'message' && heard.push(JSON.parse(message.json)))
  const clock = fakeClock()
  const posts = new LegacyPosts(store.replica, new ReplicaMessages(store.replica))
  const endpoint = { has: () => false } as unknown as LegacySse
  posts.add(endpoint)
  const post = { id: 'x', message: { kind: 'notification', method: 'n/x', params: undefined }, principal: undefined, access: null } as const
  const pass = (at = endpoint): Promise<Refusal | undefined> => posts.pass(at, other.replica.id, post, 10, clock)
  const answer = (n: number | undefined): Promise<boolean> =>
    other.replica.send(store.replica.id, JSON.stringify({ kind: 'legacy answer', n }))
  return { replica: store.replica, other: other.replica, posts, endpoint, clock, heard, post, pass, answer }
}

const SILENT = { status: 503, message: expect.stringContaining('did not answer') }

test('1,000 POSTs may wait for other replicas, and the refusal of one more names the limit', async () => {
  const { pass, heard, answer } = await passing()
  const waiting = Array.from({ length: 1000 }, () => pass())
  expect(await pass()).toMatchObject({ status: 503, data: { reason: 'limit', limit: 'maxPassedMessages', max: 1000 } })
  await expect.poll(() => heard.length).toBe(1000)
  await answer(heard[0]?.n)
  expect(await waiting[0]).toBeUndefined()
  const more = pass()
  await expect.poll(() => heard.length).toBe(1001)
  await answer(heard[1000]?.n)
  expect(await more).toBeUndefined()
})

test('a client learns that the other replica did not answer, and is not asked to send its message again', async () => {
  const { pass, heard, clock } = await passing()
  const waiting = pass()
  await expect.poll(() => heard.length).toBe(1)
  await clock.advance(5000)
  expect(await waiting).toEqual(SILENT)
})

test('the POSTs of an endpoint that closes wait no longer, and those of another one do', async () => {
  const { posts, endpoint, pass, heard, answer } = await passing()
  const other = { has: () => false } as unknown as LegacySse
  posts.add(other)
  const [closing, staying] = [pass(), pass(other)]
  await expect.poll(() => heard.length).toBe(2)
  posts.remove(endpoint)
  expect(await closing).toEqual(SILENT)
  await answer(heard[1]?.n)
  expect(await staying).toBeUndefined()
})

test('the answer is awaited if the store has the message and only its reply was lost', async () => {
  const { replica, pass, heard, answer } = await passing()
  const send = replica.send.bind(replica)
  replica.send = async (...args) => {
    await send(...args)
    throw new McpError('ERR_STORE_DOWN', 'No reply')
  }
  const waiting = pass()
  await expect.poll(() => heard.length).toBe(1)
  await answer(heard[0]?.n)
  expect(await waiting).toBeUndefined()
  replica.send = async () => {
    throw markNotRun(new McpError('ERR_STORE_DOWN', 'No connection'))
  }
  await expect(pass()).rejects.toThrow('No connection')
})

test('a message that the store delivers twice is taken once, and answered each time', async () => {
  const { posts, endpoint, other, heard, post } = await passing()
  let taken = 0
  const takePassed = (...[, , , , accept]: Parameters<LegacySse['takePassed']>): undefined => {
    taken++
    accept()
  }
  Object.assign(endpoint, { has: () => true, takePassed })
  for (let time = 0; time < 2; time++) posts.take({ kind: 'legacy', from: other.id, n: 1, ...post }, 10)
  await expect
    .poll(() => heard)
    .toEqual([
      { kind: 'legacy answer', n: 1 },
      { kind: 'legacy answer', n: 1 },
    ])
  expect(taken).toBe(1)
})
