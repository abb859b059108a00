/** What clients see when the store is almost full. */

import { expect, test, vi } from 'vitest'
import { redis } from '../../../../src/redis/index.ts'
import { callTool, openSession, testServer } from '../../../support/http-service.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'

test('an answer that Redis has no memory for ends with an error, and small ones go on', async () => {
  const full = await startRedis(['--maxmemory', '5mb', '--maxmemory-policy', 'noeviction'])
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    const store = redis(full.url, { leaseMs: 1000 })
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
    expect(lines.mock.calls.filter((line) => String(line).includes('OOM'))).toHaveLength(1)
    expect(appends).toBeLessThan(10)
    expect((await session.ask(callTool('hi'))).text).toContain('"text":"hi"')
  } finally {
    lines.mockRestore()
    await full.close()
  }
})
