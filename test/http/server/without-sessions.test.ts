import { describe, expect, test } from 'vitest'
import { createServer } from '../../../src/server/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  initializeMessage,
  MODERN,
  STREAMABLE,
  serve,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

function working() {
  const server = testServer()
  server.tool('talks', {}, async (_args, ctx) => {
    await ctx.progress(1)
    ctx.log.error('logged')
    return `${ctx.caller.revision} ${ctx.caller.principal}`
  })
  server.tool('asks', {}, async (_args, ctx) => (await ctx.elicit('name', 'Who?', NAME)).name as string)
  server.tool('slow', {}, () => new Promise<string>((resolve) => setTimeout(() => resolve('slow'), 100)))
  return server
}

describe.each(STREAMABLE)('sessions: false, %s', (revision) => {
  const headers = { 'mcp-protocol-version': revision }
  const request = (asked: { method: string; params?: unknown }, id = 1) => ({ jsonrpc: '2.0', id, ...asked })

  test('without sessions, initialize gives no session id, and every request is independent', async () => {
    proves('T-HTTP-059')
    const { url, handler } = await serve(working(), { sessions: false })
    const opened = await http(url, { body: initializeMessage(revision) })
    expect([opened.status, opened.headers['mcp-session-id'], opened.message.result?.protocolVersion]).toEqual([200, undefined, revision])
    expect((await http(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).status).toBe(202)
    const { status, message } = await http(url, { headers, body: request(callTool('hi')) })
    expect([status, message.result?.content[0].text]).toEqual([200, 'hi'])
    expect((await http(url, { headers: { ...headers, 'mcp-session-id': 'left-over' }, body: request(callTool('hi')) })).status).toBe(200)
    expect((await http(url, { headers, body: request({ method: 'tools/list' }) })).message.result?.tools).toHaveLength(4)
    expect(handler.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('without sessions, progress and logs of a request come on its stream', async () => {
    const { url, handler } = await serve(working(), { sessions: false, authenticate: byHeader })
    const stream = await httpStream(url, { headers: { ...headers, 'x-user': 'ann' }, body: request(callTool('talks', {}, WATCHED)) })
    const messages = await stream.messages()
    expect(messages.map((message) => message.method ?? message.result.content[0].text)).toEqual([
      'notifications/progress',
      'notifications/message',
      `${revision} ann`,
    ])
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true)
    await until(() => handler.counts.inFlight === 0)
  })

  test('without sessions, a tool that asks a question fails at once', async () => {
    const { url } = await serve(working(), { sessions: false })
    const startedAt = performance.now()
    const { status, message } = await http(url, { headers, body: request(callTool('asks')) })
    expect(status).toBe(200)
    expect(message.error?.code ?? message.result?.isError).toBeDefined()
    expect(performance.now() - startedAt).toBeLessThan(8000)
  })

  test('without sessions, GET and DELETE are answered 405 with Allow', async () => {
    proves('T-HTTP-036', 'T-HTTP-037', 'T-HTTP-069', 'T-HTTP-070')
    const { url } = await serve(working(), { sessions: false })
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers: said } = await http(url, { method, headers })
      expect([status, said.allow]).toEqual([405, 'POST'])
    }
  })

  test('without sessions, the same id may be used at the same time', async () => {
    const { url } = await serve(working(), { sessions: false })
    const answers = await Promise.all(Array.from({ length: 20 }, () => http(url, { headers, body: request(callTool('slow'), 7) })))
    for (const { status, message } of answers) expect([status, message.id, message.result?.content[0].text]).toEqual([200, 7, 'slow'])
  })

  test('without sessions, a client that leaves does not cancel', async () => {
    const server = testServer()
    let wasAborted: boolean | undefined
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise((resolve) => setTimeout(resolve, 100))
      wasAborted = ctx.signal.aborted
      return 'x'
    })
    const { url, handler } = await serve(server, { sessions: false })
    const stream = await httpStream(url, { headers, body: request(callTool('work', {}, WATCHED)) })
    await stream.message()
    stream.destroy()
    await until(() => wasAborted !== undefined)
    expect(wasAborted).toBe(false)
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)
  })
})

test('without sessions and principals, the rate of tool calls is limited by address', async () => {
  const server = createServer({ name: 'limited', version: '1', limits: { toolCalls: { perSecond: 0.001, burst: 1 } } })
  server.tool('echo', {}, () => 'x')
  const { url } = await serve(server, { sessions: false })
  const call = { headers: { 'mcp-protocol-version': '2025-11-25' }, body: { jsonrpc: '2.0', id: 1, ...callTool('echo') } }
  const answers = [await http(url, call), await http(url, call)]
  expect(answers.map(({ message }) => message.error?.data?.reason)).toEqual([undefined, 'rate-limited'])
})

test('sessions: false changes nothing for stateless and malformed requests', async () => {
  const { url } = await serve(working(), { sessions: false })
  expect((await askModern(url, callTool('hi'))).status).toBe(200)
  for (const version of ['2025-11-25', MODERN]) {
    const bad = await http(url, { headers: { 'mcp-protocol-version': version }, body: { jsonrpc: '2.0', id: 4, method: 7 } })
    expect([bad.status, bad.message.id, bad.message.error?.code]).toEqual([400, 4, -32600])
  }
  expect(
    (await http(url, { headers: { 'mcp-protocol-version': '1999-01-01' }, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status,
  ).toBe(400)
})
