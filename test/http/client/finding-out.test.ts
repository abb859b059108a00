import { describe, expect, test } from 'vitest'
import { verdictMemory } from '../../../src/client/index.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import {
  type Events,
  failureOf,
  type HttpScript,
  httpScript,
  open,
  openSession,
  type Respond,
  SAID,
  SESSION,
  STATELESS,
  sessionServer,
  statelessServer,
} from './scripted-http.ts'

const methods = ({ received }: HttpScript): string[] => received.map(({ verb, message }) => message.method ?? verb)

describe('a server without sessions', () => {
  test('a stateless server is found with the first request', async () => {
    proves('R-DISC-029', 'R-DISC-024')
    const server = await statelessServer()
    const { client } = await open(server)
    expect(client.revision).toBe(STATELESS)
    expect(client.server.info.name).toBe('scripted')
    expect(methods(server)).toEqual(['server/discover'])
  })

  test('a stateless server may describe itself beside its capabilities', async () => {
    const server = await statelessServer({
      'server/discover': (_, answer) =>
        answer.result({ supportedVersions: [STATELESS], capabilities: {}, serverInfo: { name: 'draft', version: '0' } }),
    })
    const { client } = await open(server)
    expect(client.server.info).toEqual({ name: 'draft', version: '0' })
  })

  const refusing =
    (times: number): Respond =>
    ({ message }, answer) => {
      if (--times >= 0) return answer.error(-32022, 'Unsupported protocol version', 400, { supported: [STATELESS], requested: STATELESS })
      answer.json({ jsonrpc: '2.0', id: message.id, result: { supportedVersions: [STATELESS], capabilities: {} } })
    }

  test('a stateless server that refuses a version it lists is asked again, once', async () => {
    proves('R-DISC-005', 'R-DISC-031')
    const server = await statelessServer({ 'server/discover': refusing(1) })
    expect((await open(server)).client.revision).toBe(STATELESS)
    const stubborn = await statelessServer({ 'server/discover': refusing(99) })
    expect(await failureOf(open(stubborn))).toMatchObject({ code: 'ERR_VERSION_UNSUPPORTED' })
    expect(methods(stubborn)).toEqual(['server/discover', 'server/discover'])
  })
})

describe('a refusal in the words of a server without sessions', () => {
  const CODES: [code: number, data: Message | undefined][] = [
    [-32020, undefined],
    [-32021, { requiredCapabilities: { sampling: {} } }],
    [-32022, { supported: ['2030-01-01'], requested: STATELESS }],
  ]
  test.each(CODES)('a stateless refusal (%i with HTTP 400) is understood, and no handshake follows', async (code, data) => {
    proves('R-DISC-030', 'R-DISC-031', 'R-DISC-015')
    const server = await sessionServer({ 'server/discover': (_, answer) => answer.error(code, 'not like this', 400, data) })
    expect(await failureOf(open(server))).toMatchObject({ code: 'ERR_VERSION_UNSUPPORTED' })
    expect(methods(server)).toEqual(['server/discover'])
  })
})

describe('a server with sessions', () => {
  test.each([
    ['an error of its own', (answer) => answer.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'No session' } }, 400)],
    ['an unknown method', (answer) => answer.error(-32601, 'Method not found', 404)],
    ['an empty 400', (answer) => answer.status(400)],
    ['a page that was not found', (answer) => answer.text('<h1>404</h1>', 404, { 'content-type': 'text/html' })],
    ['a verb that is not allowed', (answer) => answer.status(405)],
  ] as [string, (answer: Parameters<Respond>[1]) => void][])('a server with sessions is found behind %s', async (_, refuse) => {
    proves('R-DISC-032')
    const server = await sessionServer({ 'server/discover': (_received, answer) => refuse(answer) })
    const { client } = await open(server)
    expect(client.revision).toBe(SESSION)
    expect(methods(server).slice(0, 2)).toEqual(['server/discover', 'initialize'])
  })

  test('a server of unknown newer versions is reported as such, not as no server', async () => {
    const server = await statelessServer({
      'server/discover': (_, answer) => answer.result({ resultType: 'complete', supportedVersions: ['2099-01-01'], capabilities: {} }),
    })
    expect(await failureOf(open(server))).toMatchObject({
      code: 'ERR_VERSION_UNSUPPORTED',
      message: expect.stringMatching(/The server supports 2099-01-01; this client supports .*2026-07-28/),
    })
  })

  test('a server that lists only unknown newer versions may still accept the handshake', async () => {
    const server = await sessionServer({
      'server/discover': (_, answer) => answer.result({ resultType: 'complete', supportedVersions: ['2099-01-01'], capabilities: {} }),
    })
    expect((await open(server)).client.revision).toBe(SESSION)
  })

  test('a server with sessions is remembered: the next connection begins with the handshake', async () => {
    proves('R-DISC-016')
    const server = await sessionServer()
    const memory = verdictMemory()
    await (await open(server, { memory })).client.ping()
    server.received.length = 0
    await open(server, { memory })
    expect(methods(server)[0]).toBe('initialize')
  })

  test('a server with sessions is found with the handshake alone when nothing newer is wanted', async () => {
    proves('T-SSE1-011')
    const server = await sessionServer()
    await (await openSession(server)).client.ping()
    expect(methods(server)).toEqual(['initialize', 'notifications/initialized', 'GET', 'ping'])
  })

  test.each([401, 403, 407, 408, 429, 502, 503, 504])('sessions are not tried after HTTP %i with any body', async (status) => {
    proves('T-SSE1-012')
    const server = await httpScript((_, answer) => answer.error(-32000, 'go away', status))
    const code = status === 401 ? 'ERR_AUTH' : 'ERR_HTTP'
    expect(await failureOf(open(server))).toMatchObject({
      code,
      data: { status },
      message: expect.stringContaining('go away'),
      cause: { name: 'RemoteError', code: -32000 },
    })
    expect(methods(server)).toEqual(['server/discover'])
    server.received.length = 0
    expect(await failureOf(openSession(server))).toMatchObject({ code, data: { status } })
    expect(methods(server)).toEqual(['initialize'])
  })

  test.each([400, 402, 404, 405, 406, 410, 415, 422, 500, 501])(
    'a server with sessions is found behind HTTP %i without a body of the protocol',
    async (status) => {
      proves('R-DISC-032')
      const server = await sessionServer({
        'server/discover': (_, answer) => answer.text('<h1>No</h1>', status, { 'content-type': 'text/html' }),
      })
      const { client } = await open(server)
      expect(client.revision).toBe(SESSION)
      expect(methods(server).slice(0, 2)).toEqual(['server/discover', 'initialize'])
    },
  )

  test.each([400, 406, 422, 500])(
    'a server with sessions is found behind HTTP %i with an error that is not of the new kind',
    async (status) => {
      const server = await sessionServer({ 'server/discover': (_, answer) => answer.error(-32603, 'unknown method', status) })
      expect((await open(server)).client.revision).toBe(SESSION)
    },
  )

  test('a server that fails at the handshake as well is an error with its message', async () => {
    const server = await httpScript((_, answer) => answer.error(-32603, 'on fire', 500))
    expect(await failureOf(open(server))).toMatchObject({
      code: 'ERR_HTTP',
      data: { status: 500 },
      message: expect.stringContaining('on fire'),
    })
    expect(methods(server)).toEqual(['server/discover', 'initialize'])
  })

  test('a server that refuses the handshake by its error is believed', async () => {
    const server = await sessionServer({ initialize: (_, answer) => answer.error(-32602, 'No capabilities', 400) })
    expect(await failureOf(openSession(server))).toMatchObject({ name: 'RemoteError', code: -32602, message: 'No capabilities' })
    expect(methods(server)).toEqual(['initialize'])
  })
})

describe('nothing', () => {
  test('a closed port is a network error', async () => {
    const server = await httpScript(() => {})
    await server.close()
    const failure = await failureOf(open(server))
    expect(failure).toMatchObject({ code: 'ERR_NETWORK', message: expect.stringContaining('ECONNREFUSED') })
    expect(failure.message).toContain(server.url)
  })

  test('a URL without a server is an error that lists the attempts', async () => {
    const server = await httpScript((_, answer) => answer.text('<h1>Not here</h1>', 404, { 'content-type': 'text/html' }))
    expect(await failureOf(open(server))).toMatchObject({
      code: 'ERR_NO_ENDPOINT',
      data: { status: 404 },
      message: expect.stringMatching(/initialize with HTTP 404 Not Found; .*GET was answered with HTTP 404 Not Found and text\/html/),
    })
    expect(methods(server)).toEqual(['server/discover', 'initialize', 'GET'])
  })

  test('a stream that starts with another event is not a server of 2024-11-05', async () => {
    const server = await httpScript(({ verb }, answer) => {
      if (verb === 'GET') answer.events().raw('event: hello\ndata: you\n\n')
      else answer.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Not like this' } }, 400)
    })
    expect(await failureOf(openSession(server))).toMatchObject({ name: 'RemoteError', message: 'Not like this' })
    await expect.poll(() => server.sockets.size).toBe(0)
  })
})

describe('a server of 2024-11-05', () => {
  /** @param endpoint what the first event says */
  const oldServer = (
    endpoint = '/messages?sessionId=7',
    onStream: (events: Events) => void = () => {},
    refusal = { status: 500, body: 'no' },
  ): Promise<HttpScript> => {
    let events: Events | undefined
    const answerOf = (method: string): object => {
      if (method === 'initialize') {
        return { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }
      }
      return method === 'tools/list' ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } : SAID
    }
    return httpScript(({ verb, path, message }, answer) => {
      if (verb === 'GET' && path === '/mcp') {
        events = answer.events().raw(`: hello\n\nevent: endpoint\ndata: ${endpoint}\n\n`)
        return onStream(events)
      }
      if (path === '/mcp') return answer.text('Cannot POST /mcp', 404)
      if (message.method === 'resources/list') return answer.text(refusal.body, refusal.status)
      answer.text('Accepted', 202)
      if (message.id !== undefined)
        events?.raw(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answerOf(message.method) })}\n\n`)
    })
  }

  test('a server of 2024-11-05 is found behind the same URL, and spoken to as it announces', async () => {
    proves('T-SSE1-005', 'T-SSE1-007', 'T-SSE1-010', 'T-SSE1-012', 'T-SSE1-013', 'T-VER-020', 'R-DISC-033', 'R-SSE1-002')
    const server = await oldServer()
    const { client, warnings } = await open(server)
    expect(client.revision).toBe('2024-11-05')
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(server.received.map(({ verb, path, message }) => `${verb} ${path} ${message.method ?? ''}`.trim())).toEqual([
      'POST /mcp server/discover',
      'POST /mcp initialize',
      'GET /mcp',
      'POST /messages?sessionId=7 initialize',
      'POST /messages?sessionId=7 notifications/initialized',
      'POST /messages?sessionId=7 tools/list',
      'POST /messages?sessionId=7 tools/call',
    ])
    expect(server.received[2]?.headers.accept).toBe('text/event-stream')
    expect(warnings).toEqual([])
    await client.close()
    await expect.poll(() => server.sockets.size).toBe(0)
  })

  test('a server of 2024-11-05 ends the connection with its stream', async () => {
    proves('T-SSE1-007')
    let events: Events | undefined
    const server = await oldServer(undefined, (given) => {
      events = given
    })
    let closedBy: Error | undefined
    const { client } = await openSession(server, { onClose: (error) => (closedBy = error) })
    events?.end()
    await expect.poll(() => client.isClosed).toBe(true)
    expect(closedBy).toMatchObject({ code: 'ERR_CLOSED', message: expect.stringContaining('ended its stream') })
  })

  test('a server of 2024-11-05 that refuses a message loses only that', async () => {
    const server = await oldServer()
    const { client } = await openSession(server)
    expect(await failureOf(client.request('x/unknown', {}))).toBeDefined()
    expect(await client.call('echo', {})).toMatchObject(SAID)
  })

  test.each([
    ['in words', 500, 'no such thing', /answered resources\/list with HTTP 500 Internal Server Error: .*no such thing/],
    [
      'as a JSON-RPC error',
      400,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Not now"}}',
      /HTTP 400 Bad Request: .*Not now/,
    ],
    ['as not found', 404, '', /answered resources\/list with HTTP 404 Not Found$/],
  ])('a server of 2024-11-05 that refuses a request %s fails it, and the connection continues', async (_how, status, body, words) => {
    const server = await oldServer(undefined, () => {}, { status, body })
    const { client } = await openSession(server)
    const refused = await failureOf(client.request('resources/list', {}))
    expect(refused).toMatchObject({ code: 'ERR_HTTP', message: expect.stringMatching(words), data: { status } })
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(client.isClosed).toBe(false)
  })

  test('a server of 2024-11-05 that refuses the handshake is an error with its message', async () => {
    const server = await httpScript(({ verb, path }, answer) => {
      if (verb === 'GET') answer.events().raw('event: endpoint\ndata: /messages\n\n')
      else if (path === '/mcp') answer.status(404)
      else answer.text('closed on Sundays', 400)
    })
    expect(await failureOf(openSession(server))).toMatchObject({ message: expect.stringContaining('closed on Sundays') })
    await expect.poll(() => server.sockets.size).toBe(0)
  })

  test('a stream that ends before it names its endpoint is not a server of 2024-11-05', async () => {
    const server = await httpScript(({ verb }, answer) => {
      if (verb === 'GET') answer.events().end()
      else answer.status(405)
    })
    expect(await failureOf(openSession(server))).toMatchObject({
      code: 'ERR_NO_ENDPOINT',
      message: expect.stringContaining('the stream is empty'),
    })
  })

  test.each(['https://evil.example/messages', 'http://127.0.0.1:1/messages', '//evil.example/'])(
    'a server of 2024-11-05 may not send its clients elsewhere: %s',
    async (endpoint) => {
      const server = await oldServer(endpoint)
      expect(await failureOf(openSession(server))).toMatchObject({
        code: 'ERR_INSECURE',
        message: expect.stringContaining('another origin'),
      })
      expect(methods(server)).toEqual(['initialize', 'GET'])
    },
  )

  test('a server of 2024-11-05 that never names its endpoint ends with a timeout', async () => {
    const server = await httpScript(({ verb }, answer) => {
      if (verb === 'GET') answer.events().raw(': wait\n\n')
      else answer.status(405)
    })
    expect(await failureOf(openSession(server, { limits: { connectTimeoutMs: 200 } }))).toMatchObject({ code: 'ERR_TIMEOUT' })
    await expect.poll(() => server.sockets.size).toBe(0)
  })
})
