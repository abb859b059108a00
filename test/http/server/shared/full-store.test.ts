/** What clients see when the store is almost full. */

import { expect, test, vi } from 'vitest'
import { redis } from '../../../../src/redis/index.ts'
import { memoryStore } from '../../../../src/store/index.ts'
import { http } from '../../../support/http-requests.ts'
import { callTool, initializeMessage, openSession, testServer } from '../../../support/http-service.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'

test('an answer that Redis has no memory for ends with an error, and small ones go on', async () => {
  const full = await startRedis(['--maxmemory', '5mb', '--maxmemory-policy', 'noeviction'])
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    const store = redis(full.url, { leaseMs: 2500 })
    let appends = 0
    store.onCommand?.(({ name }) => (appends += name === 'append-events' ? 1 : 0))
    const define = () => {
      const server = testServer()
      server.tool('large', {}, () => 'x'.repeat(3_900_000))
      return server
    }
    const { urls } = await serveReplicas(define, { count: 1, stores: [store] })
    const session = await openSession(urls[0] as string, '2025-11-25', { headers: { accept: 'text/event-stream' } })
    const refused = await session.ask(callTool('large'))
    expect(refused.text).toContain('"reason":"store_down"')
    expect(store.replica.isHeld).toBe(true)
    // Redis says it in one text for each script.
    const reasons = lines.mock.calls.map(String).filter((line) => line.includes('OOM'))
    expect(reasons.length).toBeGreaterThan(0)
    expect(reasons).toEqual([...new Set(reasons)])
    expect(appends).toBeLessThan(20)
    expect((await session.ask(callTool('hi'))).text).toContain('"text":"hi"')
  } finally {
    lines.mockRestore()
    await full.close()
  }
})

test('a session that a full store has no room for is refused with the limit, and leaves nothing behind', async () => {
  const store = memoryStore({ maxKeys: 2 })
  const created: string[] = []
  const { create } = store.sessions
  store.sessions.create = (sid, ...more) => {
    created.push(sid)
    return create(sid, ...more)
  }
  const { urls } = await serveReplicas(() => testServer(), { count: 1, stores: [store] })
  const open = () => http(urls[0] as string, { body: initializeMessage('2025-11-25') })
  expect([(await open()).status, (await open()).status]).toEqual([200, 200])
  const { status, headers, text } = await open()
  expect([status, headers['retry-after']]).toEqual([503, '5'])
  expect(text).toContain('members of topics')
  expect(created).toHaveLength(3)
  expect(await Promise.all(created.map((sid) => store.sessions.enter(sid, undefined, 1)))).toEqual([
    expect.anything(),
    expect.anything(),
    'gone',
  ])
})
