/** A program with workers as real processes: sessions on any of them, crashes, restarts, drains. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { http, httpStream, portOf } from '../../../support/http-requests.ts'
import { askModern, callTool, initializeMessage, modern, openSession, STREAMABLE, WATCHED } from '../../../support/http-service.ts'
import { isAlive } from '../../../support/processes.ts'
import { proofRuns } from '../../../support/proof.ts'
import type { Message } from '../../../support/raw-channel.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Program, pidAt, run, start } from './program.ts'

// Each program is several processes.
vi.setConfig({ testTimeout: 30_000 })
const newFolder = temporaryFolders()
const redisServer = redisOfFile()
/** The lease of the store in memory, and what the documentation promises after it. */
const LOST_MS = 10_000 + 2000
/** How long a worker may be silent until it is killed, with the time between two looks. */
const SILENT_MS = 12_000
const GET = { method: 'GET', isBare: true }

const count = (to: number, ms: number, id: number) => ({ ...callTool('count', { to, ms }, WATCHED), id })
const CLOSE = { connection: 'close' }

/** A program for the tests that only ask. */
let shared: Program
let endShared: () => Promise<void> = async () => {}
const TOKEN = 'secret-of-the-scraper'
beforeAll(async () => {
  shared = await start({ workers: 3, health: true, metrics: { token: TOKEN } }, (end) => {
    endShared = end
  })
})
afterAll(() => endShared())

test('all workers serve one port, and the program learns which of them it is', async () => {
  const { url, child, pids, said } = shared
  const seen = new Set<number>()
  await expect.poll(async () => seen.add(await pidAt(url)).size).toBe(3)
  expect([...seen].sort()).toEqual([...pids().values()].sort())
  expect(seen).not.toContain(child.pid)
  expect(new Set(said.map((each) => each.url))).toEqual(new Set([url]))
})

async function checkSession(url: string, version: string): Promise<void> {
  const session = await openSession(url, version, { capabilities: { elicitation: {} }, headers: CLOSE })
  const seen = new Set<string>()
  for (let id = 1; id <= 6; id++) {
    const { status, message } = await session.ask({ ...callTool('pid'), id }, CLOSE)
    expect(status).toBe(200)
    seen.add(JSON.stringify(message.result))
  }
  expect(seen.size).toBeGreaterThan(1)
  // The first revision with sessions over HTTP has no questions of this kind.
  if (version === STREAMABLE[0]) return
  const stream = await session.askStream({ ...callTool('ask'), id: 10 }, CLOSE)
  const { id } = await stream.message()
  const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } }
  expect((await session.post(answer, CLOSE)).status).toBe(202)
  expect((await stream.messages()).at(-1)).toMatchObject({ id: 10, result: { content: [{ text: expect.stringMatching(/^Hello Ada,/) }] } })
}

test.each(STREAMABLE)('a session of %s lives on all workers, with questions and events', async (version) => {
  await checkSession(shared.url, version)
})

test.each(STREAMABLE)('foreign and malformed cursors of %s are refused at every worker', async (version) => {
  const [session, other] = await Promise.all([1, 2].map(() => openSession(shared.url, version, { headers: CLOSE })))
  if (session === undefined || other === undefined) throw new Error('Two sessions were opened')
  const stream = await session.askStream(count(3, 0, 1), CLOSE)
  await stream.ended
  const cursor = stream.events.filter(({ data }) => data)[0]?.id as string
  const [name, id, position] = cursor.split('.')
  // Connections go to the three workers in turn.
  for (let worker = 0; worker < 3; worker++) expect((await other.listen(cursor)).status).toBe(400)
  for (const malformed of ['x', '-1', `${name}`, `${name}.${id}`, `${name}..${position}`, `${name}.${id}.9999-0`, cursor.repeat(20)])
    expect((await session.listen(malformed)).status, malformed).toBe(400)
  const rest = await (await session.listen(cursor)).messages()
  expect(rest.map(({ params }) => params?.progress)).toEqual([2, 3, undefined])
  expect((await other.ask({ ...callTool('pid'), id: 2 }, CLOSE)).status).toBe(200)
})

test.each(STREAMABLE)('of three readers of a session of %s at the workers the newest gets the notices', async (version) => {
  const session = await openSession(shared.url, version, { headers: CLOSE })
  const older = await session.listen()
  const newer = await session.listen()
  expect(await older.ended).toBe('end')
  const newest = await session.listen()
  expect(await newer.ended).toBe('end')
  expect((await session.ask({ ...callTool('change'), id: 1 }, CLOSE)).status).toBe(200)
  expect(await newest.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  expect([...(await older.messages()), ...(await newer.messages())]).toEqual([])
  newest.destroy()
})

test('a message of the oldest transport may reach another worker than its stream', async () => {
  const { url } = shared
  const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers: CLOSE })
  const place = (await stream.next())?.data as string
  const post = (body: object) => http(new URL(place, url).href, { headers: CLOSE, body: { jsonrpc: '2.0', ...body } })
  // As many as there are workers, so at least two of them reach another one.
  expect((await post(initializeMessage('2024-11-05'))).status).toBe(202)
  expect(await stream.message()).toMatchObject({ id: 0, result: { protocolVersion: '2024-11-05' } })
  expect((await post({ method: 'notifications/initialized' })).status).toBe(202)
  for (const id of [1, 2, 3]) {
    expect((await post({ id, ...callTool('pid') })).status).toBe(202)
    expect(await stream.message()).toMatchObject({ id, result: { content: [{ type: 'text' }] } })
  }
  stream.destroy()
})

test('with a store in Redis, workers use it directly', async () => {
  const { url: redisUrl, scan } = await redisServer()
  const prefix = `${randomId()}:`
  const { url } = await start({ workers: 2, redis: redisUrl, prefix })
  await checkSession(url, '2025-11-25')
  expect((await scan()).some((key) => key.startsWith(prefix))).toBe(true)
})

test('a store in memory is the one of the process that was started', async () => {
  const { url } = await start({ workers: 2, inMemory: true })
  const session = await openSession(url, '2025-11-25', { headers: CLOSE })
  for (let id = 1; id <= 4; id++) expect((await session.ask({ ...callTool('pid'), id }, CLOSE)).status).toBe(200)
  // Both workers know that it is full.
  for (let i = 0; i < 2; i++) await expect(openSession(url, '2025-11-25', { headers: CLOSE })).rejects.toThrow('No session')
})

test('workers serve https', async () => {
  const folder = newFolder()
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      key,
      '-out',
      cert,
    ],
    {
      stdio: 'ignore',
    },
  )
  const [keyText, certText] = [readFileSync(key, 'utf8'), readFileSync(cert, 'utf8')]
  const { url } = await start({ workers: 2, tls: { key: keyText, cert: certText } })
  expect(url).toMatch(/^https:/)
  const pids = new Set<string>()
  for (let i = 0; i < 4; i++) pids.add((await http(url, { ...modern(callTool('pid')), ca: certText })).text)
  expect(pids.size).toBe(2)
})

test('workers open each other’s sealed state: cursors, and answers of stateless clients', async () => {
  const { url } = shared
  const names: string[] = []
  let cursor: unknown
  for (let page = 0; page < 6; page++) {
    const { message } = await http(url, modern({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, CLOSE))
    const result = message.result as { tools: { name: string }[]; nextCursor?: string }
    names.push(...result.tools.map(({ name }) => name))
    cursor = result.nextCursor
  }
  expect([names.length, cursor]).toEqual([6, undefined])

  const pids: string[][] = []
  for (let call = 0; call < 6; call++) pids.push(await askInTwoRounds(url))
  const workers = [...shared.pids().values()].map(String)
  expect(workers).toEqual(expect.arrayContaining(pids.flat()))
  expect(pids.filter(([asker, answerer]) => asker !== answerer).length).toBeGreaterThan(1)
})

/** The processes that asked and got the answer, over a connection each. */
async function askInTwoRounds(url: string): Promise<string[]> {
  const more = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } }
  const asked = (await askModern(url, callTool('ask', {}, more), CLOSE)).message.result as Message
  expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
  const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } }
  const round = callTool('ask', {}, { ...more, requestState: asked.requestState, inputResponses })
  const { content } = (await askModern(url, round, CLOSE)).message.result as { content: { text: string }[] }
  const [, ...pids] = /^Hello Ada, asked by (\d+), answered by (\d+)$/.exec(content[0]?.text ?? '') ?? []
  expect(pids).toHaveLength(2)
  return pids
}

test('a call of a killed worker ends with a typed error at another one, and the worker is replaced', async () => {
  const { url, pids, errors } = await start({ workers: 2, health: true })
  const session = await openSession(url, '2025-11-25', { headers: CLOSE })
  const stream = await session.askStream(count(1000, 20, 1), CLOSE)
  await stream.message()
  await stream.message()
  const before = pids()
  // Calls of older revisions have no pid in their events, so the one that runs it is found by what it writes.
  const victims = [...before.values()]
  const runner = busiest(victims)
  process.kill(runner, 'SIGKILL')
  const killedAt = performance.now()
  await stream.ended
  const received = stream.events.filter(({ data }) => data)
  const rest = await (await session.listen(received.at(-1)?.id)).messages()
  expect(rest.at(-1)).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost', retryable: true } } })
  expect(performance.now() - killedAt).toBeLessThan(LOST_MS)
  await expect.poll(() => [...pids().values()].filter(isAlive).length).toBe(2)
  expect(errors()).toMatch(new RegExp(`worker \\d \\(process ${runner}\\) is gone: signal SIGKILL ended it; another one starts`))
  expect((await session.ask({ ...callTool('pid'), id: 2 }, CLOSE)).status).toBe(200)
})

/** The process with the most open sockets of clients is the one that has the stream. */
function busiest(pids: readonly number[]): number {
  const socketsOf = (pid: number): number =>
    readdirSync(`/proc/${pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
      } catch {
        return false
      }
    }).length
  return pids.toSorted((a, b) => socketsOf(b) - socketsOf(a))[0] as number
}

test('a worker that crashes again and again is replaced more slowly each time', async () => {
  const { url, pids, errors } = await start({ workers: 1, health: true, metrics: true })
  for (let crash = 1; crash <= 3; crash++) {
    const before = pids().get(1)
    await askModern(url, callTool('crash'), CLOSE).catch(() => {})
    await expect.poll(() => pids().get(1), { timeout: 15_000 }).not.toBe(before)
  }
  expect(errors()).toContain('it ended with code 7; another one starts\n')
  expect(errors()).toContain('it ended with code 7; another one starts in 100 ms\n')
  expect(errors()).toContain('it ended with code 7; another one starts in 200 ms\n')
  const { text } = await http(new URL('/metrics', url).href, { ...GET, headers: CLOSE })
  expect(text).toContain('portico_worker_restarts_total{worker="primary"} 3\n')
}, 90_000)

test('a worker whose metrics cannot be read lives on, and is left out of the scrape', async () => {
  const { url: redisUrl } = await redisServer()
  const { url, pids, errors } = await start({ workers: 1, metrics: true, redis: redisUrl, prefix: `${randomId()}:`, failingHealth: true })
  const before = pids().get(1)
  // The worker that is asked answers, without itself.
  const { status, text } = await http(new URL('/metrics', url).href, { ...GET, headers: CLOSE })
  expect(status).toBe(200)
  expect(text).toContain('portico_workers{worker="primary",state="answered"} 0\n')
  await expect.poll(errors).toContain('the metrics of this worker could not be read: Error: This store has a fault')
  expect(pids().get(1)).toBe(before)
}, 60_000)

test('a worker gives its own metrics while the primary process stands still', async () => {
  const { url, child } = await start({ workers: 1, metrics: true })
  // The primary process accepts connections.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const scrape = async (): Promise<string> => (await http(new URL('/metrics', url).href, { ...GET, agent })).text
  expect(await scrape()).toContain('portico_ready{worker="1"} 1\n')
  child.kill('SIGSTOP')
  const alone = await scrape()
  expect(alone).toContain('portico_ready{worker="1"} 1\n')
  expect(alone).not.toContain('worker="primary"')
  child.kill('SIGCONT')
  expect(await scrape()).toContain('portico_workers{worker="primary",state="answered"} 1\n')
})

test('a scrape of any worker has the metrics of all, each with its number', async () => {
  const { url } = shared
  const scrape = (token: string) => http(new URL('/metrics', url).href, { ...GET, headers: { ...CLOSE, authorization: `Bearer ${token}` } })
  const callsIn = (text: string): number =>
    [...text.matchAll(/^portico_requests_total\{worker="\d",method="tools\/call",tool="pid",outcome="ok"\} (\d+)$/gm)].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    )
  expect((await scrape('wrong')).status).toBe(401)
  const before = callsIn((await scrape(TOKEN)).text)
  for (let call = 0; call < 6; call++) await pidAt(url)
  for (let i = 0; i < 3; i++) {
    const { text } = await scrape(TOKEN)
    expect(callsIn(text)).toBe(before + 6)
    for (const worker of [1, 2, 3]) expect(text).toContain(`portico_ready{worker="${worker}"} 1\n`)
    expect(text.match(/^# TYPE portico_requests_total counter$/gm)).toHaveLength(1)
    expect(text).toContain('portico_workers{worker="primary",state="answered"} 3\n')
    expect(text).toMatch(/^process_resident_memory_bytes\{worker="primary"\} \d+$/m)
  }
  expect((await http(new URL('/readyz', url).href, { ...GET, headers: CLOSE })).message).toMatchObject({
    status: 'ok',
    checks: { workers: { status: 'ok' } },
  })
})

test('each worker knows the sessions of all, and a scrape has the memory of events in the primary', async () => {
  const { url } = await start({ workers: 2, health: true, metrics: true, limits: { maxSessions: 3 } })
  const session = await openSession(url, '2025-11-25', { headers: CLOSE })
  for (let i = 0; i < 2; i++) await openSession(url, '2025-11-25', { headers: CLOSE })
  await (await session.askStream(count(3, 1, 1), CLOSE)).messages()
  const scrape = async (): Promise<string> => (await http(new URL('/metrics', url).href, { ...GET, headers: CLOSE })).text
  await expect.poll(scrape).toMatch(/^portico_kept_event_bytes\{worker="primary"\} [1-9]\d+$/m)
  expect((await scrape()).match(/^# HELP portico_kept_event_bytes /gm)).toHaveLength(1)
  const reason = '3 of 3 sessions of all replicas (limits.maxSessions)'
  for (let i = 0; i < 4; i++) {
    const { message } = await http(new URL('/readyz', url).href, { ...GET, headers: CLOSE })
    expect(message.checks.capacity).toEqual({ status: 'degraded', reason })
  }
})

test('SIGTERM lets every worker answer what is in progress', async () => {
  const { url, child, pids } = await start({ workers: 2 })
  const calls = await Promise.all(
    [1, 2, 3, 4].map(async (id) => (await openSession(url, '2025-11-25', { headers: CLOSE })).askStream(count(10, 50, id), CLOSE)),
  )
  for (const stream of calls) await stream.message()
  child.kill('SIGTERM')
  for (const stream of calls) expect((await stream.messages()).at(-1)).toMatchObject({ result: { content: [{ type: 'text' }] } })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect([...pids().values()].filter(isAlive)).toEqual([])
})

test('one Ctrl-C, which reaches all processes of a terminal, drains and ends them', async () => {
  const { url, child, pids, errors } = await start({ workers: 2 })
  const stream = await (await openSession(url, '2025-11-25', { headers: CLOSE })).askStream(count(10, 50, 1), CLOSE)
  await stream.message()
  for (const pid of [child.pid as number, ...pids().values()]) process.kill(pid, 'SIGINT')
  expect((await stream.messages()).at(-1)).toMatchObject({ id: 1, result: {} })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect([...pids().values()].filter(isAlive)).toEqual([])
  expect(errors()).toBe('')
})

test('close() ends all workers, in the process that was started and in a worker', async () => {
  const [first, second] = await Promise.all([start({ workers: 2 }), start({ workers: 2, handleSignals: false })])
  first.child.send('close')
  await askModern(second.url, callTool('close'), CLOSE)
  for (const { child, said, pids } of [first, second]) {
    child.channel?.unref()
    await expect.poll(() => said.filter(({ closed }) => closed).length, { timeout: 10_000 }).toBe(3)
    expect([...pids().values()].filter(isAlive)).toEqual([])
  }
})

test('a worker that is asked to end alone drains and is replaced', async () => {
  const { url, pids } = await start({ workers: 2 })
  const before = pids().get(1) as number
  process.kill(before, 'SIGTERM')
  await expect.poll(() => pids().get(1), { timeout: 10_000 }).not.toBe(before)
  await expect.poll(async () => pidAt(url)).toBe(pids().get(1))
})

// Takes as long as a worker may be silent.
test.runIf(proofRuns(1) > 1)(
  'a worker that is stopped is killed and replaced, so that its clients do not wait for ever',
  async () => {
    const { url, pids, errors } = await start({ workers: 1 })
    const before = pids().get(1) as number
    process.kill(before, 'SIGSTOP')
    await expect.poll(() => pids().get(1), { timeout: 20_000 }).not.toBe(before)
    expect(errors()).toContain('it did not react for 9 s')
    expect(await pidAt(url)).toBe(pids().get(1))
  },
  30_000,
)

// It is killed before its lease ends, so it never goes on as a replica that others have taken for dead.
test.runIf(proofRuns(1) > 1).each(STREAMABLE)(
  'a call of %s at a worker that is stopped ends once at another one, without a gap',
  async (version) => {
    const { url, pids } = await start({ workers: 2 })
    const session = await openSession(url, version, { headers: CLOSE })
    const stream = await session.askStream(count(10_000, 10, 1), CLOSE)
    await stream.message()
    const zombie = busiest([...pids().values()])
    process.kill(zombie, 'SIGSTOP')
    const stoppedAt = performance.now()
    await stream.ended
    expect(isAlive(zombie)).toBe(false)
    const before = stream.events.filter(({ data }) => data)
    const rest = await (await session.listen(before.at(-1)?.id)).messages()
    expect(performance.now() - stoppedAt).toBeLessThan(SILENT_MS + LOST_MS)
    const messages = [...before.map(({ data }) => JSON.parse(data as string)), ...rest]
    expect(messages.at(-1)).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
    expect(messages.slice(0, -1).map(({ params }) => params.progress)).toEqual(messages.slice(1).map((_, i) => i + 1))
  },
  60_000,
)

test('a worker that cannot start is an error of listen, and not started again and again', async () => {
  const { child, errors } = run({ workers: 2, failAtStart: true })
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(errors()).toContain('did not start: it ended with code 1')
  expect(errors()).toContain('This worker cannot start')
})

test('a worker that the system cannot start is an error of listen', async () => {
  const { child, errors } = run({ workers: 2, execPath: '/nowhere/node' })
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(errors()).toContain('Worker 1 could not be started: Error: spawn /nowhere/node ENOENT')
})

test('workers that the system cannot start come back when it can', async () => {
  const { url, child, pids, errors } = await start({ workers: 2, maxFiles: 200 })
  const before = pids()
  child.send('hold all files')
  // The second end tells the first place, which has no worker.
  for (const [worker, pid] of before) {
    process.kill(pid, 'SIGKILL')
    await expect
      .poll(errors)
      .toContain(`portico: worker ${worker} could not be started: Error: spawn ${process.execPath} EMFILE; another one`)
  }
  expect(child.exitCode).toBeNull()
  child.send('give files back')
  await expect.poll(() => [...pids().values()].filter(isAlive).length).toBe(2)
  await expect.poll(() => pidAt(url)).not.toBe(await pidAt(url))
})

test('a port in use is an error of the process that was started', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { child, errors } = run({ workers: 2, port: portOf(server) })
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(errors()).toContain('EADDRINUSE')
  server.close()
})

test('workers that make no sense are refused with a clear error', async () => {
  const { child, errors } = run({ workers: 0 })
  await once(child, 'exit')
  expect(errors()).toContain("workers must be 'auto' or a number from 1 to 256, not 0")
})
