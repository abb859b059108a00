import { describe, expect, it, vi } from 'vitest'
import { type HealthProblem, httpHandler, type RequestRecord } from '../../../src/http/index.ts'
import { ToolError } from '../../../src/server/index.ts'
import { type HttpCall, http } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  holdingServer,
  initializeMessage,
  modern,
  openSession,
  serve,
  testServer,
  until,
} from '../../support/http-service.ts'

const GET: HttpCall = { method: 'GET', isBare: true }

/** The value of a metric with exactly these labels. */
function metricOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  for (const line of text.split('\n')) {
    const [, found, inner = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (found !== name) continue
    const given = Object.fromEntries([...inner.matchAll(/(\w+)="((?:\\.|[^"])*)"/g)].map(([, key, text]) => [key, text]))
    if (JSON.stringify(Object.entries(given).sort()) === JSON.stringify(Object.entries(labels).sort())) return Number(value)
  }
  return undefined
}

async function scrape(url: string): Promise<string> {
  const { status, text } = await http(new URL('/metrics', url).href, GET)
  expect(status).toBe(200)
  return text
}

describe('health', () => {
  it('answers probes only where the option asks for it', async () => {
    const plain = await serve(testServer())
    const { url } = await serve(testServer(), { health: true })
    for (const path of ['/healthz', '/readyz']) {
      expect((await http(new URL(path, plain.url).href, GET)).status).toBe(404)
      const answer = await http(new URL(path, url).href, GET)
      expect(answer.status).toBe(200)
      expect(answer.message.status).toBe('ok')
      expect(answer.headers['cache-control']).toBe('no-store')
    }
    expect((await http(new URL('/metrics', url).href, GET)).status).toBe(404)
    expect((await http(new URL('/healthz', url).href, { ...GET, method: 'DELETE' })).status).toBe(405)
    const head = await http(new URL('/readyz', url).href, { ...GET, method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
  })

  it('says what is degraded and why, and is not ready while a part is down', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { url, handler } = await serve(testServer(), {
      health: { checks: { cache: () => ({ state: 'degraded', reason: 'The cache is cold' }) } },
    })
    const ready = (): Promise<{ status: number; message: Record<string, unknown> }> => http(new URL('/readyz', url).href, GET)
    const first = await ready()
    expect(first.status).toBe(200)
    expect(first.message).toEqual({
      status: 'degraded',
      checks: { capacity: { status: 'ok' }, cache: { status: 'degraded', reason: 'The cache is cold' } },
    })
    handler.checks.set('store', () => {
      throw new Error('password=secret')
    })
    handler.checks.set('slow', () => new Promise(() => {}))
    // An answer is used for one second.
    expect((await ready()).status).toBe(200)
    await until(async () => (await ready()).status === 503)
    const { message } = await ready()
    expect(message).toMatchObject({
      status: 'down',
      checks: { store: { status: 'down', reason: 'The check failed; see the log of the server' }, slow: { status: 'down' } },
    })
    expect(JSON.stringify(message)).not.toContain('secret')
    expect((await http(new URL('/healthz', url).href, GET)).status).toBe(200)
  })

  it('is degraded when a limit is nearly reached', async () => {
    const { server, begun, go } = holdingServer()
    const { url } = await serve(server, { health: true, limits: { maxInFlight: 1 } })
    const held = askModern(url, callTool('hold'))
    await begun.opened
    const { status, message } = await http(new URL('/readyz', url).href, GET)
    expect(status).toBe(200)
    expect(message.checks).toEqual({ capacity: { status: 'degraded', reason: '1 of 1 requests in progress (limits.maxInFlight)' } })
    go.open()
    await held
  })

  it('is alive but not ready during the shutdown', async () => {
    const { server, begun, go } = holdingServer()
    const { url, handler } = await serve(server, { health: true })
    const held = askModern(url, callTool('hold'))
    await begun.opened
    const drained = handler.drain(5000)
    const { status, message } = await http(new URL('/readyz', url).href, GET)
    expect([status, message.status]).toEqual([503, 'down'])
    expect((await http(new URL('/healthz', url).href, GET)).status).toBe(200)
    go.open()
    await Promise.all([held, drained])
  })

  it('accepts probes to the address of the machine, and no other unknown host', async () => {
    const { port } = await serve(testServer(), { health: true, metrics: true, host: '0.0.0.0', allowedHosts: ['mcp.example.com'] })
    const pod = `http://127.0.0.2:${port}`
    const statusOf = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await http(`${pod}${path}`, { ...GET, headers })).status
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect(await statusOf(path, { host: `127.0.0.2:${port}` })).toBe(200)
      expect(await statusOf(path, { host: 'mcp.example.com' })).toBe(200)
      expect(await statusOf(path, { host: `127.0.0.3:${port}` })).toBe(403)
      expect(await statusOf(path, { host: 'evil.example' })).toBe(403)
      expect(await statusOf(path, { host: '127.0.0.2.evil.example' })).toBe(403)
      expect(await statusOf(path, { host: '127.0.0.2', origin: 'http://127.0.0.2' })).toBe(403)
    }
    // The same address opens no other path.
    expect((await http(`${pod}/mcp`, modern(callTool('hi'), { host: `127.0.0.2:${port}` }))).status).toBe(403)
    expect((await http(`${pod}/mcp`, { method: 'GET', headers: { host: `127.0.0.2:${port}` } })).status).toBe(403)
  })

  it('does not accept every host because callers must authenticate', async () => {
    const { port } = await serve(testServer(), { health: true, host: '0.0.0.0', authenticate: byHeader })
    const status = async (host: string): Promise<number> =>
      (await http(`http://127.0.0.2:${port}/readyz`, { ...GET, headers: { host } })).status
    expect(await status('rebound.example')).toBe(403)
    expect(await status('127.0.0.2')).toBe(200)
  })

  it('refuses a path for the endpoint that serves health or metrics', async () => {
    await expect(serve(testServer(), { path: '/metrics', metrics: true })).rejects.toThrow('/metrics serves health or metrics')
    const { url } = await serve(testServer(), { path: '/metrics' })
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
  })
})

describe('the paths of health and metrics', () => {
  const PATHS = ['/healthz', '/readyz', '/metrics']
  const CALL = modern(callTool('hi'))
  const OPENING: HttpCall = { body: initializeMessage('2025-11-25') }

  it('take no messages of the protocol', async () => {
    const { url, handler } = await serve(testServer(), { health: true, metrics: true })
    for (const path of PATHS) {
      for (const call of [CALL, OPENING, ...['DELETE', 'PUT', 'OPTIONS'].map((method): HttpCall => ({ method, isBare: true }))]) {
        const { status, headers } = await http(new URL(path, url).href, call)
        expect([path, call.method, status, headers.allow]).toEqual([path, call.method, 405, 'GET, HEAD'])
      }
    }
    expect(handler.counts.sessions).toBe(0)
    expect(await scrape(url)).not.toMatch(/^portico_requests_total\{/m)
  })

  it('take no messages of the protocol in a program that routes them itself', async () => {
    const handler = httpHandler(testServer(), { health: true, metrics: true })
    const { headers, body } = CALL
    const init = {
      method: 'POST',
      headers: { ...(headers as Record<string, string>), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    const ask = (path: string) => handler.fetch(new Request(`http://localhost${path}`, init))
    for (const path of PATHS) {
      const answer = await ask(path)
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
      expect((await ask(`/mcp${path}`)).status).toBe(200)
    }
    await handler.close()
  })
})

describe('metrics', () => {
  it('counts requests by method, tool and outcome, and measures how long they took', async () => {
    const server = testServer({ limits: { toolCalls: { perSecond: 0.001, burst: 4 } } })
    server.tool('fail', {}, () => {
      throw new Error('broken')
    })
    const { url } = await serve(server, { metrics: true })
    server.tool('refuse', {}, () => {
      throw new ToolError('not today')
    })
    for (const tool of ['hi', 'hi', 'fail', 'refuse', 'nothing', 'hi']) await askModern(url, callTool(tool))
    await askModern(url, { method: 'tools/list' })
    await askModern(url, { method: 'made/up' })
    const text = await scrape(url)
    const total = (method: string, tool: string, outcome: string): number | undefined =>
      metricOf(text, 'portico_requests_total', { method, tool, outcome })
    expect(total('tools/call', 'hi', 'ok')).toBe(2)
    expect(total('tools/call', 'hi', 'error')).toBe(1)
    expect(total('tools/call', 'fail', 'tool_crash')).toBe(1)
    expect(total('tools/call', 'refuse', 'tool_error')).toBe(1)
    expect(total('tools/call', 'other', 'error')).toBe(1)
    expect(total('tools/list', '', 'ok')).toBe(1)
    expect(total('other', '', 'error')).toBe(1)
    expect(metricOf(text, 'portico_limits_reached_total', { limit: 'toolCalls' })).toBe(1)
    const errors = (code: string, reason: string): number | undefined => metricOf(text, 'portico_request_errors_total', { code, reason })
    expect(errors('-32601', '')).toBe(1)
    expect(errors('-32603', 'rate-limited')).toBe(1)
    expect(errors('-32603', 'crash')).toBe(1)
    expect(errors('-32603', '')).toBe(0)
    const labels = { method: 'tools/call', tool: 'hi' }
    expect(metricOf(text, 'portico_request_duration_seconds_count', labels)).toBe(3)
    expect(metricOf(text, 'portico_request_duration_seconds_bucket', { ...labels, le: '+Inf' })).toBe(3)
    expect(metricOf(text, 'portico_request_duration_seconds_sum', labels)).toBeGreaterThan(0)
    expect(metricOf(text, 'portico_message_bytes_total', { of: 'request' })).toBeGreaterThan(1000)
    expect(text).not.toContain('made/up')
    expect(text).not.toContain('nothing')
  })

  it('counts the bytes of a batch once, and its requests with the same id each for itself', async () => {
    const { server, begun, go } = holdingServer()
    const { url } = await serve(server, { metrics: true })
    const session = await openSession(url, '2025-03-26')
    const bytes = async (): Promise<number> => metricOf(await scrape(url), 'portico_message_bytes_total', { of: 'request' }) ?? Number.NaN
    const before = await bytes()
    const batch = ['hold', 'hold', 'hi'].map((tool) => ({ jsonrpc: '2.0', id: tool, ...callTool(tool) }))
    const answered = session.post(batch)
    await begun.opened
    go.open()
    expect((await answered).message).toHaveLength(3)
    expect((await bytes()) - before).toBe(JSON.stringify(batch).length)
    const text = await scrape(url)
    const total = (outcome: string): number | undefined =>
      metricOf(text, 'portico_requests_total', { method: 'tools/call', tool: 'hold', outcome })
    expect([total('ok'), total('error')]).toEqual([1, 1])
  })

  it('measures how long code blocked the process since the last scrape', async () => {
    const server = testServer()
    const BLOCKED_S = 0.4
    server.tool('block', {}, () => {
      for (const until = performance.now() + BLOCKED_S * 1000; performance.now() < until; );
      return 'done'
    })
    const { url } = await serve(server, { metrics: true })
    const pause = () => new Promise((resolve) => setTimeout(resolve, 100))
    const lag = async (quantile: string): Promise<number> =>
      metricOf(await scrape(url), 'portico_event_loop_lag_seconds', { quantile }) ?? Number.NaN
    await pause()
    await askModern(url, callTool('block'))
    await pause()
    const text = await scrape(url)
    const [median, most] = ['0.5', '1'].map((quantile) => metricOf(text, 'portico_event_loop_lag_seconds', { quantile }))
    expect(most).toBeGreaterThan(BLOCKED_S - 0.05)
    expect(most).toBeLessThan(30)
    expect(median).toBeLessThan(BLOCKED_S / 2)
    await expect.poll(async () => lag('1'), { interval: 100 }).toBeLessThan(BLOCKED_S / 2)
  })

  it('counts sessions, streams, refusals and the load, and no answered probes', async () => {
    const { server, begun, go } = holdingServer()
    const { url, port } = await serve(server, { metrics: true, health: true, legacySse: false })
    const session = await openSession(url, '2025-11-25')
    const stream = await session.listen()
    const held = session.ask(callTool('hold'))
    await begun.opened
    await http(url, { ...modern(callTool('hi')), headers: { host: 'evil.example' } })
    await http(url, modern(callTool('hi'), { origin: 'https://evil.example' }))
    await http(url, { method: 'PUT' })
    await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'unknown' })
    for (let i = 0; i < 5; i++) await http(`http://127.0.0.1:${port}/healthz`, GET)
    const text = await scrape(url)
    expect(metricOf(text, 'portico_sessions', { transport: 'streamable_http' })).toBe(1)
    expect(metricOf(text, 'portico_streams')).toBe(1)
    expect(metricOf(text, 'portico_requests_in_flight')).toBe(1)
    expect(metricOf(text, 'portico_ready')).toBe(1)
    const refused = (reason: string, status: string): number | undefined => metricOf(text, 'portico_refusals_total', { reason, status })
    expect(refused('host', '403')).toBe(1)
    expect(refused('origin', '403')).toBe(1)
    expect(refused('method_not_allowed', '405')).toBe(1)
    expect(refused('session_not_found', '404')).toBe(1)
    expect(text.match(/^portico_requests_total\{/gm)).toHaveLength(1)
    expect(metricOf(text, 'portico_requests_total', { method: 'initialize', tool: '', outcome: 'ok' })).toBe(1)
    stream.destroy()
    go.open()
    await held
  })

  it('counts a refusal under the kind that its record has', async () => {
    const kinds: [string, string][] = []
    const { url } = await serve(testServer(), {
      metrics: true,
      legacySse: false,
      limits: { maxBodyBytes: 1000 },
      onRefused: ({ kind, status }) => void kinds.push([kind, String(status)]),
    })
    await http(url, { method: 'PUT' })
    await http(url, { body: '{' })
    await http(url, { ...modern(callTool('hi')), headers: { host: 'evil.example' } })
    await http(url, { ...modern(callTool('hi')), body: ' '.repeat(2000) })
    const session = await openSession(url, '2025-11-25')
    await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'unknown' })
    expect(kinds.map(([kind]) => kind)).toEqual(['method_not_allowed', 'bad_request', 'host', 'limit', 'session_not_found'])
    const text = await scrape(url)
    for (const [reason, status] of kinds) expect(metricOf(text, 'portico_refusals_total', { reason, status })).toBe(1)
  })

  it('says that the server is not ready while a check is down', async () => {
    let problem: HealthProblem | undefined = { state: 'down', reason: 'no disk' }
    const { url } = await serve(testServer(), { metrics: true, health: { checks: { disk: () => problem } } })
    expect(metricOf(await scrape(url), 'portico_ready')).toBe(0)
    problem = undefined
    await expect.poll(async () => metricOf(await scrape(url), 'portico_ready')).toBe(1)
  })

  it('keeps the number of series bounded, whatever clients send', async () => {
    const server = testServer()
    const handles = Array.from({ length: 700 }, (_, i) => server.tool(`tool-${i}`, {}, () => 'x'))
    const { url } = await serve(server, { metrics: true, limits: { maxBodyBytes: 10_000 } })
    for (let i = 0; i < 700; i++) await askModern(url, callTool(`tool-${i}`))
    for (let i = 0; i < 200; i++) await askModern(url, { method: `method/${i}` })
    for (const handle of handles) handle.remove()
    const text = await scrape(url)
    expect(text.match(/^portico_requests_total\{/gm)?.length).toBeLessThanOrEqual(503)
    expect(metricOf(text, 'portico_requests_total', { method: 'tools/call', tool: 'other', outcome: 'ok' })).toBeGreaterThan(190)
    expect(metricOf(text, 'portico_requests_total', { method: 'other', tool: '', outcome: 'error' })).toBe(200)
  })

  it('needs the token with fetch, also for paths whose dots the runtime has removed', async () => {
    for (const [metrics, status] of [
      [true, 200],
      [{ token: 's3cret-of-the-scraper' }, 401],
    ] as const) {
      const handler = httpHandler(testServer(), { metrics })
      for (const path of ['/mcp/../metrics', '/mcp/%2e%2e/metrics'])
        expect((await handler.fetch(new Request(`http://localhost${path}`))).status).toBe(status)
      await handler.close()
    }
  })

  it('needs the token if one is set', async () => {
    const { url } = await serve(testServer(), { metrics: { token: 's3cret-of-the-scraper' } })
    const at = new URL('/metrics', url).href
    const status = async (headers: Record<string, string>): Promise<number> => (await http(at, { ...GET, headers })).status
    expect(await status({})).toBe(401)
    expect((await http(at, GET)).text).toContain('(metrics.token; in portico serve: metricsToken)')
    expect(await status({ authorization: 'Bearer wrong!' })).toBe(401)
    expect(await status({ authorization: 'Bearer s3cret-of-the-scraper' })).toBe(200)
  })

  it('serves health and metrics with web requests, too', async () => {
    const handler = httpHandler(testServer(), { health: true, metrics: true, allowedHosts: ['mcp.example.com'] })
    const { headers, body } = modern(callTool('hi'))
    const init = {
      method: 'POST',
      headers: { ...(headers as Record<string, string>), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    // Sent at once, while the part that counts is still loading.
    const answer = await handler.fetch(new Request('https://mcp.example.com/mcp', init))
    expect(answer.status).toBe(200)
    expect((await handler.fetch(new Request('https://mcp.example.com/readyz'))).status).toBe(200)
    expect((await handler.fetch(new Request('https://10.0.0.9/readyz'))).status).toBe(403)
    const metrics = await handler.fetch(new Request('https://mcp.example.com/metrics'))
    expect(metricOf(await metrics.text(), 'portico_requests_total', { method: 'tools/call', tool: 'hi', outcome: 'ok' })).toBe(1)
    handler.close()
  })
})

describe('records of requests', () => {
  it('reports each answered request with caller, target, revision, outcome, time and sizes', async () => {
    const records: RequestRecord[] = []
    const { url } = await serve(testServer(), { authenticate: byHeader, onRequest: (record) => records.push(record) })
    const call = modern({ ...callTool('hi'), id: 'a' }, { 'x-user': 'anna' })
    const answer = await http(url, call)
    const session = await openSession(url, '2025-06-18', { headers: { 'x-user': 'ben' } })
    await session.ask({ ...callTool('nothing'), id: 7 })
    await until(() => records.length === 3)
    expect(records[0]).toMatchObject({
      id: 'a',
      method: 'tools/call',
      target: 'hi',
      principal: 'anna',
      address: '127.0.0.1',
      revision: '2026-07-28',
      outcome: 'ok',
      code: undefined,
      requestBytes: JSON.stringify(call.body).length,
      responseBytes: answer.text.length,
    })
    expect(records[0]?.durationMs).toBeGreaterThan(0)
    expect(records[1]).toMatchObject({ method: 'initialize', principal: 'ben', client: 'raw/1', revision: '2025-06-18', outcome: 'ok' })
    expect(records[2]).toMatchObject({ id: 7, target: 'nothing', client: 'raw/1', outcome: 'error', code: -32602 })
    expect(JSON.stringify(records)).not.toContain(session.id)
  })

  it('answers requests even if the function for records throws', async () => {
    const { url } = await serve(testServer(), {
      onRequest: () => {
        throw new Error('no disk')
      },
    })
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
  })

  it('goes on if a function for records, refusals or errors throws or rejects', async () => {
    const lines = vi.spyOn(console, 'error').mockImplementation(() => {})
    const unhandled: unknown[] = []
    const note = (fault: unknown): void => void unhandled.push(fault)
    process.on('unhandledRejection', note)
    let calls = 0
    const throws = (): never => {
      calls++
      throw new Error('no disk')
    }
    const rejects = async (): Promise<void> => throws()
    try {
      for (const broken of [throws, rejects]) {
        lines.mockClear()
        calls = 0
        const server = testServer({ onError: broken })
        server.resource('a:1', { name: 'a' }, () => {
          throw new Error('the cause')
        })
        const { url } = await serve(server, { onRequest: broken, onRefused: broken })
        expect((await askModern(url, { method: 'resources/read', params: { uri: 'a:1' } })).text).toContain('Internal error (reference')
        expect((await http(url, { body: 'no JSON' })).status).toBe(400)
        await until(() => calls === 3)
        // In its next turn Node has reported what nobody handles.
        await new Promise((resolve) => setImmediate(resolve))
        expect(unhandled).toEqual([])
        const said = lines.mock.calls.flat().join('\n')
        for (const text of ['Error: the cause', 'Error: no disk']) expect(said).toContain(text)
      }
    } finally {
      process.off('unhandledRejection', note)
      lines.mockRestore()
    }
  })
})
