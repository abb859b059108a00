import { describe, expect, test } from 'vitest'
import { type EventReader, http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  callTool,
  initializeMessage,
  MODERN,
  modern,
  serve,
  serveInFakeTime,
  testServer,
  until,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

function changing() {
  const server = testServer()
  server.resource('file:///a', { name: 'a' }, () => 'a')
  const handle = server.tool('comes-and-goes', {}, () => 'x')
  return { server, change: () => handle.update({ description: String(performance.now()) }) }
}

const listenTo = (url: string, notifications: Message, id: string | number = 'sub'): Promise<EventReader> =>
  httpStream(url, modern({ method: 'subscriptions/listen', params: { notifications }, id }))

describe('subscriptions/listen', () => {
  test('subscriptions/listen acknowledges first, then sends only the requested changes, with its id', async () => {
    proves('R-HTTP-018', 'R-HTTP-020', 'R-LISTEN-019')
    const { server, change } = changing()
    const { url, handler } = await serve(server)
    const stream = await listenTo(url, { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['file:///a'] })
    expect([stream.status, stream.headers['content-type'], stream.headers['x-accel-buffering']]).toEqual([200, 'text/event-stream', 'no'])
    const about = { [SUBSCRIPTION]: 'sub' }
    expect(await stream.message()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: about, notifications: { toolsListChanged: true, resourceSubscriptions: ['file:///a'] } },
    })
    expect(handler.counts).toMatchObject({ streams: 1, inFlight: 0 })
    change()
    expect(await stream.message()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: about } })
    server.resourceChanged('file:///b')
    server.resourceChanged('file:///a')
    const updated = await stream.message()
    expect(updated).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'file:///a', _meta: about } })
    // Ids of events would promise that one can come back.
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true)
    stream.destroy()
    await until(() => handler.counts.streams === 0)
  })

  test('messages about a call never go to a listen stream', async () => {
    proves('R-LISTEN-017')
    const { server } = changing()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.log.error('x')
      return 'done'
    })
    const listening = await serve(server)
    const stream = await listenTo(listening.url, { toolsListChanged: true })
    const level = { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 'p' }
    await askModern(listening.url, callTool('talks', {}, { _meta: level }))
    await listening.close()
    expect((await stream.messages()).map(({ method, id }) => method ?? id)).toEqual(['notifications/subscriptions/acknowledged', 'sub'])
  })

  test('subscriptions/listen is kept alive with comments', async () => {
    proves('R-LISTEN-019')
    const { server } = changing()
    const { url } = await serve(server, { limits: { keepAliveMs: 80 } })
    const stream = await listenTo(url, { toolsListChanged: true })
    await stream.message()
    await stream.untilComments(2)
    expect(stream.events).toHaveLength(1)
  })

  test('subscriptions/listen ends with its result after maxStreamAgeMs, which frees dead peers', async () => {
    const { server } = changing()
    const { url, pass, endpoint } = await serveInFakeTime(server, { limits: { maxStreamAgeMs: 30_000 } })
    const stream = await listenTo(url, { toolsListChanged: true })
    await stream.message()
    await pass(29_000)
    expect(endpoint.counts.streams).toBe(1)
    await pass(1_000)
    expect(await stream.messages()).toMatchObject([{ id: 'sub', result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 'sub' } } }])
    expect(await stream.ended).toBe('end')
    expect(endpoint.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('subscriptions/listen ends with its result when the server ends', async () => {
    proves('R-LISTEN-013')
    const { server } = changing()
    const listening = await serve(server, { graceMs: 1000 })
    const streams = await Promise.all([1, 2, 3].map((id) => listenTo(listening.url, { toolsListChanged: true }, id)))
    for (const stream of streams) await stream.message()
    await listening.close()
    for (const [i, stream] of streams.entries()) {
      expect(await stream.messages()).toMatchObject([{ id: i + 1, result: { resultType: 'complete' } }])
      expect(await stream.ended).toBe('end')
    }
  })

  test('two listen requests with the same id from two clients each get their own changes', async () => {
    const { server } = changing()
    const { url } = await serve(server)
    const one = await listenTo(url, { resourceSubscriptions: ['file:///a'] }, 1)
    const two = await listenTo(url, { resourceSubscriptions: ['file:///b'] }, 1)
    await Promise.all([one.message(), two.message()])
    server.resourceChanged('file:///b')
    expect((await two.message()).params.uri).toBe('file:///b')
    server.resourceChanged('file:///a')
    expect((await one.message()).params.uri).toBe('file:///a')
    expect([one.events.length, two.events.length]).toEqual([2, 2])
  })

  test('an unsupported filter is refused before the stream begins', async () => {
    const { server } = changing()
    const { url } = await serve(server)
    const { status, message, headers } = await askModern(url, { method: 'subscriptions/listen', params: { notifications: 'all' } })
    expect([status, message.error?.code, headers['content-type']]).toEqual([200, -32602, 'application/json'])
  })

  test('a client or server limited to JSON gets no listen stream and leaves none open', async () => {
    const { server } = changing()
    const { url, handler } = await serve(server)
    const call = modern(
      { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } },
      { accept: 'application/json' },
    )
    const stream = await httpStream(url, call)
    expect([stream.status, (await stream.whole()).error?.code]).toEqual([406, -32600])
    const jsonOnly = await serve(server, { responses: 'json' })
    const other = await askModern(jsonOnly.url, { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } })
    expect(other.status).toBe(406)
    expect(handler.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })
})

describe('a server without streams promises nothing that needs one', () => {
  const CHANGES = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true } }
  const QUIET = { tools: {}, prompts: {}, resources: {} }

  function offering() {
    const { server } = changing()
    server.prompt('p', {}, () => 'prompt')
    server.resource('file:///offered', { name: 'offered' }, () => 'text')
    return server
  }
  const capabilitiesOf = async (url: string, revision: string): Promise<unknown> => {
    const call = revision === MODERN ? modern({ method: 'server/discover' }) : { body: initializeMessage(revision) }
    const { text } = await http(url, call)
    // In JSON, or as the one event of a stream.
    const { tools, prompts, resources } = JSON.parse(text.slice(text.indexOf('{'))).result.capabilities
    return { tools, prompts, resources }
  }

  test.each([
    ['responses: auto', {}, MODERN, CHANGES],
    ['responses: sse', { responses: 'sse' as const }, MODERN, CHANGES],
    ['responses: json', { responses: 'json' as const }, MODERN, QUIET],
    // A session has its GET stream whatever a POST is answered with.
    ['responses: json', { responses: 'json' as const }, '2025-11-25', CHANGES],
    ['sessions: false', { sessions: false }, '2025-11-25', QUIET],
    ['sessions: false', { sessions: false }, '2025-03-26', QUIET],
    ['sessions: false', { sessions: false }, MODERN, CHANGES],
  ])('a server without streams does not declare %s (%j) in %s', async (_name, options, revision, expected) => {
    const { url } = await serve(offering(), options)
    expect(await capabilitiesOf(url, revision)).toEqual(expected)
  })

  test('the declared capabilities are separate objects', async () => {
    const server = offering()
    const [quiet, usual] = [await serve(server, { responses: 'json' }), await serve(server)]
    for (let i = 0; i < 2; i++) {
      expect(await capabilitiesOf(quiet.url, MODERN)).toEqual(QUIET)
      expect(await capabilitiesOf(usual.url, MODERN)).toEqual(CHANGES)
    }
    server.tool('another', {}, () => 'x')
    expect(await capabilitiesOf(quiet.url, MODERN)).toEqual(QUIET)
  })

  test('sessions: false has no resources/subscribe', async () => {
    const { url } = await serve(offering(), { sessions: false })
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const body = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'file:///offered' } }
    expect((await http(url, { headers, body })).message.error?.code).toBe(-32601)
  })
})
