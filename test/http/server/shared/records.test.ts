/** Records of requests at several replicas. */

import { expect, test } from 'vitest'
import type { RequestRecord } from '../../../../src/observability/index.ts'
import { callTool, openSession, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { serveReplicas } from '../../../support/replicas.ts'

test('the record of a handshake has the address and the size of the request', async () => {
  const records: RequestRecord[] = []
  const { url } = await serveReplicas(() => testServer(), { onRequest: (record) => records.push(record) })
  await openSession(url, '2025-11-25')
  await until(() => records.length > 0)
  expect(records[0]).toMatchObject({ method: 'initialize', address: '127.0.0.1', requestBytes: expect.any(Number) })
})

test('the record of a request that runs again elsewhere has its address and its size', async () => {
  const records: RequestRecord[] = []
  let runs = 0
  const { urls, stores } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('order', { restartable: true }, async (_args, ctx) => {
        await ctx.progress(1)
        if (++runs === 1) await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        return 'done'
      })
      return own
    },
    { onRequest: (record) => records.push(record) },
  )
  const session = await openSession(urls[0] as string, '2025-11-25')
  const stream = await session.askStream({ ...callTool('order', {}, WATCHED), id: 7 })
  await stream.message()
  const lastEventId = stream.events.filter(({ data }) => data).at(-1)?.id
  await stores[0]?.replica.leave()
  stream.destroy()
  const resumed = await sessionAt(urls[1] as string, session.id, session.headers).listen(lastEventId)
  await resumed.messages()
  await until(() => records.some(({ id, outcome }) => id === 7 && outcome === 'ok'))
  expect(records.find(({ id, outcome }) => id === 7 && outcome === 'ok')).toMatchObject({
    target: 'order',
    address: '127.0.0.1',
    requestBytes: expect.any(Number),
  })
})
