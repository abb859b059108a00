/** Requests at a replica that lives and cannot renew its lease, because Redis does not hear it. */

import { expect, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import type { RequestRecord } from '../../../../src/observability/index.ts'
import { redis } from '../../../../src/redis/index.ts'
import type { DeadReplica } from '../../../../src/store/index.ts'
import { tcpProxy } from '../../../redis/tcp-proxy.ts'
import { callTool, gate, openSession, STREAMABLE, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'

const server = redisOfFile()
const LEASE_MS = 3000

test.each(STREAMABLE)('in %s handlers abort before others take over, and every client gets an end', async (version) => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const redisServer = await server()
  const proxy = await tcpProxy(redisServer.port)
  onTestFinished(() => proxy.close())
  const options = { prefix: `${randomId()}:`, leaseMs: LEASE_MS, timeoutMs: 200 }
  const stores = [redis(`redis://127.0.0.1:${proxy.port}`, options), redis(redisServer.url, options)] as const
  const claims: Promise<DeadReplica | undefined>[] = []
  let begun = 0
  const records: RequestRecord[] = []
  const isHanging = gate()
  const { urls } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('wait', {}, async (_args, ctx) => {
        await ctx.progress(1)
        begun++
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        // Which others may take over at this moment.
        claims.push(stores[1].replica.claimDead())
      })
      own.tool('begin-stream', {}, async (_args, ctx) => {
        begun++
        await isHanging.opened
        // The stream of the answer begins, and Redis does not hear of it.
        await ctx.progress(1)
      })
      return own
    },
    { count: 2, stores: [...stores], onRequest: (record) => records.push(record) },
  )
  const session = await openSession(urls[0] as string, version)
  const quiet = session.ask({ ...callTool('wait'), id: 1 })
  const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 2 })
  await stream.message()
  const late = session.askStream({ ...callTool('begin-stream', {}, WATCHED), id: 3 })
  await until(() => begun === 3)
  proxy.hang('both')
  isHanging.open()
  const lost = { code: -32603, data: { reason: 'replica_lost', retryable: true } }
  expect(await quiet).toMatchObject({ status: 200, message: { id: 1, error: lost } })
  expect(await (await late).messages()).toMatchObject([{ id: 3, error: lost }])
  expect(await stream.ended).toBe('cut')
  // Nothing has the outcome of a call that its client cancelled.
  const calls = records.filter(({ method }) => method === 'tools/call')
  expect(calls).toHaveLength(3)
  for (const call of calls) expect(call).toMatchObject({ outcome: 'error', code: -32603, reason: 'replica_lost' })
  expect(await Promise.all(claims)).toEqual([undefined, undefined])
  const resumed = await sessionAt(urls[1] as string, session.id, session.headers).listen(
    stream.events.filter(({ data }) => data).at(-1)?.id,
  )
  expect(await resumed.messages()).toMatchObject([{ id: 2, error: lost }])
})
