/** Clients that read slowly, while their replica looks for what messages may have failed to say. */

import { expect, test } from 'vitest'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, openSession, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()
const KINDS: [string, () => Promise<SharedStore[]>][] = [
  ['memory', async () => storesInMemory(1)],
  ['Redis', () => storesInRedis(server)(1)],
]
const ANSWER_CHARS = 8_000_000

test.each(KINDS.flatMap(([kind, storesOf]) => ['2025-06-18', '2025-11-25'].map((version) => [kind, version, storesOf] as const)))(
  'in %s and %s a large answer reaches a client that pauses while it is sent',
  async (kind, version, storesOf) => {
    const stores = await storesOf()
    const [store] = stores as [SharedStore]
    // A replica looks four times in this time. Redis must have time to renew a lease.
    if (kind === 'memory') Object.defineProperty(store.replica, 'leaseMs', { value: 400 })
    let [hasEnd, looks] = [false, 0]
    const { streams, sessions } = store
    const { append } = streams
    streams.append = async (...args) => {
      const appended = await append(...args)
      if (args[2].isLast) hasEnd = true
      return appended
    }
    const { cancelled } = sessions
    sessions.cancelled = async (...args) => {
      if (hasEnd) looks++
      return cancelled(...args)
    }
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('large', {}, async (_args, ctx) => {
          await ctx.progress(1)
          return 'x'.repeat(ANSWER_CHARS)
        })
        return own
      },
      { count: 1, stores },
    )
    const session = await openSession(urls[0] as string, version)
    const stream = await session.askStream({ ...callTool('large', {}, WATCHED), id: 5 })
    stream.pause()
    await until(() => looks > 1)
    stream.resume()
    expect(await stream.ended).toBe('end')
    const answer = (await stream.messages()).find(({ id }) => id === 5) as { result: { content: { text: string }[] } }
    expect(answer.result.content[0]?.text).toHaveLength(ANSWER_CHARS)
  },
)
