import { describe, expect, test } from 'vitest'
import { acceptsOf } from '../../../src/http/server/guard.ts'
import { http } from '../../support/http-requests.ts'
import {
  askModern,
  callTool,
  gate,
  initializeMessage,
  modern,
  openSession,
  STREAMABLE,
  serve,
  testServer,
  WATCHED,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const EVENTS = 'text/event-stream'
const JSON_ONLY = 'application/json'

describe('one endpoint', () => {
  test('one path accepts POST, GET and DELETE, and other methods get the list', async () => {
    proves('T-HTTP-003', 'T-HTTP-037', 'T-HTTP-070')
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-11-25')
    const stream = await session.listen()
    expect([stream.status, stream.headers['content-type']]).toEqual([200, EVENTS])
    expect((await session.end()).status).toBe(204)
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
      const { status, headers } = await http(url, { method, isBare: true })
      expect([status, headers.allow]).toEqual([405, 'POST, GET, DELETE'])
    }
    expect((await http(`${url}/`, modern(callTool('hi')))).status).toBe(200)
    expect((await http(`${url}?a=b`, modern(callTool('hi')))).status).toBe(200)
    expect((await http(url.replace('/mcp', '/elsewhere'), modern(callTool('hi')))).status).toBe(404)
  })

  test('a stateless server accepts only POST, and says so in Allow', async () => {
    proves('T-HTTP-036', 'T-HTTP-037', 'T-HTTP-069', 'T-HTTP-070', 'R-DISC-034', 'R-HTTP-009')
    const { url } = await serve(testServer({ revisions: ['2026-07-28'] }))
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers, message } = await http(url, { method, isBare: true })
      expect([status, headers.allow, message.error?.code]).toEqual([405, 'POST', -32600])
    }
    expect((await http(url.replace('/mcp', '/sse'), { method: 'GET' })).status).toBe(405)
  })

  test('two clients at once are served by one process, each with its own answers', async () => {
    proves('T-HTTP-001')
    const server = testServer()
    const both = gate()
    let waiting = 0
    server.tool('meet', {}, async (_args, ctx) => {
      if (++waiting === 2) both.open()
      await both.opened
      return ctx.caller.client?.name ?? ''
    })
    const { url } = await serve(server)
    const client = (name: string) => ({ _meta: { 'io.modelcontextprotocol/clientInfo': { name, version: '1' } } })
    const answers = await Promise.all(['one', 'two'].map((name) => askModern(url, callTool('meet', {}, client(name)))))
    expect(answers.map(({ message }) => message.result?.content[0].text)).toEqual(['one', 'two'])
  })
})

describe('what a POST is answered with', () => {
  test.each(STREAMABLE)('an accepted notification or response of %s is answered 202 with no body', async (revision) => {
    proves('T-HTTP-014')
    const { url } = await serve(testServer())
    const session = await openSession(url, revision)
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
      { jsonrpc: '2.0', method: 'notifications/of-no-kind-we-know' },
      { jsonrpc: '2.0', id: 7, result: {} },
      { jsonrpc: '2.0', id: 7, error: { code: 1, message: 'x' } },
    ]) {
      const { status, text, headers } = await session.post(body)
      expect([status, text, headers['content-type']]).toEqual([202, '', undefined])
    }
  })

  test('a stateless notification is answered 202, and a response is answered 400', async () => {
    proves('T-HTTP-014', 'T-HTTP-015')
    const { url } = await serve(testServer())
    const headers = { 'mcp-protocol-version': '2026-07-28' }
    const notice = await http(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/x' } })
    expect([notice.status, notice.text]).toEqual([202, ''])
    const response = await http(url, { headers, body: { jsonrpc: '2.0', id: 1, result: {} } })
    expect([response.status, response.message.error?.code]).toEqual([400, -32600])
  })

  const REFUSED: [string, unknown, number][] = [
    ['a notification of the wrong version', { jsonrpc: '1.0', method: 'notifications/x' }, -32600],
    ['a notification whose params are a string', { jsonrpc: '2.0', method: 'notifications/x', params: 'x' }, -32600],
    ['a response with both result and error', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'x' } }, -32600],
    ['a response without an id', { jsonrpc: '2.0', result: {} }, -32600],
    ['neither of all', { jsonrpc: '2.0' }, -32600],
    ['a number', 7, -32600],
    ['nothing', '', -32700],
    ['half a message', '{"jsonrpc":"2.0","meth', -32700],
  ]
  test.each(REFUSED)('%s is answered 400 with an error without id', async (_what, body, code) => {
    proves('T-HTTP-015', 'T-HTTP-016')
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-11-25')
    const inside = await session.post(body)
    const alone = await http(url, { headers: { 'mcp-protocol-version': '2026-07-28' }, body })
    for (const { status, message } of [inside, alone]) {
      expect([status, message.error?.code]).toEqual([400, code])
      expect(message.id ?? null).toBeNull()
    }
  })

  test.each(STREAMABLE)('a request of %s is answered as JSON, or as events when messages come first', async (revision) => {
    proves('T-HTTP-017', 'T-HTTP-024', 'T-HTTP-025', 'T-HTTP-029', 'T-HTTP-071')
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    const { url } = await serve(server)
    const session = await openSession(url, revision)
    const plain = await session.ask(callTool('hi'))
    expect(plain.headers['content-type']).toBe(JSON_ONLY)
    expect(plain.message).toMatchObject({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hi' }] } })
    const stream = await session.askStream(callTool('talks', {}, WATCHED))
    expect(stream.headers).toMatchObject({ 'content-type': EVENTS, 'x-accel-buffering': 'no', 'cache-control': 'no-cache, no-transform' })
    const [progress, answer, ...rest] = await stream.messages()
    expect(progress).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } })
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    expect(rest).toEqual([])
    expect(await stream.ended).toBe('end')
  })

  test('a stateless request is answered as JSON, or as events when messages come first', async () => {
    proves('T-HTTP-017', 'T-HTTP-071', 'R-HTTP-017', 'R-HTTP-020')
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    const { url } = await serve(server)
    expect((await askModern(url, callTool('hi'))).headers['content-type']).toBe(JSON_ONLY)
    const talked = await askModern(url, callTool('talks', {}, WATCHED))
    expect(talked.headers).toMatchObject({ 'content-type': EVENTS, 'x-accel-buffering': 'no' })
    expect(talked.text).toMatch(/^event: message\ndata: .*progress.*\n\nevent: message\ndata: \{"jsonrpc":"2.0","id":1,"result":.*\}\n\n$/)
  })

  test('a server set to JSON answers with nothing else, and drops messages before the answer', async () => {
    proves('T-HTTP-002')
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.log.error('hear me')
      return 'done'
    })
    const { url } = await serve(server, { responses: 'json' })
    const session = await openSession(url, '2025-11-25')
    for (const answer of [await askModern(url, callTool('talks', {}, WATCHED)), await session.ask(callTool('talks', {}, WATCHED))]) {
      expect([answer.status, answer.headers['content-type']]).toEqual([200, JSON_ONLY])
      expect(answer.message.result?.content[0].text).toBe('done')
    }
  })

  test('if only JSON can be answered, a question fails at once', async () => {
    const server = testServer()
    server.tool('asks', {}, async (_args, ctx) => {
      const reasons: string[] = []
      await ctx.roots().catch((error: Error) => reasons.push(error.message))
      return reasons.join()
    })
    const { url } = await serve(server, { responses: 'json' })
    const session = await openSession(url, '2025-11-25', { capabilities: { roots: {} } })
    expect((await session.ask(callTool('asks'))).message.result?.content[0].text).toContain(
      'cannot be asked: its request is answered with JSON',
    )
  })

  test('a long list arrives complete with any id and any transport', async () => {
    const server = testServer()
    for (let i = 0; i < 500; i++) server.tool(`tool_${i}`, { description: `Größe ${i}` }, () => 'x')
    const json = await serve(server)
    const events = await serve(server, { responses: 'sse' })
    for (const { url } of [json, events, json]) {
      const session = await openSession(url, '2025-11-25')
      const { text } = await session.ask({ method: 'tools/list', id: 'größte' })
      const message = JSON.parse(text.slice(text.indexOf('{"jsonrpc"'))) as Message
      expect([message.id, message.result.tools.length]).toEqual(['größte', 501])
      expect(message.result.tools[500].description).toBe('Größe 499')
    }
  })

  test('a server set to events answers results as events, and refusals as JSON', async () => {
    const { url } = await serve(testServer(), { responses: 'sse' })
    const first = await http(url, { body: initializeMessage('2025-11-25') })
    expect(first.headers['content-type']).toBe(EVENTS)
    expect(first.headers['mcp-session-id']).toBeDefined()
    const answer = await askModern(url, callTool('hi'))
    expect([answer.headers['content-type'], answer.text]).toEqual([EVENTS, expect.stringContaining('"text":"hi"')])
    const wrong = await askModern(url, { method: 'no/such' })
    expect([wrong.status, wrong.headers['content-type'], wrong.message.error?.code]).toEqual([404, JSON_ONLY, -32601])
  })
})

describe('what the client takes', () => {
  const statusAndType = async (url: string, accept: string | undefined, asked: Message = callTool('hi')) => {
    const { headers = {}, body } = modern(asked as ReturnType<typeof callTool>)
    const call = { headers: { ...headers, 'content-type': JSON_ONLY, ...(accept === undefined ? {} : { accept }) }, body, isBare: true }
    const answer = await http(url, call)
    return [answer.status, answer.headers['content-type']]
  }

  test('the Accept header decides the kind of answer, and neither kind is answered 406', async () => {
    const { url } = await serve(testServer())
    expect(await statusAndType(url, undefined)).toEqual([200, JSON_ONLY])
    expect(await statusAndType(url, '*/*')).toEqual([200, JSON_ONLY])
    expect(await statusAndType(url, 'application/json')).toEqual([200, JSON_ONLY])
    expect(await statusAndType(url, 'application/*')).toEqual([200, JSON_ONLY])
    expect(await statusAndType(url, 'Text/Event-Stream')).toEqual([200, EVENTS])
    expect(await statusAndType(url, 'text/html')).toEqual([406, JSON_ONLY])
  })

  test.each([
    ['application/json;q=0, text/event-stream', [200, EVENTS]],
    ['application/json; Q=0.000 , text/event-stream;q=0.1', [200, EVENTS]],
    ['text/event-stream;q=0, */*', [200, JSON_ONLY]],
    ['application/json;q=0, */*', [200, EVENTS]],
    ['application/*;q=0, application/json', [200, JSON_ONLY]],
    ['*/*;q=0', [406, JSON_ONLY]],
    ['*/*;q=0, text/event-stream', [200, EVENTS]],
    ['application/json;q=0', [406, JSON_ONLY]],
    ['application/jsonp', [406, JSON_ONLY]],
    ['application/json-seq, x-application/json', [406, JSON_ONLY]],
    ['text/event-streams', [406, JSON_ONLY]],
    ['text/*', [200, EVENTS]],
    ['application/json;q=0.001', [200, JSON_ONLY]],
    ['application/json;charset=utf-8', [200, JSON_ONLY]],
    ['application/json;v="a,b;q=0"', [200, JSON_ONLY]],
    ['text/html;x="application/json"', [406, JSON_ONLY]],
    ['text/html;x="never closed, application/json', [406, JSON_ONLY]],
    [' ,, application/json ,', [200, JSON_ONLY]],
  ])('Accept: %s is answered %j', async (accept, expected) => {
    const { url } = await serve(testServer())
    expect(await statusAndType(url, accept)).toEqual(expected)
  })

  test('an Accept header full of quotes is parsed quickly', () => {
    const startedAt = performance.now()
    for (let i = 0; i < 100; i++) acceptsOf(`${'"\\"'.repeat(5000)}${i}`)
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  test('a client that accepts only JSON gets the answer without the messages before it', async () => {
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    const { url } = await serve(server)
    expect(await statusAndType(url, 'application/json', callTool('talks', {}, WATCHED))).toEqual([200, JSON_ONLY])
  })

  test('a server set to one kind answers 406 to clients that accept only the other', async () => {
    const json = await serve(testServer(), { responses: 'json' })
    expect(await statusAndType(json.url, EVENTS)).toEqual([406, JSON_ONLY])
    const events = await serve(testServer(), { responses: 'sse' })
    expect(await statusAndType(events.url, JSON_ONLY)).toEqual([406, JSON_ONLY])
  })

  test('a GET that does not accept events is answered 406', async () => {
    const { url } = await serve(testServer())
    const { headers } = await openSession(url, '2025-11-25')
    for (const accept of ['application/json', 'text/event-stream;q=0', 'text/event-streams', '*/*;q=0']) {
      const { status } = await http(url, { method: 'GET', isBare: true, headers: { ...headers, accept } })
      expect(status, accept).toBe(406)
    }
  })
})

describe('answers that say what the request did wrong', () => {
  test('an unknown stateless method is 404, an unsupported version 400, an error of a handler 200', async () => {
    proves('R-DISC-004', 'R-HDR-006', 'R-HTTP-024')
    const server = testServer()
    server.tool('fails', {}, () => {
      throw new Error('secret path /etc/x')
    })
    const { url } = await serve(server)
    const statusAndCode = ({ status, message }: { status: number; message: Message }) => [status, message.error?.code, message.id]
    expect(statusAndCode(await askModern(url, { method: 'no/such', id: 'a' }))).toEqual([404, -32601, 'a'])
    expect(statusAndCode(await askModern(url, callTool('none')))).toEqual([200, -32602, 1])
    const failed = await askModern(url, callTool('fails'))
    expect([failed.status, failed.message.result?.isError]).toEqual([200, true])
    expect(failed.text).not.toContain('/etc/x')
    const other = modern(callTool('hi'), { 'mcp-protocol-version': '2099-01-01' })
    const body = JSON.parse(JSON.stringify(other.body).replaceAll('2026-07-28', '2099-01-01')) as Message
    const unknown = await http(url, { ...other, body })
    expect(statusAndCode(unknown)).toEqual([400, -32022, 1])
    expect(unknown.message.error?.data).toMatchObject({ requested: '2099-01-01', supported: expect.arrayContaining(['2026-07-28']) })
  })
})
