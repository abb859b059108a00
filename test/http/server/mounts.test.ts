import { createServer as createNodeServer, type Server as NodeServer } from 'node:http'
import { connect as connectTls } from 'node:tls'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HttpHandler, type HttpOptions, httpHandler } from '../../../src/http/index.ts'
import { http, portOf, rawHttp } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  gate,
  initializeMessage,
  modern,
  openSession,
  serve,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import type { Message } from '../../support/raw-channel.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { selfSigned } from '../../support/self-signed.ts'

const USUAL_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

type Send = (path: string, init: RequestInit & { duplex?: 'half' }) => Promise<Response>

/** Each way to serve, as one line. */
const MOUNTS: Record<string, (handler: HttpHandler) => Promise<Send>> = {
  'fetch itself': async (handler) => (path, init) => handler.fetch(new Request(`http://localhost${path}`, init)),
  'node:http': (handler) => at(createNodeServer(handler.node)),
  'Express 5': (handler) => at(createNodeServer(express().all(['/mcp', '/sse', '/messages'], handler.node))),
  'Express 5 that has parsed the body': (handler) =>
    at(
      createNodeServer(
        express()
          .use(express.json())
          .all(['/mcp', '/sse', '/messages'], (req, res) => handler.node(req, res, req.body)),
      ),
    ),
  'Express 5 below a path': (handler) => at(createNodeServer(express().use('/below', express.Router().use(handler.node))), '/below'),
  'Fastify 5': async (handler) => {
    const app = fastify()
    for (const path of ['/mcp', '/sse', '/messages'])
      app.all(path, (req, reply) => {
        reply.hijack()
        handler.node(req.raw, reply.raw, req.body)
      })
    await app.ready()
    return at(app.server as NodeServer)
  },
  'Hono on node-server': (handler) => {
    const app = new Hono().all('*', (c) => handler.fetch(c.req.raw))
    return at(serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as NodeServer)
  },
}

async function at(server: NodeServer, prefix = ''): Promise<Send> {
  if (!server.listening) await new Promise<void>((resolve) => (server.address() ? resolve() : server.listen(0, '127.0.0.1', resolve)))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (path, init) => fetch(`http://127.0.0.1:${portOf(server)}${prefix}${path}`, init)
}

function working() {
  const server = testServer()
  const aborted = gate()
  server.tool('talks', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return 'done'
  })
  server.tool('endless', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    aborted.open()
    return 'x'
  })
  server.tool('who', {}, (_args, ctx) => String(ctx.caller.principal))
  return { server, aborted }
}

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = (send: Send, body: unknown, headers: Record<string, string> = {}, path = '/mcp'): Promise<Response> =>
  send(path, { method: 'POST', headers: { ...TYPES, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) })
const ask = (send: Send, asked: Parameters<typeof modern>[0], headers: Record<string, string> = {}): Promise<Response> => {
  const call = modern(asked)
  return post(send, call.body, { ...(call.headers as Record<string, string>), ...headers })
}
const dataIn = (text: string): Message[] => [...text.matchAll(/^data: (.+)$/gm)].map(([, json]) => JSON.parse(json as string) as Message)

/** Reads a stream of events until it has said so many messages, and lets go of it. */
async function firstOf(response: Response, count: number): Promise<{ messages: Message[]; text: string; cancel: () => Promise<void> }> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (dataIn(text).length < count) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  return { messages: dataIn(text), text, cancel: () => reader.cancel() }
}

describe.each(Object.keys(MOUNTS))('mounted in %s', (name) => {
  const mount = async (options: HttpOptions = {}) => {
    const { server, aborted } = working()
    const handler = httpHandler(server, options)
    onTestFinished(() => handler.close())
    return { server, aborted, handler, send: await (MOUNTS[name] as (handler: HttpHandler) => Promise<Send>)(handler) }
  }

  test('stateless requests are answered, as JSON or events', async () => {
    const { send } = await mount()
    const plain = await ask(send, callTool('hi'))
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(((await plain.json()) as Message).result.content[0].text).toBe('hi')
    const events = await ask(send, callTool('talks', {}, WATCHED))
    expect([events.status, events.headers.get('content-type'), events.headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream',
      'no',
    ])
    expect(dataIn(await events.text()).map((message) => message.method ?? message.result.content[0].text)).toEqual([
      'notifications/progress',
      'done',
    ])
    expect((await ask(send, { method: 'no/such' })).status).toBe(404)
    expect((await ask(send, callTool('hi'), { 'mcp-name': 'other' })).status).toBe(400)
  })

  test('a session lasts from initialize to DELETE, with its stream, resumed once', async () => {
    const { send, server, handler } = await mount()
    const opened = await post(send, initializeMessage('2025-11-25'))
    const headers = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')), 'mcp-protocol-version': '2025-11-25' }
    expect((await post(send, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(202)
    expect((await post(send, { jsonrpc: '2.0', id: 1, ...callTool('hi') }, headers)).status).toBe(200)
    const get = (more: Record<string, string> = {}) => send('/mcp', { headers: { accept: 'text/event-stream', ...headers, ...more } })
    const standing = await get()
    expect((await get()).status).toBe(409)
    server.log.error('one')
    const first = await firstOf(standing, 1)
    expect(first.messages[0]?.params.data).toBe('one')
    await first.cancel()
    await until(() => handler.counts.streams === 0)
    server.log.error('two')
    const id = [...first.text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] as string
    const resumed = await firstOf(await get({ 'last-event-id': id }), 1)
    expect(resumed.messages[0]?.params.data).toBe('two')
    expect((await send('/mcp', { method: 'DELETE', headers })).status).toBe(204)
    expect((await post(send, { jsonrpc: '2.0', id: 2, ...callTool('hi') }, headers)).status).toBe(404)
    expect(handler.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('a client that leaves cancels its stateless request', async () => {
    const { send, aborted, handler } = await mount()
    const { messages, cancel } = await firstOf(await ask(send, callTool('endless', {}, WATCHED)), 1)
    expect(messages[0]?.method).toBe('notifications/progress')
    await cancel()
    await aborted.opened
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)
  })

  test('bad requests are refused with their status', async () => {
    const { send } = await mount({ limits: { maxBodyBytes: 3000 } })
    const good = modern(callTool('hi'))
    const headers = good.headers as Record<string, string>
    const body = JSON.stringify(good.body)
    expect((await post(send, body, { ...headers, origin: 'http://evil.com' })).status).toBe(403)
    expect((await post(send, body, { ...headers, accept: 'text/html' })).status).toBe(406)
    expect((await post(send, body.replace('"method"', '"Method"'), headers)).status).toBe(400)
    expect((await post(send, '{"jsonrpc":"2.0"', headers)).status).toBe(400)
    expect((await post(send, body.replace('{}', `{"x":"${'x'.repeat(3000)}"}`), headers)).status).toBe(413)
    expect((await send('/mcp', { method: 'GET' })).status).toBe(400)
    expect((await post(send, body, headers)).status).toBe(200)
  })

  test('callers are authenticated before anything is read', async () => {
    const { send } = await mount({ authenticate: byHeader })
    expect((await ask(send, callTool('who'))).status).toBe(401)
    const answer = await ask(send, callTool('who'), { 'x-user': 'alice' })
    expect(((await answer.json()) as Message).result.content[0].text).toBe('alice')
  })

  test('the transport of 2024-11-05 is there too', async () => {
    const { send } = await mount()
    const stream = await send('/sse', { headers: { accept: 'text/event-stream' } })
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    const until = async (pattern: RegExp) => {
      while (!pattern.test(text)) text += decoder.decode((await reader.read()).value, { stream: true })
      return (pattern.exec(text) as RegExpExecArray)[1] as string
    }
    const path = await until(/^event: endpoint\ndata: (.*)\n\n/)
    expect(path).toMatch(name.endsWith('path') ? /^\/below\/messages\?sessionId=/ : /^\/messages\?sessionId=/)
    const sent = await post(send, initializeMessage('2024-11-05'), {}, path.replace('/below', ''))
    expect(sent.status).toBe(202)
    expect(JSON.parse(await until(/^event: message\ndata: (.*)\n\n/m))).toMatchObject({ id: 0, result: { protocolVersion: '2024-11-05' } })
    await reader.cancel()
  })
})

test('a body that was read by other middleware and not passed on is an empty message', async () => {
  const { server } = working()
  const handler = httpHandler(server)
  const forget = (request: { body: unknown }, _response: unknown, next: () => void): void => {
    request.body = undefined
    next()
  }
  const app = express().use(express.raw({ type: '*/*' }), forget)
  const send = await at(createNodeServer(app.all('/mcp', handler.node)))
  const answer = await ask(send, callTool('hi'))
  expect([answer.status, ((await answer.json()) as Message).error.code]).toEqual([400, -32700])
})

describe('health and metrics of a mounted handler', () => {
  const OPTIONS: HttpOptions = { health: true, metrics: true, authenticate: byHeader, limits: { failedLogins: false } }
  const OPERATIONS = ['/healthz', '/readyz', '/metrics']
  const isShown = (text: string): boolean => /portico_requests|"status":"ok"|^HTTP\/1\.1 200/.test(text)

  test('are at their own paths only, whatever reads the target before the handler', async () => {
    const handler = httpHandler(testServer(), { ...OPTIONS, allowedHosts: ['127.0.0.1'] })
    onTestFinished(() => handler.close())
    const app = express()
      .all('/mcp', handler.node)
      .use('/below', handler.node)
      .all([...OPERATIONS], handler.node)
    const servers = [createNodeServer(app), createNodeServer(handler.node)]
    const routed = OPERATIONS.flatMap((path) => [
      ...[`/mcp#${path}`, `/mcp?x#${path}`, `/MCP/#${path}`, `/below${path}`, `/below/${path}`, `/below#${path}`, `/below/x/..${path}`],
      ...[`/below${path.replace('/', '/%2f')}`, `/below${path}?x`, `/below/..${path}`, `//below${path}`, `/${path}`, `${path}/`],
      ...[path.toUpperCase(), `${path}#/mcp`, `${path}#/../mcp`, `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`],
      ...[`http://127.0.0.1${path}`, `http://127.0.0.1/below${path}`, `http://127.0.0.1#${path}`, `http:/${path}`, `x${path}`],
    ])
    for (const server of servers) {
      await at(server)
      const ask = (path: string, method: string): Promise<string> =>
        rawHttp(portOf(server), rawRequest({ method, path, headers: { connection: 'close' } })).closed
      for (const path of OPERATIONS) expect(isShown(await ask(`${path}?x`, 'GET'))).toBe(true)
      for (const path of routed)
        for (const method of ['GET', 'HEAD']) expect([method, path, isShown(await ask(path, method))]).toEqual([method, path, false])
      expect(await ask('/mcp#/metrics', 'GET')).toMatch(/^HTTP\/1\.1 401/)
    }
  })

  test('are at their own paths only with web requests, too', async () => {
    const handler = httpHandler(testServer(), OPTIONS)
    onTestFinished(() => handler.close())
    const app = new Hono().all('/mcp/*', (c) => handler.fetch(c.req.raw))
    for (const path of OPERATIONS) {
      expect((await app.request(`http://localhost/mcp${path}`)).status).toBe(401)
      expect((await app.request(`http://localhost/mcp#${path}`)).status).toBe(401)
      expect((await handler.fetch(new Request(`http://localhost${path}`))).status).toBe(200)
    }
  })
})

describe('https', () => {
  test('https is served with a key and a certificate, from TLS 1.2 on', async () => {
    const tls = selfSigned()
    const { url, port } = await serve(testServer(), { tls })
    expect(url).toBe(`https://127.0.0.1:${port}/mcp`)
    const call = modern(callTool('hi'))
    const answer = await http(url, { ...call, ca: tls.cert })
    expect(answer.message.result?.content[0].text).toBe('hi')
    expect((await http(url, { ...call, headers: { ...call.headers, origin: `https://127.0.0.1:${port}` }, ca: tls.cert })).status).toBe(200)
    await expect(http(url, call)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const old = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
    const failed = await new Promise((resolve) => old.on('error', () => resolve('refused')).on('secureConnect', () => resolve('taken')))
    expect(failed).toBe('refused')
  })
})

describe('a client that is gone before the handler is called', () => {
  test('a client that left before the handler ran leaves no work and no stream, on Node', async () => {
    const server = testServer()
    // By name: a socket that is closed has no address.
    const handler = httpHandler(server, { allowedHosts: ['127.0.0.1', 'localhost'] })
    const [came, went] = [gate(), gate()]
    const late = createNodeServer((request, response) => {
      if (request.headers['x-late'] === undefined) return handler.node(request, response)
      response.on('close', () => {
        handler.node(request, response)
        went.open()
      })
      came.open()
    })
    const send = await at(late)
    const opened = await send('/mcp', { method: 'POST', headers: USUAL_HEADERS, body: JSON.stringify(initializeMessage('2025-11-25')) })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') as string, accept: 'text/event-stream' }
    const leaving = new AbortController()
    const listening = send('/mcp', { headers: { ...session, 'x-late': '1' }, signal: leaving.signal }).catch(() => {})
    await came.opened
    leaving.abort()
    await Promise.all([went.opened, listening])
    expect(handler.counts.streams).toBe(0)
    const again = await send('/mcp', { headers: session })
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })

  test('a client that left before the handler ran gets a settled promise, with web standards', async () => {
    const handler = httpHandler(testServer())
    const request = new Request('http://localhost/mcp', { method: 'POST', signal: AbortSignal.abort(), headers: USUAL_HEADERS, body: '{}' })
    expect((await handler.fetch(request)).status).toBe(499)
  })

  test('a client that leaves during authentication causes no work', async () => {
    const server = testServer()
    let calls = 0
    server.tool('count', {}, () => String(++calls))
    const [asked, known] = [gate(), gate()]
    const authenticate = async () => {
      asked.open()
      await known.opened
      return { principal: 'anna' }
    }
    const handler = httpHandler(server, { authenticate })
    const { headers = {}, body } = modern(callTool('count'))
    const leaving = new AbortController()
    const init = { method: 'POST', headers: { ...USUAL_HEADERS, ...(headers as Record<string, string>) }, body: JSON.stringify(body) }
    const answer = handler.fetch(new Request('http://localhost/mcp', { ...init, signal: leaving.signal }))
    await asked.opened
    leaving.abort()
    known.open()
    expect((await answer).status).toBe(499)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(calls).toBe(0)
  })
})

describe('pages of allowed origins', () => {
  const ORIGIN = 'https://app.example.com'

  test('allowed origins may send a preflight, all protocol headers, and read the session id', async () => {
    const { url } = await serve(testServer(), { allowedOrigins: [ORIGIN], authenticate: byHeader })
    const asked = 'content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-param-region, mcp-session-id, last-event-id, authorization'
    const preflight = await http(url, {
      method: 'OPTIONS',
      isBare: true,
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    })
    expect([preflight.status, preflight.text]).toEqual([204, ''])
    expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: expect.stringMatching(/origin/i) })
    expect(String(preflight.headers['access-control-allow-methods']).split(', ')).toEqual(expect.arrayContaining(['POST', 'GET', 'DELETE']))
    const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase().split(/, */)
    expect(allowed).toEqual(expect.arrayContaining(asked.split(', ')))
    const session = await openSession(url, '2025-11-25', { headers: { origin: ORIGIN, 'x-user': 'a' } })
    const answers = [await session.ask(callTool('hi')), await askModern(url, callTool('hi'), { origin: ORIGIN, 'x-user': 'a' })]
    answers.push(await askModern(url, callTool('hi'), { origin: ORIGIN }), await session.end())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 204])
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe(ORIGIN)
      expect(headers['access-control-expose-headers']).toMatch(/Mcp-Session-Id/i)
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test('other origins get no CORS headers, nor do requests without Origin', async () => {
    const { url } = await serve(testServer(), { allowedOrigins: [ORIGIN] })
    const other = await http(url, {
      method: 'OPTIONS',
      isBare: true,
      headers: { origin: 'https://evil.com', 'access-control-request-method': 'POST' },
    })
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined])
    const none = await askModern(url, callTool('hi'))
    expect(Object.keys(none.headers).filter((header) => header.startsWith('access-control'))).toEqual([])
  })
})
