import { describe, expect, test, vi } from 'vitest'
import { http, rawHttp } from '../../support/http-requests.ts'
import { askModern, byHeader, callTool, MODERN, modern, openSession, serve, testServer } from '../../support/http-service.ts'

const MIB = 1024 * 1024
const HEADERS = modern(callTool('spy')).headers ?? {}
const GOOD = JSON.stringify(modern(callTool('spy')).body)

async function spied(options: Parameters<typeof serve>[1] = {}) {
  const server = testServer()
  const called = vi.fn(() => 'x')
  server.tool('spy', {}, called)
  return { called, ...(await serve(server, options)) }
}

describe('ambiguous text', () => {
  const BAD: [string, string | Uint8Array, number][] = [
    ['Method for method', GOOD.replace('"method"', '"Method"'), -32600],
    ['METHOD for method', GOOD.replace('"method"', '"METHOD"'), -32600],
    ['a long s in params', GOOD.replace('"params"', '"param\u017f"'), -32602],
    ['a Kelvin sign in a key', GOOD.replace('"jsonrpc"', '"\u212asonrpc"'), -32600],
    ['method twice', GOOD.replace('"method"', '"method":"tools/list","method"'), -32600],
    ['method twice, once in escapes', GOOD.replace('"method"', '"m\\u0065thod":"tools/list","method"'), -32600],
    ['id twice', GOOD.replace('"id"', '"id":2,"id"'), -32600],
    ['jsonrpc twice', GOOD.replace('"jsonrpc"', '"jsonrpc":"2.0","jsonrpc"'), -32600],
    ['params twice', GOOD.replace('"params"', '"params":{},"params"'), -32600],
    ['name twice', GOOD.replace('"name":"spy"', '"name":"hi","name":"spy"'), -32600],
    ['a byte order mark', `\ufeff${GOOD}`, -32700],
    ['a byte order mark and a replacement character', `\ufeff${GOOD.replace('"id":1', '"id":"\ufffd"')}`, -32700],
    ['bytes after the end', `${GOOD}x`, -32700],
    ['a second message after the end', GOOD + GOOD, -32700],
    ['NUL after the end', `${GOOD}\0`, -32700],
    ['UTF-16', Buffer.from(GOOD, 'utf16le'), -32700],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${GOOD}`, 'utf16le'), -32700],
    ['bytes that are no UTF-8', Buffer.from(GOOD.replace('"id":1', '"id":"\xff\xfe"'), 'latin1'), -32700],
    [
      'half a surrogate in UTF-8',
      Buffer.concat([Buffer.from(GOOD.slice(0, 20)), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(GOOD.slice(20))]),
      -32700,
    ],
    ['a comment', `/* */${GOOD}`, -32700],
    ['single quotes', GOOD.replaceAll('"', "'"), -32700],
    ['NaN', GOOD.replace('"id":1', '"id":NaN'), -32700],
  ]
  test.each(BAD)('%s is answered 400, stateless and in a session, and nothing is called', async (_what, body, code) => {
    const { url, called } = await spied()
    const alone = await http(url, { headers: HEADERS, body })
    expect([alone.status, alone.message.error?.code]).toEqual([400, code])
    const session = await openSession(url, '2025-11-25')
    const inside = await session.post(body)
    // In a session params may be left out, so that a misspelt member is only an odd one beside them.
    if (code === -32602) expect(inside.message.error?.code ?? inside.message.result?.isError).toBeDefined()
    else expect([inside.status, inside.message.error?.code]).toEqual([400, code])
    expect(called).not.toHaveBeenCalled()
    expect((await askModern(url, callTool('spy'))).status).toBe(200)
  })

  test('an intended replacement character is accepted', async () => {
    const { url } = await spied()
    const { status, message } = await askModern(url, { ...callTool('spy'), id: 'a\ufffdb' })
    expect([status, message.id]).toEqual([200, 'a\ufffdb'])
  })
})

describe('bodies without end', () => {
  const head = (more: string) =>
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: ${MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: spy\r\n${more}\r\n`

  /** Sends chunks until the other side has had enough; how many bytes it took. */
  async function pour(port: number, total: number, start: string, chunk: Buffer): Promise<{ answer: string; sent: number }> {
    const raw = rawHttp(port, start)
    let sent = 0
    while (sent < total && !raw.socket.destroyed && !raw.received.includes('\r\n\r\n')) {
      sent += chunk.length
      if (!raw.socket.write(chunk)) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return { answer: await raw.closed, sent }
  }

  test('a chunked body of 300 MB is answered 413 and the socket closed, with little of it read', async () => {
    const { port, called, url } = await spied()
    const before = process.memoryUsage.rss()
    const data = Buffer.alloc(64 * 1024, 0x20)
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), data, Buffer.from('\r\n')])
    const { answer, sent } = await pour(port, 300 * MIB, head('Transfer-Encoding: chunked\r\n'), chunk)
    expect(answer.slice(0, 12)).toBe('HTTP/1.1 413')
    expect(answer).toMatch(/Connection: close/i)
    expect(sent).toBeLessThan(64 * MIB)
    // What the sender, in this same process, has queued is part of it.
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MIB)
    expect(called).not.toHaveBeenCalled()
    expect((await askModern(url, callTool('spy'))).status).toBe(200)
  })

  test('a length of 300 MB is answered 413 before any of it is read', async () => {
    const { port } = await spied()
    const answer = await rawHttp(port, head(`Content-Length: ${300 * MIB}\r\n`)).closed
    expect(answer.slice(0, 12)).toBe('HTTP/1.1 413')
  })

  test('a wrong Content-Length is detected: too short breaks the message, and two are refused', async () => {
    const { port, called } = await spied()
    const short = await rawHttp(port, `${head(`Connection: close\r\nContent-Length: ${GOOD.length - 10}\r\n`)}${GOOD}`).closed
    expect(short.slice(0, 12)).toBe('HTTP/1.1 400')
    for (const lengths of [
      'Content-Length: 5\r\nContent-Length: 6\r\n',
      `Content-Length: ${GOOD.length}\r\nTransfer-Encoding: chunked\r\n`,
      'Content-Length: -1\r\n',
      'Content-Length: 1e3\r\n',
    ]) {
      expect((await rawHttp(port, head(lengths) + GOOD).closed).slice(0, 12), lengths).toBe('HTTP/1.1 400')
    }
    expect(called).not.toHaveBeenCalled()
  })

  test('host, origin, caller and type are checked before the body is read', async () => {
    const { port } = await spied({ authenticate: byHeader })
    const length = `Content-Length: ${MIB}\r\n`
    const status = (text: string) => rawHttp(port, text).status()
    // Not one byte of the body is ever sent.
    expect(await status(head(length).replace('127.0.0.1', 'evil.com'))).toBe(403)
    expect(await status(head(`${length}Origin: http://evil.com\r\n`))).toBe(403)
    expect(await status(head(length))).toBe(401)
    expect(await status(head(`${length}X-User: a\r\nContent-Encoding: gzip\r\n`))).toBe(415)
    expect(await status(head(`${length}X-User: a\r\n`).replace('application/json', 'text/plain'))).toBe(415)
  })

  test('a refusal keeps the connection when the body was complete, and closes it otherwise', async () => {
    const { port } = await spied()
    const wrong = head(`Content-Length: ${GOOD.length}\r\n`).replace('application/json', 'text/plain') + GOOD
    const right = head(`Connection: close\r\nContent-Length: ${GOOD.length}\r\n`) + GOOD
    const raw = rawHttp(port, wrong)
    await raw.until(/HTTP\/1\.1 415[\s\S]*\}\}/)
    raw.socket.write(right)
    expect((await raw.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200'])
    const startedAt = performance.now()
    const half = rawHttp(port, wrong.slice(0, -10))
    expect((await half.closed).slice(0, 12)).toBe('HTTP/1.1 415')
    expect(performance.now() - startedAt).toBeLessThan(8000)
  })
})

describe('messages that are deep or wide', () => {
  const body = (inner: string) => GOOD.replace('"arguments":{}', `"arguments":{"x":${inner}}`)

  test.each([
    ['4 MB of opening brackets', '['.repeat(4 * MIB - 10)],
    ['65 levels', body(`${'['.repeat(62)}${']'.repeat(62)}`)],
    ['65 levels of objects', body(`${'{"a":'.repeat(62)}1${'}'.repeat(62)}`)],
    ['300,000 keys', body(`{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join()}}`)],
  ])('%s are answered 400 and -32600 without being parsed', async (_what, text) => {
    const { url, called } = await spied()
    const startedAt = performance.now()
    const { status, message } = await http(url, { headers: HEADERS, body: text })
    expect([status, message.error?.code]).toEqual([400, -32600])
    expect(message.error?.message).toMatch(/maxDepth|maxKeys/)
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(called).not.toHaveBeenCalled()
  })
})

describe('compressed bodies', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'identity'])(
    'Content-Encoding %s is answered 415, and nothing is inflated',
    async (encoding) => {
      const { url, called } = await spied()
      const { status, message, headers } = await http(url, { headers: { ...HEADERS, 'content-encoding': encoding }, body: GOOD })
      expect([status, message.error?.code, headers['accept-encoding']]).toEqual([415, -32600, 'identity'])
      expect(called).not.toHaveBeenCalled()
    },
  )
})
