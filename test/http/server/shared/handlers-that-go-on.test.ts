/** Handlers that go on after their request is over: nothing of it may begin again. */

import { expect, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import { callTool, gate, openSession, STREAMABLE, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'

const server = redisOfFile()
const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }

test.each(STREAMABLE.flatMap((version) => (['cancelled', 'timed out', 'answered'] as const).map((end) => ({ version, end }))))(
  'a restartable call of $version that was $end records no step, leaves no stream, and is not run again',
  async ({ version, end }) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { url } = await server()
    const prefix = `${randomId()}:`
    const stores = [1, 2].map(() => redis(url, { prefix, leaseMs: 2000 }))
    const runs = [0, 0]
    const [begun, isOver, step] = [gate(), gate(), gate<unknown>()]
    const { urls, handlers } = await serveReplicas(
      (replica) => {
        const own = testServer()
        own.tool('pay', { restartable: true, ...(end === 'timed out' && { timeoutMs: 100 }) }, async (_args, ctx) => {
          runs[replica] = (runs[replica] ?? 0) + 1
          begun.open()
          const goOn = isOver.opened.then(() => ctx.once('step', () => 1)).then(step.open, step.open)
          if (end !== 'answered') await goOn
          return 'done'
        })
        own.tool('other', {}, () => 'other')
        return own
      },
      { count: 2, stores, metrics: true },
    )
    const session = await openSession(urls[0] as string, version)
    const asked = session.ask({ ...callTool('pay'), id: 1 })
    await begun.opened
    if (end === 'cancelled') await session.post(cancelled)
    await asked.catch(() => {})
    isOver.open()
    expect(String(await step.opened)).toBe('AbortError: The request is over')
    await until(async () => /^portico_streams 0$/m.test(await (await fetch(new URL('/metrics', urls[0]))).text()))
    await handlers[0]?.close()
    // The other replica has looked for what the first one has left.
    expect(await stores[1]?.replica.claimDead()).toBeUndefined()
    expect(runs).toEqual([1, 0])
  },
)
