import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { listen } from '../../../src/http/index.ts'
import { http, rawHttp } from '../../support/http-requests.ts'
import { askModern, byHeader, callTool, MODERN, modern, openSession, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'

/** A server whose tool tells whether it was called. */
function spied() {
  const server = testServer()
  const called = vi.fn(() => 'called')
  server.tool('spy', {}, called)
  return { server, called }
}

const SPY = modern(callTool('spy'))
const BODY = JSON.stringify(SPY.body)
const MIRRORS = `MCP-Protocol-Version: ${MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: spy\r\n`

const rawPost = (lines: string, target = '/mcp'): string =>
  `POST ${target} HTTP/1.1\r\n${lines}Connection: close\r\nContent-Type: application/json\r\n${MIRRORS}Content-Length: ${BODY.length}\r\n\r\n${BODY}`

describe('callers without proof', () => {
  const UNCLEAR: unknown[] = [undefined, null, 'anna', {}, { principal: undefined }, { principal: '' }, { principal: 7 }, { status: 0 }]

  test.each(UNCLEAR)('authenticate that returns %j admits no caller, and ends nothing', async (said) => {
    const { server, called } = spied()
    const { url } = await serve(server, { authenticate: () => said as never })
    expect(await http(url, SPY)).toMatchObject({ status: 503, message: { error: { code: -32603 } } })
    expect(called).not.toHaveBeenCalled()
  })

  const HEADERS: [unknown, string][] = [
    [{ 'www-authenticate': undefined }, 'www-authenticate is undefined'],
    [{ 'x-reason': 'two\r\nlines' }, 'x-reason contains U+000D'],
    [{ 'x-reason': 'Łukasz' }, 'x-reason contains U+0141'],
    [{ 'two words': 'x' }, '"two words" is no name of a header'],
  ]

  test.each(HEADERS)('a refusal with the headers %j is answered 503, and the log says what is wrong', async (headers, fault) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const authenticate = (): never => ({ status: 401, message: 'Who are you?', headers }) as never
    const { url, handler } = await serve(testServer(), { authenticate })
    for (let i = 0; i < 2; i++) expect((await http(url, SPY)).status).toBe(503)
    expect((await handler.fetch(new Request(url, { method: 'POST' }))).status).toBe(503)
    const reports = log.mock.calls.map((texts) => texts.join(' '))
    log.mockRestore()
    // At most one in a minute.
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('authenticate must return headers that HTTP can carry')
    expect(reports[0]).toContain(fault)
  })

  test('a refusal that cannot be written is answered 500, and ends nothing', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const authenticate = (): never => ({ status: 401, message: 1n }) as never
    const { url, handler } = await serve(testServer(), { authenticate })
    expect((await http(url, SPY)).status).toBe(500)
    expect((await handler.fetch(new Request(url, { method: 'POST' }))).status).toBe(500)
    log.mockRestore()
  })

  test('a caller without proof is refused also when the log of refusals fails', async () => {
    const onRefused = vi.fn(() => {
      throw new Error('The disk is full')
    })
    const { url } = await serve(testServer(), { onRefused })
    expect((await http(url, { body: '{' })).status).toBe(400)
    expect(onRefused).toHaveBeenCalledOnce()
  })
})

describe('a foreign host name', () => {
  const FOREIGN: [string, number][] = [
    ['evil.com', 403],
    ['evil.com:PORT', 403],
    ['127.0.0.1.evil.com', 403],
    ['localhost.', 403],
    ['[::1].evil.com', 403],
    ['localhost:PORT@evil.com', 403],
    ['127.0.0.1:99999999', 403],
    ['127.1', 403],
    ['', 400],
  ]

  test.each(FOREIGN)('Host %j is answered %i by every method and endpoint, and no handler runs', async (host, status) => {
    proves('T-HTTP-073')
    const { server, called } = spied()
    const { port } = await serve(server)
    const line = `Host: ${host.replace('PORT', String(port))}\r\n`
    const heads = [
      rawPost(line),
      rawPost(line, '/messages?sessionId=x'),
      ...['GET /mcp', 'DELETE /mcp', 'OPTIONS /mcp', 'GET /sse'].map((what) => `${what} HTTP/1.1\r\n${line}Connection: close\r\n\r\n`),
    ]
    for (const head of heads) {
      const answer = await rawHttp(port, head).closed
      expect(answer.slice(0, 12), head).toBe(`HTTP/1.1 ${status}`)
      expect(answer).toMatch(/\r\n\r\n\{"jsonrpc":"2.0",.*"code":-32600/)
      expect(answer).not.toMatch(/<html|at .*\.ts:/i)
    }
    expect(called).not.toHaveBeenCalled()
  })

  test.each([
    ['http://127.0.0.1/mcp', 200],
    ['http://127.0.0.1/mcp?x=1', 200],
    ['HTTP://127.0.0.1/mcp/', 200],
    ['http://127.0.0.1/nothing-here', 404],
    ['http://127.0.0.1', 404],
    ['http://127.0.0.1?/mcp', 404],
    ['http://127.0.0.1//mcp', 404],
    ['/nothing-here', 404],
    ['//127.0.0.1/mcp', 404],
    ['ftp://127.0.0.1/mcp', 400],
  ])('the target %s is answered %i', async (target, status) => {
    const { server, called } = spied()
    const { port } = await serve(server)
    expect((await rawHttp(port, rawPost('Host: 127.0.0.1\r\n', target)).closed).slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
    expect(called).toHaveBeenCalledTimes(status === 200 ? 1 : 0)
  })

  test('two Host headers, none at all, or a request target that names another host are refused', async () => {
    const { server, called } = spied()
    const { port } = await serve(server)
    const own = `Host: 127.0.0.1:${port}\r\n`
    expect(await rawHttp(port, rawPost(own + own)).status()).toBe(400)
    expect(await rawHttp(port, rawPost(`${own}Host: evil.com\r\n`)).status()).toBe(400)
    expect(await rawHttp(port, rawPost('')).status()).toBe(400)
    expect(await rawHttp(port, rawPost(own, 'http://evil.com/mcp')).status()).toBe(403)
    expect(await rawHttp(port, rawPost(own, `http://evil.com:${port}/mcp`)).status()).toBe(403)
    expect(await rawHttp(port, rawPost(own, 'ftp://127.0.0.1/mcp')).status()).toBe(400)
    expect(await rawHttp(port, rawPost(own, '*')).status()).toBe(400)
    expect(called).not.toHaveBeenCalled()
    expect(await rawHttp(port, rawPost(own, `http://127.0.0.1:${port}/mcp`)).status()).toBe(200)
    expect(called).toHaveBeenCalledOnce()
  })

  test.each(['localhost:PORT', 'LocalHost', '127.0.0.1', '127.0.0.1:PORT', '[::1]', '[::1]:PORT'])(
    'Host %j is accepted at a loopback address',
    async (host) => {
      const { server } = spied()
      const { url, port } = await serve(server)
      const answer = await askModern(url, callTool('spy'), { host: host.replace('PORT', String(port)) })
      expect(answer.status).toBe(200)
    },
  )

  test('allowed names hold with and without a port, and names with a port only with that port', async () => {
    const { server } = spied()
    const { url } = await serve(server, { allowedHosts: ['mcp.example.com', 'other.example.com:8443'] })
    const statusOf = async (host: string) => (await askModern(url, callTool('spy'), { host })).status
    expect(await statusOf('mcp.example.com')).toBe(200)
    expect(await statusOf('MCP.example.com:1234')).toBe(200)
    expect(await statusOf('other.example.com:8443')).toBe(200)
    expect(await statusOf('other.example.com')).toBe(403)
    expect(await statusOf('evil.mcp.example.com')).toBe(403)
  })

  test('the option that accepts any Host header works', async () => {
    const { server } = spied()
    const { url } = await serve(server, { dangerouslyAllowAnyHost: true })
    expect((await askModern(url, callTool('spy'), { host: 'anything.example' })).status).toBe(200)
  })
})

describe('who can reach it', () => {
  test('by default the server listens at 127.0.0.1 only', async () => {
    proves('T-HTTP-007')
    const { url, port } = await serve(testServer())
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`)
    const socket = connect(port, '::1')
    const [error] = await once(socket, 'error')
    expect((error as NodeJS.ErrnoException).code).toMatch(/ECONNREFUSED|EADDRNOTAVAIL/)
  })

  test('a public address without allowed hosts and without authentication is refused at the start', async () => {
    proves('T-HTTP-008', 'R-SEC-015')
    for (const host of ['0.0.0.0', '::', '192.0.2.1'])
      await expect(listen(testServer(), { host, handleSignals: false })).rejects.toMatchObject({
        code: 'ERR_DEFINITION',
        message: expect.stringMatching(/allowedHosts.*authenticate/),
      })
  })

  test('a foreign name through loopback is refused by a server bound to every address', async () => {
    const { server, called } = spied()
    const { port } = await serve(server, { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] })
    const url = `http://127.0.0.1:${port}/mcp`
    expect((await askModern(url, callTool('spy'), { host: 'evil.com' })).status).toBe(403)
    expect(called).not.toHaveBeenCalled()
    expect((await askModern(url, callTool('spy'))).status).toBe(200)
    expect((await askModern(url, callTool('spy'), { host: 'mcp.example.com' })).status).toBe(200)
  })

  test('a foreign name is refused at loopback also with authentication', async () => {
    const { server, called } = spied()
    const { port } = await serve(server, { host: '0.0.0.0', authenticate: byHeader })
    const url = `http://127.0.0.1:${port}/mcp`
    expect((await askModern(url, callTool('spy'), { host: 'evil.com', 'x-user': 'a' })).status).toBe(403)
    expect(called).not.toHaveBeenCalled()
    expect((await askModern(url, callTool('spy'), { 'x-user': 'a' })).status).toBe(200)
  })
})

describe('pages of other origins', () => {
  const ORIGINS = ['http://evil.com', 'null', 'file://', 'http://localhost.evil.com', 'http://localhost:1', 'https://127.0.0.1']

  test.each(ORIGINS)('Origin %s is answered 403 with an error without id, on every method and with good credentials', async (origin) => {
    proves('T-HTTP-004', 'T-HTTP-005', 'T-HTTP-006')
    const { server, called } = spied()
    const { url } = await serve(server, { authenticate: byHeader })
    const session = await openSession(url, '2025-11-25', { headers: { 'x-user': 'a' } })
    const headers = { ...session.headers, origin }
    const answers = [
      await askModern(url, callTool('spy'), { origin, 'x-user': 'a' }),
      await session.ask(callTool('spy'), { origin }),
      await http(url, { method: 'GET', headers }),
      await http(url, { method: 'DELETE', headers }),
      await http(url, { method: 'OPTIONS', headers }),
      await http(url.replace('/mcp', '/sse'), { method: 'GET', headers }),
    ]
    for (const { status, message, headers } of answers) {
      expect(status).toBe(403)
      expect(message).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
      expect(message.id ?? null).toBeNull()
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
    expect(called).not.toHaveBeenCalled()
    expect((await session.ask(callTool('spy'))).status).toBe(200)
  })

  test('requests without Origin, with our own, or with an allowed one pass', async () => {
    const { server } = spied()
    const { url, port } = await serve(server, { allowedOrigins: ['https://app.example.com'] })
    expect((await askModern(url, callTool('spy'))).status).toBe(200)
    for (const origin of [`http://127.0.0.1:${port}`, 'https://app.example.com', 'https://APP.example.com'])
      expect((await askModern(url, callTool('spy'), { origin })).status).toBe(200)
    expect((await askModern(url, callTool('spy'), { origin: 'https://app.example.com.evil.com' })).status).toBe(403)
  })

  test('refused credentials over failedLogins are answered 429, and missing ones are not counted', async () => {
    const { server, called } = spied()
    const onRefused = vi.fn()
    const limits = { failedLogins: { perSecond: 0.001, burst: 3 } }
    const { url } = await serve(server, { authenticate: byHeader, onRefused, limits })
    const statusOf = async (headers: Record<string, string>): Promise<number> => (await askModern(url, callTool('spy'), headers)).status
    const guess = (i: number) => ({ authorization: `Bearer wrong ${i}` })
    const right = { 'x-user': 'alice', authorization: 'Bearer right' }
    expect(await statusOf(right)).toBe(200)
    called.mockClear()
    expect([await statusOf(guess(1)), await statusOf(guess(2)), await statusOf({}), await statusOf(guess(3))]).toEqual([401, 401, 401, 401])
    // A token that has ended is found out by every request in hand; that is no guessing.
    expect(await Promise.all([1, 2, 3, 4, 5].map(() => statusOf(guess(3))))).toEqual([401, 401, 401, 401, 401])
    const last = await askModern(url, callTool('spy'), guess(4))
    expect([last.status, Number(last.headers['retry-after']) > 0, last.message.error?.data.limit]).toEqual([429, true, 'failedLogins'])
    expect(await statusOf({})).toBe(401)
    expect(called).not.toHaveBeenCalled()
    // Callers with the same address are not locked out. Credentials that were never accepted may be a guess that is right.
    expect(await statusOf(right)).toBe(200)
    expect(await statusOf({ 'x-user': 'bob', authorization: 'Bearer right, too' })).toBe(429)
    expect(onRefused).toHaveBeenCalledWith(expect.objectContaining({ status: 429, limit: 'failedLogins' }))
  })

  test('credentials with a colliding short hash are counted like any others', async () => {
    const { server } = spied()
    const { url } = await serve(server, { authenticate: byHeader, limits: { failedLogins: { perSecond: 0.001, burst: 3 } } })
    const sumOf = (text: string): number => {
      let sum = 0
      for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0
      return sum
    }
    // Two texts with the same sum of this kind, and so have any texts made of them: AaAa, BBBB, AaBB, BBAa.
    const guesses = ['AaAaAa', 'BBBBBB', 'AaBBAa', 'BBAaBB', 'AaAaBB'].map((text) => `Bearer ${text}`)
    expect(new Set(guesses.map(sumOf)).size).toBe(1)
    const statuses: number[] = []
    for (const authorization of guesses) statuses.push((await askModern(url, callTool('spy'), { authorization })).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
  })

  test('refused credentials are counted for the address that a trusted proxy reports', async () => {
    const { server } = spied()
    const limits = { failedLogins: { perSecond: 0.001, burst: 1 } }
    const { url } = await serve(server, { authenticate: byHeader, trustProxy: 1, limits })
    const statusFor = async (address: string, guess: string): Promise<number> =>
      (await askModern(url, callTool('spy'), { authorization: `Bearer ${guess}`, 'x-forwarded-for': address })).status
    expect([await statusFor('192.0.2.1', 'a'), await statusFor('192.0.2.1', 'b'), await statusFor('192.0.2.2', 'c')]).toEqual([
      401, 429, 401,
    ])
    // What stands further left was written by the client.
    expect(await statusFor('192.0.2.9, 192.0.2.1', 'd')).toBe(429)
  })

  test('every method and endpoint authenticates before it answers anything else', async () => {
    proves('T-HTTP-008')
    const { server, called } = spied()
    const { url } = await serve(server, { authenticate: byHeader })
    const old = url.replace('/mcp', '')
    const answers = [
      await http(url, { ...SPY }),
      await http(url, { body: 'not json' }),
      await http(url, { headers: { 'content-type': 'text/plain' }, body: 'x' }),
      await http(url, { method: 'GET' }),
      await http(url, { method: 'DELETE' }),
      await http(`${old}/sse`, { method: 'GET' }),
      await http(`${old}/messages?sessionId=x`, { body: {} }),
    ]
    for (const { status, headers, message } of answers) {
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toBe('Test')
      expect(message.error).toEqual({ code: -32600, message: 'Who are you?' })
    }
    expect(called).not.toHaveBeenCalled()
  })

  test('a failing authentication is answered 503 without the cause', async () => {
    const { url } = await serve(testServer(), {
      authenticate: () => {
        throw new Error('the database at 10.0.0.7 is down')
      },
    })
    const { status, headers, text } = await askModern(url, callTool('hi'))
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(text).not.toContain('10.0.0.7')
  })
})

describe('posts that a page can send without asking', () => {
  const TYPES = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    'application/jsonp',
    'application/json-patch+json',
    '',
  ]

  test.each(TYPES)('Content-Type %j is answered 415 before the body has arrived', async (type) => {
    const { server, called } = spied()
    const { port } = await serve(server)
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${MIRRORS}Content-Type: ${type}\r\nContent-Length: ${BODY.length}\r\n\r\n`
    // Not one byte of the body is ever sent.
    expect(await rawHttp(port, head).status()).toBe(415)
    expect(called).not.toHaveBeenCalled()
  })

  test('a missing Content-Type is answered 415, and application/json with parameters is accepted', async () => {
    proves('T-HTTP-072')
    const { server } = spied()
    const { url } = await serve(server)
    const { headers = {}, body } = SPY
    const bare = await http(url, { isBare: true, headers, body })
    expect([bare.status, bare.message.error?.code]).toEqual([415, -32600])
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])
      expect((await http(url, { headers: { ...headers, 'content-type': type }, body })).status).toBe(200)
  })
})
