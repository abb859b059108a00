/** Records of requests that the server ended: they must not look as if the client had cancelled them. */

import { expect, test } from 'vitest'
import { listen } from '../../../src/http/index.ts'
import type { RequestRecord } from '../../../src/observability/index.ts'
import { memoryStore } from '../../../src/store/index.ts'
import { http } from '../../support/http-requests.ts'
import { callTool, gate, modern, openSession, serve, testServer, until, WATCHED } from '../../support/http-service.ts'
import { serveReplicas } from '../../support/replicas.ts'

const cut = (cause: string): object => ({ outcome: 'error', code: -32603, reason: cause })
/** No error: its client gets the answer of another replica. */
const HANDED_OVER = { outcome: 'handed_over', code: undefined, reason: undefined }

/** A server with a tool that waits for the end of its request. */
function waiting(onBegun: () => void, restartable = false): ReturnType<typeof testServer> {
  const server = testServer()
  server.tool('wait', { restartable }, async (_args, ctx) => {
    await ctx.progress(1)
    onBegun()
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  })
  return server
}

const callsIn = (records: RequestRecord[]): RequestRecord[] => records.filter(({ method }) => method === 'tools/call')

test.each(['2026-07-28 as JSON', '2026-07-28 as a stream', '2025-11-25'])('a call of %s that a shutdown cuts', async (kind) => {
  const records: RequestRecord[] = []
  let begun = 0
  const server = waiting(() => begun++)
  const options = { port: 0, graceMs: 50, handleSignals: false, metrics: true, onRequest: (record: RequestRecord) => records.push(record) }
  const { url, close } = await listen(server, options)
  const call = callTool('wait', {}, kind.endsWith('JSON') ? undefined : WATCHED)
  const answer =
    kind === '2025-11-25'
      ? openSession(url, kind).then((session) => session.askStream({ ...call, id: 7 }))
      : http(url, modern(call, { accept: kind.endsWith('JSON') ? 'application/json' : 'application/json, text/event-stream' }))
  answer.catch(() => {})
  await until(() => begun === 1)
  await close()
  expect(callsIn(records)).toMatchObject([cut('shutdown')])
})

test('a call of 2026-07-28 that a shutdown cuts while the store does not answer', async () => {
  const records: RequestRecord[] = []
  const [begun, back] = [gate(), gate()]
  const store = memoryStore()
  store.replica.leave = () => back.opened
  const options = { port: 0, graceMs: 50, handleSignals: false, store, onRequest: (record: RequestRecord) => records.push(record) }
  const { url, close } = await listen(
    waiting(() => begun.open()),
    options,
  )
  http(url, modern(callTool('wait'), { accept: 'application/json' })).catch(() => {})
  await begun.opened
  const closed = close()
  await until(() => callsIn(records).length === 1)
  expect(callsIn(records)).toMatchObject([cut('shutdown')])
  back.open()
  await closed
  await store.close()
})

test('a call whose client disconnects is cancelled', async () => {
  const records: RequestRecord[] = []
  let begun = 0
  const { url } = await serve(
    waiting(() => begun++),
    { onRequest: (record) => records.push(record) },
  )
  const gone = new AbortController()
  const { body, headers } = modern(callTool('wait'))
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const answer = fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...types, ...headers }, signal: gone.signal })
  answer.catch(() => {})
  await until(() => begun === 1)
  gone.abort()
  await until(() => callsIn(records).length === 1)
  expect(callsIn(records)).toMatchObject([{ outcome: 'cancelled', code: undefined, reason: undefined }])
})

test.each([
  ['a stream', WATCHED, false, cut('replica_lost')],
  ['JSON', undefined, false, cut('shutdown')],
  ['JSON, and restartable', undefined, true, cut('shutdown')],
  ['a stream that another replica continues', WATCHED, true, HANDED_OVER],
] as const)('a call of a session with a store, answered with %s, that a shutdown cuts', async (_kind, meta, restartable, ending) => {
  const records: RequestRecord[] = []
  let begun = 0
  const { url, handlers } = await serveReplicas(() => waiting(() => begun++, restartable), {
    count: 1,
    onRequest: (record) => records.push(record),
  })
  const session = await openSession(url, '2025-06-18')
  const call = { ...callTool('wait', {}, meta), id: 7 }
  const answer = session.ask(call)
  answer.catch(() => {})
  await until(() => begun === 1)
  await handlers[0]?.close()
  expect(callsIn(records)).toMatchObject([ending])
  if (!meta) expect((await answer).message).toMatchObject({ id: 7, error: { code: -32603, data: { reason: 'shutdown', retryable: true } } })
})
