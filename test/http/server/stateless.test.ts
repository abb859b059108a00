/** What an endpoint owes to requests that stand alone, and one of 2026-07-28 only to everybody. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  callTool,
  initializeMessage,
  MODERN,
  modern,
  openSession,
  serve,
  testServer,
  WATCHED,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'

const ONLY = { revisions: [MODERN] }

function asking(options = {}) {
  const server = testServer(options)
  server.tool('asks', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return String((await ctx.elicit('sure', 'Sure?', z.object({ ok: z.boolean() }))).ok)
  })
  return server
}

describe('an endpoint of 2026-07-28 only', () => {
  test('a stateless endpoint ignores session ids and event ids, and issues none', async () => {
    proves('R-DISC-035', 'R-DISC-036', 'R-HTTP-010', 'R-HTTP-018')
    const { url } = await serve(asking(ONLY))
    const odd = { 'mcp-session-id': 'of-another-time', 'last-event-id': '7.1' }
    for (const asked of [callTool('hi'), { method: 'server/discover' }, { method: 'no/such' }]) {
      const { status, headers, message } = await askModern(url, asked, odd)
      expect([status, message.error?.code]).toEqual(asked.method === 'no/such' ? [404, -32601] : [200, undefined])
      expect(headers).not.toHaveProperty('mcp-session-id')
    }
    const stream = await httpStream(url, modern(callTool('asks', {}, WATCHED), odd))
    await stream.ended
    expect(stream.headers).not.toHaveProperty('mcp-session-id')
    expect(stream.events.length).toBeGreaterThan(0)
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true)
  })

  test.each(['GET', 'DELETE'])('a stateless endpoint answers %s with 405 in any case', async (method) => {
    proves('R-DISC-034', 'R-HTTP-009', 'R-HTTP-010')
    const { url } = await serve(testServer(ONLY))
    for (const headers of [
      {},
      { accept: 'text/event-stream' },
      { accept: 'text/event-stream', 'mcp-session-id': 'x', 'last-event-id': '1', 'mcp-protocol-version': MODERN },
    ] as Record<string, string>[]) {
      const answer = await http(url, { method, headers, isBare: true })
      expect([answer.status, answer.headers.allow, answer.headers['mcp-session-id']]).toEqual([405, 'POST', undefined])
    }
  })

  test('a stateless endpoint refuses initialize with 400 and lists its versions', async () => {
    proves('R-DISC-018', 'R-DISC-020')
    const { url } = await serve(testServer(ONLY))
    const { status, message, headers } = await http(url, { body: initializeMessage('2025-11-25') })
    expect(status).toBe(400)
    expect(message.error?.data?.supported ?? message.error?.message).toContain(MODERN)
    expect(headers).not.toHaveProperty('mcp-session-id')
  })

  test('a stateless endpoint refuses a request without MCP-Protocol-Version with 400 and -32020', async () => {
    proves('R-HDR-008', 'R-HDR-027')
    const { url } = await serve(testServer(ONLY))
    const { body, headers } = modern(callTool('hi'))
    const { 'mcp-protocol-version': _left, ...rest } = headers as Record<string, string>
    const { status, message } = await http(url, { body, headers: rest })
    expect([status, message.error?.code, message.id]).toEqual([400, -32020, 1])
  })
})

describe('a request that stands alone', () => {
  test.each(['no/such', 'ping', 'logging/setLevel', 'resources/subscribe', 'prompts/list', 'resources/list', 'completion/complete'])(
    'a stateless request for %s, which does not exist, is answered 404 and -32601',
    async (method) => {
      proves('R-HTTP-024', 'R-BASE-070', 'R-BASE-056')
      const { url } = await serve(testServer())
      const { status, message } = await askModern(url, { method, id: 'x' })
      expect([status, message.error?.code, message.id]).toEqual([404, -32601, 'x'])
    },
  )

  test('a stateless request without a capability that its tool needs is answered 400 and -32021', async () => {
    proves('R-META-009')
    const { url } = await serve(asking())
    const { status, message } = await askModern(url, callTool('asks'))
    expect([status, message.error?.code]).toEqual([400, -32021])
    expect(message.error?.data).toEqual({ requiredCapabilities: { elicitation: { form: {} } } })
  })

  test.each(['io.modelcontextprotocol/protocolVersion', 'io.modelcontextprotocol/clientCapabilities'])(
    'a stateless request without %s in its metadata is answered 400 and -32602',
    async (key) => {
      proves('R-META-005')
      const { url } = await serve(testServer())
      const { body, ...call } = modern(callTool('hi'))
      const { [key]: _left, ..._meta } = envelope()
      const { params, ...message } = body as Message
      const answer = await http(url, { ...call, body: { ...message, params: { ...params, _meta } } })
      expect([answer.status, answer.message.error?.code]).toEqual([400, -32602])
    },
  )

  test('a stateless request gets a question as its result, and no request comes on its stream', async () => {
    proves('R-HTTP-016', 'R-HTTP-017')
    const { url } = await serve(asking())
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    const stream = await httpStream(url, modern(callTool('asks', {}, { _meta: { ...WATCHED._meta, ...capabilities } })))
    const messages = await stream.messages()
    expect(messages.map(({ id, method }) => [id, method])).toEqual([
      [undefined, 'notifications/progress'],
      [1, undefined],
    ])
    expect(messages[1]?.result.resultType).toBe('input_required')
    expect(await stream.ended).toBe('end')
  })

  test('stateless requests and sessions share an endpoint without affecting each other', async () => {
    proves('R-DISC-014', 'R-DISC-021', 'R-DISC-022', 'R-HTTP-010')
    const server = testServer()
    server.tool('which', {}, (_args, ctx) => ctx.caller.revision)
    const { url } = await serve(server)
    const session = await openSession(url, '2025-06-18')
    const text = ({ message }: { message: Message }): unknown => message.result?.content[0].text
    expect(text(await session.ask(callTool('which')))).toBe('2025-06-18')
    const alone = await askModern(url, callTool('which'))
    expect([text(alone), alone.headers['mcp-session-id']]).toEqual([MODERN, undefined])
    expect(text(await session.ask(callTool('which')))).toBe('2025-06-18')
  })
})

test('a session of 2025-03-26, which has no such header, is served without MCP-Protocol-Version', async () => {
  proves('R-HDR-001')
  const { url } = await serve(testServer())
  const { id } = await openSession(url, '2025-03-26')
  const headers = { 'mcp-session-id': id }
  const body = { jsonrpc: '2.0', id: 1, ...callTool('hi') }
  const { status, message } = await http(url, { headers, body })
  expect([status, message.result?.content[0].text]).toEqual([200, 'hi'])
  expect((await http(url, { method: 'DELETE', headers, isBare: true })).status).toBe(204)
})
