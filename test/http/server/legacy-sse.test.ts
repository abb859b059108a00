import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../../src/testing/index.ts'
import { type EventReader, http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  gate,
  holdingServer,
  initializeMessage,
  openSession,
  serve,
  serveInFakeTime,
  testServer,
  until,
  WATCHED,
  workingServer,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const REVISION = '2024-11-05'

interface Conversation {
  stream: EventReader
  /** Where to send to. */
  to: string
  send(message: Message): Promise<{ status: number; text: string; message: Message }>
}

/** Connects as a client of the oldest revision does. */
async function converse(url: string, headers: Record<string, string> = {}, isInitialized = true): Promise<Conversation> {
  const at = url.replace('/mcp', '/sse')
  const stream = await httpStream(at, { method: 'GET', isBare: true, headers: { accept: 'text/event-stream', ...headers } })
  const first = await stream.next()
  const to = new URL(String(first?.data), at).href
  const conversation: Conversation = { stream, to, send: (body) => http(to, { body, headers }) }
  if (!isInitialized) return conversation
  await conversation.send(initializeMessage(REVISION))
  await stream.message()
  await conversation.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return conversation
}

const call = (id: number, name: string, more: Message = {}): Message => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, ...more },
})

describe('the transport of 2024-11-05', () => {
  test('the transport of 2024-11-05 names its endpoint, accepts messages with 202, answers on the stream', async () => {
    proves('T-SSE1-002', 'T-SSE1-003', 'T-SSE1-004', 'T-SSE1-006')
    const { url } = await serve(testServer())
    const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET', isBare: true, headers: {} })
    expect([stream.status, stream.headers['content-type'], stream.headers['x-accel-buffering']]).toEqual([200, 'text/event-stream', 'no'])
    const first = await stream.next()
    expect(first).toEqual({ event: 'endpoint', data: expect.stringMatching(/^\/messages\?sessionId=[\x21-\x7e]{22}$/) })
    const to = new URL(String(first?.data), url).href
    const opened = await http(to, { body: initializeMessage(REVISION) })
    expect([opened.status, opened.text]).toEqual([202, ''])
    const second = await stream.next()
    expect(second?.event).toBe('message')
    expect(JSON.parse(String(second?.data))).toMatchObject({ id: 0, result: { protocolVersion: REVISION } })
    expect((await http(to, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).status).toBe(202)
    expect((await http(to, { body: call(1, 'hi') })).text).toBe('')
    expect(await stream.message()).toMatchObject({ id: 1, result: { content: [{ text: 'hi' }] } })
    stream.destroy()
  })

  test('the transport of 2024-11-05 carries progress, logs, questions and changes on the one stream', async () => {
    const server = testServer()
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.log.error('logged')
      return (await ctx.sample('s', { messages: [{ role: 'user', content: { type: 'text', text: '?' } }], maxTokens: 1 })).model
    })
    const { url } = await serve(server)
    const { stream, send } = await converse(url, {}, false)
    await send(initializeMessage(REVISION, { sampling: {} }))
    await stream.message()
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await send(call(1, 'work', WATCHED))
    expect((await stream.message()).method).toBe('notifications/progress')
    expect((await stream.message()).method).toBe('notifications/message')
    const question = await stream.message()
    expect(question.method).toBe('sampling/createMessage')
    const result = { role: 'assistant', content: { type: 'text', text: '!' }, model: 'm1' }
    expect((await send({ jsonrpc: '2.0', id: question.id, result })).status).toBe(202)
    expect((await stream.message()).result?.content[0].text).toBe('m1')
    server.tool('new', {}, () => 'x')
    expect((await stream.message()).method).toBe('notifications/tools/list_changed')
  })

  test('two clients with the same ids do not hear each other', async () => {
    proves('T-SSE1-001')
    const server = testServer()
    const go = gate()
    server.tool('mine', { input: { type: 'object', properties: { name: { type: 'string' } } } }, async ({ name }) => {
      await go.opened
      return String(name)
    })
    const { url } = await serve(server)
    const clients = [await converse(url), await converse(url)]
    for (const [i, { send }] of clients.entries())
      for (const id of [1, 2]) await send(call(id, 'mine', { arguments: { name: `${i}-${id}` } }))
    go.open()
    for (const [i, { stream }] of clients.entries()) {
      const answers = [await stream.message(), await stream.message()]
      expect(answers.map(({ id, result }) => `${id} ${result.content[0].text}`).sort()).toEqual([`1 ${i}-1`, `2 ${i}-2`])
    }
  })

  test('old and new clients are served side by side, and a new POST to the old address works too', async () => {
    proves('T-SSE1-008', 'T-SSE1-009', 'R-SSE1-002', 'R-DISC-014', 'R-DISC-021')
    const { url } = await serve(testServer())
    const old = await converse(url)
    const session = await openSession(url, '2025-11-25')
    await old.send(call(1, 'hi'))
    expect((await old.stream.message()).id).toBe(1)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    expect((await openSession(url.replace('/mcp', '/sse'), '2025-06-18')).id).toBeDefined()
  })

  test('the endpoint of another client is answered 404, as one that does not exist', async () => {
    const { url } = await serve(testServer(), { authenticate: byHeader })
    const alice = await converse(url, { 'x-user': 'alice' })
    const stolen = await http(alice.to, { headers: { 'x-user': 'mallory' }, body: call(1, 'hi') })
    const unknown = await http(alice.to.replace(/=.*/, '=AAAAAAAAAAAAAAAAAAAAAA'), {
      headers: { 'x-user': 'mallory' },
      body: call(1, 'hi'),
    })
    expect([stolen.status, stolen.text]).toEqual([404, unknown.text])
    expect(unknown.status).toBe(404)
    await alice.send(call(2, 'hi'))
    expect((await alice.stream.message()).id).toBe(2)
  })

  test('messages that cannot be accepted are answered 400, other methods 405', async () => {
    const { url } = await serve(testServer())
    const { to, send, stream } = await converse(url)
    expect((await http(to.replace(/\?.*/, ''), { body: call(1, 'hi') })).status).toBe(400)
    const bad = await send({ jsonrpc: '2.0', id: 4 })
    expect([bad.status, bad.message.id, bad.message.error?.code]).toEqual([400, 4, -32600])
    expect((await send({ jsonrpc: '1.0', method: 'notifications/x' })).status).toBe(400)
    expect((await http(to, { headers: { 'content-type': 'text/plain' }, body: 'x' })).status).toBe(415)
    const got = await http(to, { method: 'GET' })
    expect([got.status, got.headers.allow]).toEqual([405, 'POST'])
    await send(call(5, 'hi'))
    expect((await stream.message()).id).toBe(5)
  })

  test('the session ends with its stream: calls are aborted, later messages are not found', async () => {
    const { server, begun, aborted } = workingServer()
    const { url, handler } = await serve(server)
    const { stream, send } = await converse(url)
    await send(call(1, 'work'))
    await begun.opened
    stream.destroy()
    await aborted.opened
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
    expect((await send(call(2, 'hi'))).status).toBe(404)
  })

  test('at the end of the server, running calls are answered first, and new ones refused', async () => {
    const server = testServer()
    const begun = gate()
    server.tool('slow', {}, async () => {
      begun.open()
      await new Promise((resolve) => setTimeout(resolve, 150))
      return 'in time'
    })
    const listening = await serve(server, { graceMs: 3000 })
    const busy = await converse(listening.url)
    const idle = await converse(listening.url)
    await busy.send(call(1, 'slow'))
    await begun.opened
    const closed = listening.close()
    expect(await idle.stream.messages()).toEqual([])
    expect((await busy.send(call(2, 'hi'))).status).toBe(503)
    expect(await busy.stream.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'in time' }] } }])
    expect(await busy.stream.ended).toBe('end')
    await closed
  })

  test('a client that answers no pings is gone within 75 s; one that answers stays', async () => {
    const clock = fakeClock()
    const { url, pass, endpoint } = await serveInFakeTime(testServer({ clock }), {}, clock)
    const alive = await converse(url)
    const dead = await converse(url)
    const answerPing = async () => {
      const ping = await alive.stream.message()
      expect(ping.method).toBe('ping')
      await alive.send({ jsonrpc: '2.0', id: ping.id, result: {} })
    }
    await pass(31_000)
    await answerPing()
    await pass(31_000)
    await answerPing()
    await pass(13_000)
    expect(await dead.stream.ended).toBe('end')
    expect((await dead.send(call(1, 'hi'))).status).toBe(404)
    expect(endpoint.counts.streams).toBe(1)
    await alive.send(call(2, 'hi'))
    expect((await alive.stream.message()).id).toBe(2)
  })

  test('a stream that is too old ends after its running calls, and accepts nothing new before', async () => {
    const { server, go } = holdingServer()
    const limits = { maxStreamAgeMs: 10_000, pingMs: 1e9 }
    const { url, pass, endpoint } = await serveInFakeTime(server, { limits })
    const [busy, idle] = [await converse(url), await converse(url)]
    await busy.send(call(1, 'hold'))
    await until(() => endpoint.counts.inFlight === 1)
    await pass(11_000)
    expect(await idle.stream.ended).toBe('end')
    expect((await busy.send(call(2, 'hi'))).status).toBe(404)
    go.open()
    expect(await busy.stream.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'held' }] } }])
    expect(await busy.stream.ended).toBe('end')
    expect(endpoint.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('a batch counts as a running request', async () => {
    const { server, go } = holdingServer()
    const { url, handler } = await serve(server, { limits: { maxInFlightPerSession: 1 } })
    const { stream, send } = await converse(url, {}, false)
    await send(initializeMessage('2025-03-26'))
    await stream.message()
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const batch = (id: number) => [{ jsonrpc: '2.0', id, ...callTool('hold') }] as unknown as Message
    expect((await send(batch(1))).status).toBe(202)
    expect(handler.counts.inFlight).toBe(1)
    expect((await send(batch(2))).status).toBe(429)
    const drained = handler.drain(5000)
    expect((await send(batch(3))).status).toBe(503)
    go.open()
    expect(await stream.message()).toMatchObject([{ id: 1, result: { content: [{ text: 'held' }] } }])
    await drained
    expect(handler.counts.inFlight).toBe(0)
  })

  test('the transport of 2024-11-05 can be left out', async () => {
    const { url } = await serve(testServer(), { legacySse: false })
    expect((await http(url.replace('/mcp', '/sse'), { method: 'GET' })).status).toBe(404)
    expect((await http(url.replace('/mcp', '/messages?sessionId=x'), { body: {} })).status).toBe(404)
  })

  test('the endpoints of 2024-11-05 are beside the main endpoint, wherever that is', async () => {
    const { port } = await serve(testServer(), { path: '/deep/in/mcp' })
    const stream = await httpStream(`http://127.0.0.1:${port}/deep/in/sse?x=1`, { method: 'GET' })
    expect((await stream.next())?.data).toMatch(/^\/deep\/in\/messages\?sessionId=/)
  })
})
