/** Replicas in processes of their own that are killed, stopped or restarted, and a Redis that goes away. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { http } from '../../../support/http-requests.ts'
import { callTool, type HttpSession, openSession, STREAMABLE, sessionAt, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'

const server = redisOfFile()
const LEASE_MS = 2000
/** What the documentation promises after the end of a lease. */
const AFTER_LEASE_MS = 2000

interface ReplicaProcess {
  url: string
  child: ChildProcess
  /** What it printed after its address. */
  said: string[]
  /** Its standard error. */
  logged(): string
}

async function startReplicas(count: number): Promise<ReplicaProcess[]> {
  const { url } = await server()
  const prefix = `${randomId()}:`
  return Promise.all(Array.from({ length: count }, () => startReplica(url, prefix)))
}

async function startReplica(redisUrl: string, prefix: string): Promise<ReplicaProcess> {
  const program = fileURLToPath(new URL('fixtures/replica.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, redisUrl, prefix, String(LEASE_MS)], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let logged = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  onTestFailed(() => console.error(`The replica with process ${child.pid} said:\n${logged}`))
  const lines = createInterface({ input: child.stdout })
  const [url] = (await once(lines, 'line')) as [string]
  const said: string[] = []
  lines.on('line', (line) => said.push(line))
  return { url, child, said, logged: () => logged }
}

const at = ({ url }: ReplicaProcess, { id, headers }: HttpSession): HttpSession => sessionAt(url, id, headers)
const count = (to: number, ms: number, id: number) => ({ ...callTool('count', { to, ms }, WATCHED), id })

test.each(STREAMABLE)('in %s a call of a killed replica ends with a typed error, readable elsewhere', async (version) => {
  const [first, second] = (await startReplicas(2)) as [ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, version)
  const stream = await session.askStream(count(1000, 50, 1))
  const seen = [await stream.message(), await stream.message(), await stream.message()]
  first.child.kill('SIGKILL')
  const killedAt = performance.now()
  await stream.ended
  const received = stream.events.filter(({ data }) => data)
  seen.push(...received.slice(3).map(({ data }) => JSON.parse(data as string)))
  const resumed = await at(second, session).listen(received.at(-1)?.id)
  const rest = await resumed.messages()
  expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + AFTER_LEASE_MS)
  const all = [...seen, ...rest]
  expect(all.slice(0, -1).map(({ params }) => params?.progress)).toEqual(all.slice(0, -1).map((_, i) => i + 1))
  expect(all.at(-1)).toMatchObject({ id: 1, error: { code: -32603, data: { reason: 'replica_lost', retryable: true } } })
  // The session lives on.
  expect((await at(second, session).ask({ ...callTool('hi'), id: 2 })).status).toBe(200)
  // No other log has the request.
  await expect
    .poll(second.logged)
    .toMatch(/^portico: took over from replica \S+: 0 requests run again here, 1 got the error replica_lost$/m)
  const { text } = await http(new URL('/metrics', second.url).href, { method: 'GET' })
  expect(text).toContain('portico_taken_over_requests_total{outcome="replica_lost"} 1\n')
  expect(text).toContain('portico_taken_over_requests_total{outcome="run_again"} 0\n')
})

test('each of many calls of one session of a killed replica ends with the error, readable elsewhere', async () => {
  const [first, second] = (await startReplicas(2)) as [ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, '2025-11-25')
  const streams = await Promise.all(Array.from({ length: 24 }, (_, call) => session.askStream(count(1000, 500, call + 1))))
  for (const stream of streams) await stream.message()
  first.child.kill('SIGKILL')
  await Promise.all(streams.map(({ ended }) => ended))
  await expect.poll(second.logged, { timeout: LEASE_MS + AFTER_LEASE_MS }).toContain('24 got the error replica_lost')
  for (const { events } of streams) {
    const resumed = await at(second, session).listen(events.filter(({ data }) => data).at(-1)?.id)
    expect((await resumed.messages()).at(-1)).toMatchObject({ error: { data: { reason: 'replica_lost' } } })
  }
})

test('a question of a killed replica may still be answered, and its call ends with the error', async () => {
  const [first, second] = (await startReplicas(2)) as [ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, '2025-11-25', { capabilities: { elicitation: {} } })
  const stream = await session.askStream({ ...callTool('ask'), id: 1 })
  const question = await stream.message()
  first.child.kill('SIGKILL')
  await stream.ended
  const lastEventId = stream.events.filter(({ data }) => data).at(-1)?.id
  const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ada' } } }
  expect((await at(second, session).post(answer)).status).toBe(202)
  const rest = await (await at(second, session).listen(lastEventId)).messages()
  expect(rest).toMatchObject([{ id: 1, error: { data: { reason: 'replica_lost' } } }])
})

test('a restartable call of a killed replica goes on elsewhere, and is answered once', async () => {
  const [first, second, third] = (await startReplicas(3)) as [ReplicaProcess, ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, '2025-11-25', { capabilities: { elicitation: {} } })
  const stream = await session.askStream({ ...callTool('order', {}, WATCHED), id: 1 })
  await stream.message()
  const question = await stream.message()
  first.child.kill('SIGKILL')
  const killedAt = performance.now()
  await stream.ended
  const resumed = at(second, session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
  const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ada' } } }
  expect((await at(third, session).post(answer)).status).toBe(202)
  const rest = await (await resumed).messages()
  expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + AFTER_LEASE_MS)
  expect(rest.filter(({ method }) => method !== 'notifications/progress')).toMatchObject([
    { id: 1, result: { content: [{ text: 'Ada: first step, second step' }] } },
  ])
  expect(first.said).toEqual(['first step'])
  expect([...second.said, ...third.said]).toEqual(['second step'])
})

test('a call that is cancelled at once after its replica was killed is not run again, and its stream ends', async () => {
  const [first, second, third] = (await startReplicas(3)) as [ReplicaProcess, ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, '2025-11-25')
  const run = (id: number) => session.askStream({ ...callTool('run', { name: `${id}` }, WATCHED), id })
  const cancelled = await run(1)
  for (const stream of [cancelled, await run(2), await run(3)]) await stream.message()
  first.child.kill('SIGKILL')
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect((await at(second, session).post(cancel)).status).toBe(202)
  await cancelled.ended
  const resumed = await at(third, session).listen(cancelled.events.filter(({ data }) => data).at(-1)?.id)
  expect(await resumed.messages()).toEqual([])
  // The calls that were not cancelled show that calls of this replica are run again.
  await until(() => second.said.length + third.said.length > 1)
  expect([...second.said, ...third.said].sort()).toEqual(['run 2', 'run 3'])
  await expect
    .poll(() => `${second.logged()}${third.logged()}`)
    .toMatch(/took over from replica \S+: 2 requests run again here, 0 got the error/)
})

test('a replica that was stopped for longer than its lease writes nothing when it goes on', async () => {
  const [zombie, other] = (await startReplicas(2)) as [ReplicaProcess, ReplicaProcess]
  const session = await openSession(zombie.url, '2025-11-25')
  const stream = await session.askStream(count(1000, 50, 1))
  await stream.message()
  zombie.child.kill('SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 300))
  const before = stream.events.length
  const lastEventId = stream.events.at(-1)?.id
  const rest = await (await at(other, session).listen(lastEventId)).messages()
  expect(rest.at(-1)).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
  zombie.child.kill('SIGCONT')
  expect(await stream.ended).toBe('cut')
  expect(stream.events.length).toBe(before)
  // It joins again and serves.
  await until(async () => (await at(zombie, session).ask({ ...callTool('hi'), id: 2 })).status === 200)
})

test('without Redis sessions are refused with a time to wait, and work again when it is back', async () => {
  const redisServer = await server()
  const [replica] = (await startReplicas(1)) as [ReplicaProcess]
  const session = await openSession(replica.url, '2025-06-18')
  await redisServer.stop()
  const refused = await session.ask({ ...callTool('hi'), id: 1 })
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
  const health = new URL('/readyz', replica.url)
  await until(async () => /store/.test((await http(health.href, { method: 'GET' })).text))
  await redisServer.start()
  await until(async () => [200, 404].includes((await session.ask({ ...callTool('hi'), id: 2 })).status))
  expect((await openSession(replica.url, '2025-06-18')).id).not.toBe('')
})

test('a replica that is asked to end hands its streams over, and loses no answer that it can give', async () => {
  const [first, second] = (await startReplicas(2)) as [ReplicaProcess, ReplicaProcess]
  const session = await openSession(first.url, '2025-11-25')
  const standing = await session.listen()
  const short = session.askStream(count(5, 100, 1))
  await (await short).message()
  first.child.kill('SIGTERM')
  expect(await standing.ended).toBe('end')
  expect((await (await short).messages()).at(-1)).toMatchObject({ id: 1, result: {} })
  await once(first.child, 'exit')
  expect((await at(second, session).ask({ ...callTool('hi'), id: 2 })).status).toBe(200)
})
