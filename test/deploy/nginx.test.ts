/** Three replicas of the image's server behind nginx with the configuration of deploy/, which sends requests round robin. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { randomId } from '../../src/base/bytes.ts'
import { DEFAULT_HTTP_LIMITS } from '../../src/http/index.ts'
import { CLI } from '../cli/support/cli.ts'
import { temporaryFolders } from '../support/folders.ts'
import { http } from '../support/http-requests.ts'
import { callTool, modern, openSession, WATCHED } from '../support/http-service.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { installNginx, NGINX_FILE, startNginx } from './nginx-server.ts'

const newFolder = temporaryFolders()
const redisServer = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'always'])
vi.setConfig({ testTimeout: 30_000 })
const HOST = { host: 'mcp.example.com' }

/** What the tests started. */
const started: ChildProcess[] = []

interface Replica {
  child: ChildProcess
  port: number
  /** The lines of its log. */
  requests(): { method?: string; target?: string; address?: string }[]
}

async function startReplica(env: Record<string, string>): Promise<Replica> {
  const child = spawn(process.execPath, [CLI, 'serve', `${root}/deploy/server.mjs`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      PORTICO_HTTP: 'true',
      PORTICO_PORT: '0',
      PORTICO_HEALTH: 'true',
      PORTICO_LOG_FORMAT: 'json',
      ...env,
    },
  })
  started.push(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await vi.waitFor(() => expect(said).toMatch(/http:\/\/127\.0\.0\.1:\d+/), { timeout: 25_000 })
  return {
    child,
    port: Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]),
    requests: () => said.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : [])),
  }
}

async function startAll() {
  const env = {
    PORTICO_STORE: (await redisServer()).url,
    PORTICO_STORE_PREFIX: `${randomId()}:`,
    PORTICO_KEYS: 'only-for-this-test-0123456789abcdef',
    PORTICO_ALLOWED_HOSTS: 'mcp.example.com',
    PORTICO_TRUST_PROXY: '1',
  }
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(env)))
  const nginx = await startNginx(
    newFolder(),
    replicas.map(({ port }) => port),
  )
  started.push(nginx.child)
  return { ...nginx, replicas, first: replicas[0] as Replica }
}

/** One set for all tests. The last test takes two replicas away. */
let all: Awaited<ReturnType<typeof startAll>>

beforeAll(async () => {
  installNginx()
  // The certificate is made for this test.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  all = await startAll()
}, INSTALL_MS)
afterAll(() => {
  for (const child of started) child.kill(child.spawnfile === 'nginx' ? 'SIGTERM' : 'SIGKILL')
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
})

const count = (to: number, id: number) => ({ ...callTool('count', { to }, WATCHED), id })
const textOf = (message: unknown): string => JSON.stringify(message)

test('sessions work through nginx, whichever replica a request reaches', async () => {
  const { url, replicas } = all
  const forged = { ...HOST, 'x-forwarded-for': '6.6.6.6' }
  const session = await openSession(url, '2025-11-25', { capabilities: { elicitation: {} }, headers: forged })
  for (let id = 1; id <= 6; id++) expect((await session.ask({ ...callTool('replica'), id })).status).toBe(200)
  const calls = () => replicas.map(({ requests }) => requests().filter(({ target }) => target === 'replica'))
  await expect.poll(() => calls().flat().length).toBe(6)
  expect(calls().every((each) => each.length > 0)).toBe(true)
  // The address is the one that nginx saw, and not what the client wrote.
  expect(
    new Set(
      calls()
        .flat()
        .map(({ address }) => address),
    ),
  ).toEqual(new Set(['127.0.0.1']))

  const asking = await session.askStream({ ...callTool('greet'), id: 10 })
  const question = await asking.message()
  const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ada' } } }
  expect((await session.post(answer)).status).toBe(202)
  expect(textOf((await asking.messages()).at(-1))).toContain('Hello, Ada!')

  // Events come one by one, and not all at the end.
  const stream = await session.askStream(count(8, 11))
  await stream.message()
  expect(stream.events.filter(({ data }) => data).length).toBeLessThan(8)
  stream.destroy()
  const resumed = await session.listen(stream.events.filter(({ data }) => data).at(-1)?.id)
  expect(textOf((await resumed.messages()).at(-1))).toContain('Counted to 8')
  expect((await session.end()).status).toBe(204)
})

test('nginx passes on the endpoint and nothing else, with bodies as large as the server accepts', async () => {
  const { url, plainUrl } = all
  for (const path of ['/healthz', '/readyz', '/metrics', '/', '/mcp/x', '/mcpx'])
    expect([path, (await http(new URL(path, url).href, { method: 'GET', headers: HOST })).status]).toEqual([path, 404])
  const { status, headers } = await http(`${plainUrl}/mcp`, { headers: HOST })
  expect([status, headers.location]).toEqual([308, 'https://mcp.example.com/mcp'])
  const call = (bytes: number) => http(url, modern(callTool('replica', {}, { padding: 'x'.repeat(bytes) }), HOST))
  expect((await call(3.9 * 1024 * 1024)).status).toBe(200)
  expect((await call(DEFAULT_HTTP_LIMITS.maxBodyBytes + 1)).status).toBe(413)
  // A web page of another site gets no answer through a name that it chose.
  expect((await http(url, modern(callTool('replica'), { host: 'evil.example' }))).status).toBe(403)
})

test('a browser behind nginx sees the URL that clients need', async () => {
  const { text } = await http(all.url, { method: 'GET', isBare: true, headers: { accept: 'text/html', ...HOST } })
  expect(text).toContain('<pre>https://mcp.example.com/mcp</pre>')
})

test('the times and sizes of the configuration fit those of the server', () => {
  const text = readFileSync(NGINX_FILE, 'utf8')
  const seconds = (name: string): number => Number(new RegExp(`^ *${name} (\\d+)s;`, 'm').exec(text)?.[1])
  expect(seconds('proxy_read_timeout') * 1000).toBeGreaterThan(2 * DEFAULT_HTTP_LIMITS.keepAliveMs)
  expect(text).toContain(`client_max_body_size ${DEFAULT_HTTP_LIMITS.maxBodyBytes / 1024 / 1024}m;`)
  expect(text).not.toMatch(/^\s*(ip_hash|sticky|hash )/m)
  // A request that a replica may have run must never run a second time.
  expect(text).not.toContain('non_idempotent;')
})

test('while Redis is away clients get 503 with Retry-After, and are served soon after it is back', async () => {
  const { url } = all
  const redis = await redisServer()
  const session = await openSession(url, '2025-06-18', { headers: HOST })
  await redis.stop('SIGKILL')
  const answers: unknown[] = []
  for (let id = 1; id <= 8; id++) {
    const headers = { ...HOST, ...session.headers, 'mcp-session-id': session.id, accept: 'text/event-stream' }
    const listening = await http(url, { method: 'GET', headers })
    const call = await session.ask({ ...callTool('replica'), id })
    for (const each of [listening, call]) answers.push([each.status, each.headers['retry-after']])
  }
  expect(new Set(answers.map(String))).toEqual(new Set(['503,2']))
  await redis.start()
  const states = async () =>
    Promise.all(all.replicas.map(async ({ port }) => (await http(`http://127.0.0.1:${port}/readyz`, { method: 'GET' })).message.status))
  await expect.poll(states, { timeout: 15_000 }).toEqual(['ok', 'ok', 'ok'])
  expect((await openSession(url, '2025-06-18', { headers: HOST })).id).toBeDefined()
})

test('no request is lost when a replica dies, or is asked to end', async () => {
  const { url, replicas, first } = all
  const session = await openSession(url, '2025-06-18', { headers: HOST })
  const streams = await Promise.all([1, 2, 3].map((id) => session.askStream(count(8, id))))
  for (const stream of streams) await stream.message()
  first.child.kill('SIGTERM')
  for (const stream of streams) expect(textOf((await stream.messages()).at(-1))).toContain('Counted to 8')
  if (first.child.exitCode === null) await once(first.child, 'exit')
  replicas[1]?.child.kill('SIGKILL')
  await once(replicas[1]?.child as ChildProcess, 'exit')
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async (_, id) => (await session.ask({ ...callTool('replica'), id: 100 + id })).status),
  )
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200))
})
