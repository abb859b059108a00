/** A fault of the server at one request: it gets status 500, everything that it held is given back, and the process goes on. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Incoming } from '../../../src/jsonrpc/message.ts'
import type { Outlet } from '../../../src/jsonrpc/outlet.ts'
import type { Service } from '../../../src/protocol/interfaces/service.ts'
import { memoryStore, type SharedStore } from '../../../src/store/index.ts'
import { type HttpAnswer, http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  callTool,
  initializeMessage,
  LISTEN,
  openSession,
  serve,
  type TestHttpOptions,
  testServer,
  until,
} from '../../support/http-service.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

const BOOM = callTool('boom')

/** Fails at some requests: before the answer or after it. */
function failing(when: 'before' | 'after', method: string): Service {
  const server = testServer()
  const fail = (message: Incoming, outlet: Outlet): void => {
    if (message.kind !== 'request' || message.method !== method || JSON.stringify(message.params).includes('"hi"')) return
    if (when === 'after') outlet.answer(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} }))
    throw new Error('A bug')
  }
  const { open, answer } = server
  return Object.assign(server, {
    open: (...args: Parameters<Service['open']>) => {
      const channel = open.apply(server, args)
      const { receive } = channel
      return Object.assign(channel, {
        receive: (message: Incoming, outlet: Outlet) => {
          fail(message, outlet)
          receive.call(channel, message, outlet)
        },
      })
    },
    answer: (...args: Parameters<Service['answer']>) => {
      fail(args[0], args[1])
      return answer.apply(server, args)
    },
  })
}

const WAYS: Record<string, { method: string; options?: TestHttpOptions; ask(url: string): Promise<HttpAnswer> }> = {
  'a stateless request': { method: 'tools/call', ask: (url) => askModern(url, BOOM) },
  'a listen request': { method: 'subscriptions/listen', ask: (url) => askModern(url, LISTEN) },
  'a request of a session': {
    method: 'tools/call',
    ask: async (url) => (await openSession(url, '2025-11-25')).ask(BOOM),
  },
  'a handshake': { method: 'initialize', ask: (url) => http(url, { body: initializeMessage('2025-11-25') }) },
  'a request without a session': {
    method: 'tools/call',
    options: { sessions: false },
    ask: (url) => http(url, { headers: { 'mcp-protocol-version': '2025-11-25' }, body: { jsonrpc: '2.0', id: 1, ...BOOM } }),
  },
  'a handshake without a session': {
    method: 'initialize',
    options: { sessions: false },
    ask: (url) => http(url, { body: initializeMessage('2025-11-25') }),
  },
  'a request of 2024-11-05': {
    method: 'tools/call',
    ask: async (url) => {
      const stream = await httpStream(new URL('sse', url).href, { method: 'GET', isBare: true, headers: { accept: 'text/event-stream' } })
      const to = new URL(String((await stream.next())?.data), url).href
      await http(to, { body: initializeMessage('2024-11-05') })
      await stream.message()
      const answer = await http(to, { body: { jsonrpc: '2.0', id: 1, ...BOOM } })
      stream.destroy()
      return answer
    },
  },
}

const STORES: [string, () => SharedStore | undefined][] = [
  ['without a store', () => undefined],
  // It is asked before the first request.
  ['with a store', () => memoryStore()],
]
const ALL = STORES.flatMap(([where, store]) =>
  Object.keys(WAYS).flatMap((way) => (['before', 'after'] as const).map((when) => [way, when, where, store] as const)),
)

test.each(ALL)('%s that fails %s its answer gives back what it held, %s', async (way, when, _where, storeOf) => {
  const { method, options, ask } = WAYS[way] as (typeof WAYS)[string]
  const store = storeOf()
  const { url, handler } = await serve(failing(when, method) as never, { ...options, ...(store && { store }) })
  for (let i = 0; i < 3; i++) {
    const { status } = await ask(url)
    // This transport accepts a message before it has any effect.
    if (way.includes('2024')) expect(status).toBe(202)
    else expect(status).toBe(when === 'before' ? 500 : 200)
  }
  const counts = () => {
    const { sessions: _sessions, callers: _callers, ...others } = handler.counts
    return others
  }
  await until(() => Object.values(counts()).every((count) => count === 0), 1000).catch(() => {})
  expect(counts()).toEqual({ inFlight: 0, tasks: 0, abandoned: 0, streams: 0, legacySessions: 0, bodyBytes: 0, keptBytes: 0 })
  if (method === 'tools/call' && !way.includes('2024')) expect((await askModern(url, callTool('hi'))).status).toBe(200)
})

/** Ways to requests for which the server opens a channel. `prepare` returns a function that asks, once the server fails. */
const OPENING: Record<string, { isShared?: true; options?: TestHttpOptions; prepare(url: string): Promise<() => Promise<HttpAnswer>> }> = {
  'a handshake': { prepare: async (url) => () => http(url, { body: initializeMessage('2025-11-25') }) },
  'a handshake without a session': {
    options: { sessions: false },
    prepare: async (url) => () => http(url, { body: initializeMessage('2025-11-25') }),
  },
  // The same id each time, which no replica may take for one in progress.
  'a request of a session': {
    isShared: true,
    prepare: async (url) => {
      const session = await openSession(url, '2025-11-25')
      return () => session.ask({ ...BOOM, id: 7 })
    },
  },
  'a stream of 2024-11-05': {
    prepare: async (url) => () => http(new URL('sse', url).href, { method: 'GET', isBare: true, headers: { accept: 'text/event-stream' } }),
  },
}
const ALL_OPENING = STORES.flatMap(([where, store]) =>
  Object.entries(OPENING).flatMap(([way, { isShared }]) => (isShared && !store() ? [] : [[way, where, store] as const])),
)

test.each(ALL_OPENING)('%s for which no channel can be opened gives back what it held, %s', async (way, _where, storeOf) => {
  const { options, prepare } = OPENING[way] as (typeof OPENING)[string]
  const server = testServer()
  let isFailing = false
  const { open } = server
  const service: Service = Object.assign(server, {
    open: (...args: Parameters<Service['open']>) => {
      if (isFailing) throw new Error('A bug')
      return open.apply(server, args)
    },
  })
  const store = storeOf()
  const { url, handler } = await serve(service as never, { ...options, ...(store && { store }) })
  const ask = await prepare(url)
  isFailing = true
  for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(500)
  expect(handler.counts).toMatchObject({ inFlight: 0, abandoned: 0, streams: 0, sessions: 0, legacySessions: 0, bodyBytes: 0 })
})
