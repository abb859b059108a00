import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpTarget } from '../../../src/http/client/index.ts'
import type { HttpClientLimits } from '../../../src/http/client/options.ts'
import { proves } from '../../support/proves.ts'
import {
  type Answer,
  failureOf,
  httpScript,
  open,
  openSession,
  type Respond,
  SAID,
  type Script,
  sessionServer,
  statelessServer,
} from './scripted-http.ts'

const calling = (respond: Respond): Script => ({ 'tools/call': respond })
const textResult = (text: string): { content: { type: string; text: string }[] } => ({ content: [{ type: 'text', text }] })

/** Calls the tool against an answer, and looks whether the client lives on. */
async function outcomeOf(respond: Respond, limits: Partial<HttpClientLimits> = {}, timeoutMs = 5000) {
  const server = await sessionServer(calling(respond))
  const { client, warnings } = await openSession(server, { http: { limits } })
  await client.tools().all()
  const outcome = await failureOf(client.call('echo', {}, { timeoutMs }))
  await client.ping()
  return { outcome, warnings, server }
}

describe('an answer that is none', () => {
  const answers: [string, (answer: Answer, id: unknown) => void, RegExp][] = [
    [
      'a page',
      (answer) => answer.text('<html>', 200, { 'content-type': 'text/html' }),
      /HTTP 200 OK and text\/html; expected application\/json or text\/event-stream/,
    ],
    [
      'two types',
      (answer) => answer.response.writeHead(200, ['content-type', 'application/json', 'content-type', 'text/html']).end('{}'),
      /application\/json,text\/html; expected/,
    ],
    ['plain text', (answer) => answer.text('{}', 200, { 'content-type': 'text/plain' }), /text\/plain; expected/],
    ['nothing that says what it is', (answer) => answer.text('{}'), /no content type; expected/],
    ['an acceptance', (answer) => answer.status(202), /HTTP 202 Accepted and no content type/],
    ['an empty body', (answer) => answer.json(''), /an empty body; expected a JSON-RPC answer/],
    ['half of a message', (answer) => answer.json('{"jsonrpc":"2.0","id"'), /not valid JSON/],
    ['another JSON', (answer) => answer.json({ hello: 'world' }), /\{\\"hello\\":\\"world\\"\}.*needs "method", "result" or "error"/],
    ['a list', (answer) => answer.json([]), /empty array/],
    ['a number', (answer) => answer.json('42'), /not a number/],
    [
      'the answer to something else',
      (answer) => answer.json({ jsonrpc: '2.0', id: 999, result: {} }),
      /an answer to another request \(id 999\)/,
    ],
    [
      'an id that is not quite the same',
      (answer, id) => answer.json({ jsonrpc: '2.0', id: `0${id}`, result: {} }),
      /an answer to another request/,
    ],
    ['a notification', (answer) => answer.json({ jsonrpc: '2.0', method: 'notifications/x' }), /a notification \(notifications\/x\)/],
    [
      'a result and an error',
      (answer, id) => answer.json({ jsonrpc: '2.0', id, result: {}, error: { code: 1, message: '' } }),
      /both "result" and "error"/,
    ],
    ['a result that is no object', (answer, id) => answer.json({ jsonrpc: '2.0', id, result: 1 }), /a number, not an object/],
    ['another version of JSON-RPC', (answer, id) => answer.json({ jsonrpc: '1.0', id, result: {} }), /without "jsonrpc": "2.0"/],
    [
      'bytes that are no text',
      (answer) => answer.response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.from([0x7b, 0xff])),
      /not UTF-8/,
    ],
  ]

  test.each(answers)('an invalid answer is an error that says what came: %s', async (_, respond, words) => {
    const { outcome } = await outcomeOf(({ message }, answer) => respond(answer, message.id))
    expect(outcome).toMatchObject({ code: 'ERR_ANSWER_INVALID', message: expect.stringMatching(words) })
    expect(outcome.message).toContain('tools/call')
  })

  test.each([
    ['the answer to something else', (id: unknown) => ({ jsonrpc: '2.0', id: Number(id) + 100, result: {} }), 'ERR_CLOSED'],
    ['a message without anything', (id: unknown) => ({ jsonrpc: '2.0', id }), 'ERR_ANSWER_INVALID'],
    ['a result that is no object', (id: unknown) => ({ jsonrpc: '2.0', id, result: [] }), 'ERR_ANSWER_INVALID'],
  ])('an invalid answer on a stream is an error too: %s', async (_, made, code) => {
    const { outcome } = await outcomeOf(({ message }, answer) => answer.events().message(made(message.id)).end())
    expect(outcome).toMatchObject({ code })
  })

  test('an invalid message on a stream is skipped with a warning', async () => {
    const server = await sessionServer(calling((_, answer) => answer.events().raw('data: not json\n\n').result(SAID).end()))
    const { client, warnings } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(warnings).toEqual([expect.stringContaining('"not json"')])
  })

  test('repeated invalid messages cause a limited number of warnings', async () => {
    const server = await sessionServer(calling((_, answer) => answer.events().raw('data: noise\n\n'.repeat(1000)).result(SAID).end()))
    const { client, warnings } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(warnings).toHaveLength(10)
    expect(warnings.at(-1)).toContain('further warnings of this kind are dropped')
  })

  test('an error without an id belongs to the request it answers', async () => {
    const { outcome } = await outcomeOf((_, answer) =>
      answer.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'What?' } }, 400),
    )
    expect(outcome).toMatchObject({ name: 'RemoteError', code: -32600, message: 'What?' })
  })

  test('an error answer keeps the status and the retry time', async () => {
    const { outcome } = await outcomeOf((_, answer) => answer.text('Slow down', 429, { 'retry-after': '70' }))
    expect(outcome).toMatchObject({
      code: 'ERR_HTTP',
      data: { status: 429, retryAfterMs: 70_000 },
      message: expect.stringContaining('Slow down'),
    })
  })

  test('an error answer keeps the reason of the server', async () => {
    const error = { code: -32603, message: 'Down', data: { reason: 'store_down', retryable: true, more: 'x' } }
    const { outcome } = await outcomeOf((_, answer) => answer.json({ jsonrpc: '2.0', id: 1, error }, 503))
    expect(outcome).toMatchObject({ code: 'ERR_HTTP' })
    expect((outcome as { data?: unknown }).data).toEqual({ status: 503, reason: 'store_down', retryable: true })
  })

  test('a broken connection is a network error', async () => {
    for (const respond of [
      (_: unknown, { response }: Answer) => void response.destroy(),
      (_: unknown, { response }: Answer) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"jsonrpc"')
        setTimeout(() => response.destroy(), 20)
      },
    ]) {
      const { outcome } = await outcomeOf(respond)
      expect(outcome).toMatchObject({ code: 'ERR_NETWORK' })
    }
  })

  test('a missing answer ends with the timeout of the request', async () => {
    const { outcome } = await outcomeOf(() => {}, {}, 100)
    expect(outcome).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('a question in an answer where none is allowed gets no answer', async () => {
    proves('R-HTTP-013')
    const server = await statelessServer(
      calling((_, answer) => answer.events().message({ jsonrpc: '2.0', id: 1, method: 'roots/list' }).result(SAID).end()),
    )
    const { client, warnings } = await open(server, { answer: { roots: ['file:///secret'] } })
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(warnings).toEqual([expect.stringContaining('servers send no requests')])
    expect(server.received.every(({ message }) => message.method !== undefined)).toBe(true)
  })
})

describe('what a server may send', () => {
  const jsonOf = (id: unknown, size: number): string => {
    const empty = JSON.stringify({ jsonrpc: '2.0', id, result: textResult('') })
    return JSON.stringify({ jsonrpc: '2.0', id, result: textResult('x'.repeat(size - empty.length)) })
  }

  test.each([
    [2047, true],
    [2048, true],
    [2049, false],
  ])('a JSON answer is bounded by maxBodyBytes: %i of 2048', async (size, fits) => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const { outcome } = await outcomeOf(({ message }, answer) => answer.json(jsonOf(message.id, size), 200, headers), {
        maxBodyBytes: 2048,
      })
      if (fits) expect(outcome.message).toContain('It succeeded')
      else expect(outcome).toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('(limits.maxBodyBytes)') })
    }
  })

  test.each([
    [2047, true],
    [2048, true],
    [2049, false],
  ])('one event is bounded by maxBodyBytes: %i of 2048', async (size, fits) => {
    const { outcome } = await outcomeOf(
      ({ message }, answer) =>
        answer
          .events()
          .raw(`data: ${jsonOf(message.id, size)}\n\n`)
          .end(),
      { maxBodyBytes: 2048 },
    )
    if (fits) expect(outcome.message).toContain('It succeeded')
    else expect(outcome).toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('(limits.maxBodyBytes)') })
  })

  const flood = (piece: string, before = '', onGone = (): void => {}): Respond => {
    return (_, answer) => {
      const { response } = answer.events().raw(before)
      response.once('close', onGone)
      const pour = (): void => {
        while (!response.destroyed && response.write(piece)) {}
      }
      response.on('drain', pour)
      pour()
    }
  }

  test.each([
    ['a line without end', 'x'.repeat(65_536), 'data: '],
    ['an event without end', `data: ${'x'.repeat(1000)}\n`, ''],
    ['a comment without end', 'x'.repeat(65_536), ': '],
    ['an id without end', 'x'.repeat(65_536), 'id: '],
  ])('an answer over its limit is cut off, with its connection: %s', async (_, piece, before) => {
    const rssBefore = process.memoryUsage().rss
    let isGone = false
    const { outcome } = await outcomeOf(
      flood(piece, before, () => (isGone = true)),
      { maxBodyBytes: 4 * 1024 * 1024 },
    )
    expect(outcome).toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('(limits.maxBodyBytes)') })
    await expect.poll(() => isGone).toBe(true)
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(100 * 1024 * 1024)
  })

  test('comments keep a stream alive, but do not extend the timeout of a request', async () => {
    let isGone = false
    const comments = flood(`: ${'x'.repeat(100)}\n`, '', () => (isGone = true))
    const { outcome } = await outcomeOf(comments, {}, 300)
    expect(outcome).toMatchObject({ code: 'ERR_TIMEOUT' })
    await expect.poll(() => isGone).toBe(true)
  })

  test('headers are bounded by 16 KiB', async () => {
    const withHeader =
      (size: number): Respond =>
      ({ message }, answer) =>
        answer.json({ jsonrpc: '2.0', id: message.id, result: SAID }, 200, { 'x-filler': 'x'.repeat(size) })
    const fits = await outcomeOf(withHeader(15_000))
    expect(fits.outcome.message).toContain('It succeeded')
    const { outcome } = await outcomeOf(withHeader(17_000))
    expect(outcome).toMatchObject({ code: 'ERR_LIMIT', message: expect.stringMatching(/sent more than 16384 bytes of headers$/) })
  })

  test('compression is neither requested nor accepted', async () => {
    const bomb = gzipSync(Buffer.alloc(1024 * 1024, 32))
    const { outcome, server } = await outcomeOf((_, answer) => {
      answer.response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
    })
    expect(outcome).toMatchObject({ code: 'ERR_ANSWER_INVALID', message: expect.stringContaining('compressed') })
    for (const { verb, headers } of server.received) if (verb !== 'DELETE') expect(headers['accept-encoding']).toBe('identity')
  })

  test('the body of a 202 is not read', async () => {
    let isGone = false
    const server = await sessionServer({ 'notifications/roots/list_changed': flood('x'.repeat(65_536), '', () => (isGone = true)) })
    const { client } = await openSession(server, { answer: { roots: ['file:///a'] } })
    client.setRoots([])
    await expect.poll(() => isGone).toBe(true)
    await client.ping()
  })
})

describe('a redirect', () => {
  const moved =
    (status: number, location: string): Respond =>
    ({ path }, answer) =>
      path === '/mcp' ? answer.status(status, { location }) : answer.status(500)

  test.each([307, 308])('a redirect that repeats the request (%i) is followed within the origin', async (status) => {
    const server = await httpScript((received, answer) => {
      if (received.path === '/mcp') return answer.status(status, { location: '/mcp/' })
      const { message, verb } = received
      if (message.method === 'initialize')
        return answer.result(
          { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'moved', version: '1' } },
          { 'mcp-session-id': 's' },
        )
      if (verb !== 'POST') return answer.status(405)
      if (message.id === undefined) return answer.status(202)
      answer.result({})
    })
    const { client } = await openSession(server)
    await client.ping()
    expect(client.server.info.name).toBe('moved')
    const pings = server.posts('ping')
    expect(pings.map(({ path }) => path)).toEqual(['/mcp', '/mcp/'])
    expect(pings[1]?.headers).toMatchObject({ 'mcp-session-id': 's', 'mcp-method': 'ping', 'content-type': 'application/json' })
  })

  test('a redirect to another origin is not followed, and nothing is sent there', async () => {
    proves('T-HTTP-062')
    const canary = await httpScript((_, answer) => answer.status(200))
    const authorization = 'Bearer very-secret'
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await httpScript(moved(status, `${canary.origin}/mcp`))
      expect(await failureOf(openSession(server, { http: { headers: { authorization } } }))).toMatchObject({
        code: 'ERR_INSECURE',
        message: expect.stringContaining('another origin'),
      })
    }
    expect(canary.received).toEqual([])
  })

  test.each([301, 302, 303])('a redirect that would turn a POST into a GET (%i) is not followed', async (status) => {
    const server = await httpScript(moved(status, '/other'))
    expect(await failureOf(openSession(server))).toMatchObject({ code: 'ERR_HTTP', data: { status } })
    expect(server.received).toHaveLength(1)
  })

  test('redirects are followed three times', async () => {
    const server = await httpScript(({ path }, answer) => answer.status(307, { location: `${path}x` }))
    expect(await failureOf(openSession(server))).toMatchObject({
      code: 'ERR_HTTP',
      message: expect.stringMatching(/more than 3 times$/),
    })
    expect(server.received.map(({ path }) => path)).toEqual(['/mcp', '/mcpx', '/mcpxx', '/mcpxxx'])
  })

  test.each(['', 'http://['])('a redirect without a valid target is an error: %j', async (location) => {
    const server = await httpScript((_, answer) => answer.status(307, location === '' ? {} : { location }))
    expect(await failureOf(openSession(server))).toMatchObject({
      code: 'ERR_HTTP',
      message: expect.stringContaining('without a valid location'),
    })
  })
})

describe('an address', () => {
  test.each([
    'http://example.com/mcp',
    'http://10.0.0.1/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://[::2]/',
    'http://0.0.0.0/',
  ])('a remote address must be encrypted: %s', (url) => {
    expect(() => httpTarget(url)).toThrow(
      expect.objectContaining({ code: 'ERR_INSECURE', message: expect.stringContaining('allowInsecure') }),
    )
    expect(httpTarget(url, { allowInsecure: true }).label).toBe(url)
  })

  test.each([
    'https://example.com/mcp',
    'http://localhost:3000/mcp',
    'http://127.0.0.1/',
    'http://127.1.2.3/',
    'http://[::1]:8080/mcp',
    'http://app.localhost/',
    'HTTP://LOCALHOST/',
  ])('an address that is encrypted or local is accepted: %s', (url) => {
    expect(httpTarget(url)).toMatchObject({ mirrorsHeaders: true })
    expect(httpTarget(new URL(url)).key).toBe(httpTarget(url).key)
  })

  test.each(['ftp://localhost/', 'file:///etc/passwd', 'nonsense', ''])('an address of another kind is refused: %j', (url) => {
    expect(() => httpTarget(url)).toThrow(expect.objectContaining({ code: 'ERR_UNSUPPORTED' }))
  })

  test('an address may not hold a password, and its query is not shown', () => {
    for (const credentials of ['me:hunter2', ':hunter2', 'me', 'me:'])
      expect(() => httpTarget(`https://${credentials}@example.com/`)).toThrow(
        /must not contain a user name or password \(https:\/\/example.com\)/,
      )
    const target = httpTarget('https://example.com/mcp?key=hunter2')
    expect(target.label).toBe('https://example.com/mcp')
    expect(target.key).toContain('hunter2')
  })

  test('an untrusted certificate is refused unless we trust it', async () => {
    const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')
    const cert = fixture('cert.pem')
    const server = createTlsServer({ key: fixture('key.pem'), cert }, (request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += String(chunk)))
      request.on('end', () => {
        const { id } = JSON.parse(text)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { supportedVersions: ['2026-07-28'], capabilities: {} } }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `https://localhost:${(server.address() as AddressInfo).port}/mcp`
    expect(await failureOf(open(url))).toMatchObject({ code: 'ERR_NETWORK', message: expect.stringContaining('self-signed') })
    const { client } = await open(url, { http: { tls: { ca: cert } } })
    expect(client.revision).toBe('2026-07-28')
  })
})
