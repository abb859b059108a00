/** Tasks that were sealed with keys that this replica does not have. */

import { afterEach, expect, test, vi } from 'vitest'
import { type RedisStore, redis } from '../../src/redis/index.ts'
import { keyRing } from '../../src/server/index.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { taskOf } from './every-kind.ts'

const server = redisOfFile()
const CAPS = { perAccount: 2000, total: 2000 }

const opened: RedisStore[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

/** Two replicas with different keys. */
async function twoReplicas(prefix: string): Promise<[RedisStore, RedisStore]> {
  const { url } = await server()
  const [one, other] = ['one', 'other'].map((word) => redis(url, { prefix, keys: keyRing(`the ${word} secret, of 32 characters or more`) }))
  opened.push(one as RedisStore, other as RedisStore)
  return [one as RedisStore, other as RedisStore]
}

test('what a replica says about a task that it cannot open does not contain the id of the task', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [owner, other] = await twoReplicas('secret-id:')
  const task = taskOf('ada')
  await owner.tasks.create(task, CAPS)
  expect(await other.tasks.list(task.owner)).toEqual([])
  const error = await other.tasks.read(task.owner, task.taskId).catch(({ code, message }) => `${code}: ${message}`)
  const said = [...log.mock.calls.flat(), error]
  expect(said).toHaveLength(2)
  for (const text of said) {
    expect(text).toContain('A value in Redis (a task) was sealed with a key that this replica does not have')
    expect(text).not.toContain(task.taskId)
  }
})

test('a task of a process that died is found, however many older ones a replica cannot open', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const [foreign, own] = await twoReplicas('starving:')
  // A connection: otherwise only 1,000 commands may wait.
  await foreign.tasks.list('nobody')
  const now = Date.now()
  const neglected = (sid: string, until: number) => ({ ...taskOf(sid), ttlMs: 60_000, lease: { holder: 'x', epoch: 1, until } })
  await Promise.all(Array.from({ length: 1001 }, (_, at) => foreign.tasks.create(neglected(String(at), now - 2000), CAPS)))
  const task = neglected('own', now - 1000)
  await own.tasks.create(task, CAPS)
  const looks = [await own.tasks.neglected(now), await own.tasks.neglected(now), await own.tasks.neglected(now)]
  expect(looks.flat()).toMatchObject([{ taskId: task.taskId }])
  expect((await foreign.tasks.neglected(now)).length, 'they stay for a replica that can open them').toBeGreaterThanOrEqual(999)
}, 30_000)
