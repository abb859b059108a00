/** The page's client for the API: addresses, errors, the session and the event stream. */

import { expect, test } from 'vitest'
import { address, createApi } from '../../../console/src/api/client.ts'
import { followEvents, type StreamStatus } from '../../../console/src/api/events.ts'
import { codeIn, createSession, type Session, type TokenStorage } from '../../../console/src/api/session.ts'
import { parseEvents } from '../../../console/src/api/sse.ts'
import type { ConsoleEvent } from '../../../console/src/state/event.ts'

const storage = (): TokenStorage & { all: Map<string, string> } => {
  const all = new Map<string, string>()
  return {
    all,
    getItem: (key: string) => all.get(key) ?? null,
    setItem: (key: string, value: string) => void all.set(key, value),
    removeItem: (key: string) => void all.delete(key),
  }
}

const signedIn: Session = { hasToken: true, headers: () => ({ 'portico-token': 't' }), exchange: async () => {}, end: () => {} }

const answering =
  (status: number, body: unknown): typeof fetch =>
  async () =>
    new Response(JSON.stringify(body), { status })

test('names in a path cannot change it, and the query leaves out what is not set', () => {
  expect(address('/api/servers/:id/log', { id: '../x/y?z' }, { after: 3, limit: undefined })).toBe(
    '/api/servers/..%2Fx%2Fy%3Fz/log?after=3',
  )
  expect(() => address('/api/servers/:id', { id: '' })).toThrow('expected a value for :id')
})

test('a refusal is an error with its code, and a lost session is told', async () => {
  let isOut = false
  const api = createApi({
    session: signedIn,
    fetch: answering(401, { error: { code: 'ERR_SESSION', message: 'no session' } }),
    onSignedOut: () => {
      isOut = true
    },
  })
  await expect(api.call('GET /api/servers')).rejects.toMatchObject({ code: 'ERR_SESSION', status: 401, message: 'no session' })
  expect(isOut).toBe(true)
})

test('no answer and an answer without JSON are errors, too', async () => {
  const silent = createApi({ session: signedIn, fetch: async () => Promise.reject(new TypeError('refused')) })
  await expect(silent.call('GET /api/servers')).rejects.toMatchObject({ code: 'ERR_OFFLINE', status: 0 })
  const odd = createApi({ session: signedIn, fetch: async () => new Response('<html>') })
  await expect(odd.call('GET /api/servers')).rejects.toMatchObject({ code: 'ERR_ANSWER' })
  const stop = AbortSignal.abort(new Error('given up'))
  const given = createApi({ session: signedIn, fetch: async () => Promise.reject(new TypeError('aborted')) })
  await expect(given.call('GET /api/servers', { signal: stop })).rejects.toThrow('given up')
})

test('every request has the token, and bodies are JSON', async () => {
  const seen: [string, RequestInit | undefined][] = []
  const api = createApi({
    session: signedIn,
    fetch: async (to, init) => {
      seen.push([String(to), init])
      return new Response('null')
    },
  })
  await api.call('POST /api/questions/:id/answer', { params: { id: 'q' }, body: { kind: 'deny' } })
  expect(seen[0]).toMatchObject([
    '/api/questions/q/answer',
    { method: 'POST', body: '{"kind":"deny"}', headers: { 'portico-token': 't', 'content-type': 'application/json' } },
  ])
})

test('a code becomes a token that stays in this window', async () => {
  const kept = storage()
  const session = createSession({ storage: kept, fetch: answering(201, { token: 'abc', expiresInMs: 1 }) })
  expect(session.hasToken).toBe(false)
  await session.exchange('code')
  expect(session.headers()).toEqual({ 'portico-token': 'abc' })
  expect(createSession({ storage: kept }).headers()).toEqual({ 'portico-token': 'abc' })
  session.end()
  expect(kept.all.size).toBe(0)
  const wrong = createSession({ storage: storage(), fetch: answering(401, { error: { code: 'ERR_CODE', message: 'used' } }) })
  await expect(wrong.exchange('code')).rejects.toMatchObject({ code: 'ERR_CODE' })
})

test('a session works without storage', async () => {
  const refuse = (): never => {
    throw new Error('storage is off')
  }
  const session = createSession({
    storage: { getItem: refuse, setItem: refuse, removeItem: refuse },
    fetch: answering(201, { token: 'abc' }),
  })
  await session.exchange('code')
  expect(session.headers()).toEqual({ 'portico-token': 'abc' })
})

test.each([
  ['#code=abc-DEF_12', 'abc-DEF_12'],
  [' http://127.0.0.1:4711/tools#code=abcdefgh ', 'abcdefgh'],
  ['abcdefgh', 'abcdefgh'],
  ['#code=', undefined],
  ['hello there', undefined],
])('the code in %j is %j', (text, code) => {
  expect(codeIn(text)).toBe(code)
})

const streamOf = (...pieces: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })

test('events are read across pieces, with comments and several data lines', async () => {
  const events = []
  for await (const event of parseEvents(streamOf('id: 1\neve', 'nt: log\ndata: a\ndata: b\n\n: alive\n\ndata: c\r\n\r\n')))
    events.push(event)
  expect(events).toEqual([
    { id: '1', name: 'log', data: 'a\nb' },
    { name: 'message', data: 'c' },
  ])
})

test('a lost stream continues after the last event, and a lost session ends it', async () => {
  const asked: (string | null)[] = []
  const answers = [
    () => new Response(streamOf('id: 7\nevent: hello\ndata: {"isComplete":true}\n\n')),
    () => new Response(streamOf('event: servers\ndata: not json\n\nid: 8\nevent: servers\ndata: {"ids":[]}\n\n')),
    () => new Response('{"error":{"code":"ERR_SESSION","message":"gone"}}', { status: 401 }),
  ]
  const events: ConsoleEvent[] = []
  const states: StreamStatus[] = []
  const options = {
    session: signedIn,
    onEvent: (event: ConsoleEvent) => void events.push(event),
    onStatus: (status: StreamStatus) => void states.push(status),
    wait: async () => {},
    fetch: async (_: unknown, init?: RequestInit) => {
      asked.push(new Headers(init?.headers).get('last-event-id'))
      return (answers.shift() as () => Response)()
    },
  }
  await followEvents(options, new AbortController().signal)
  expect(asked).toEqual([null, '7', '8'])
  expect(events.map(({ name }) => name)).toEqual(['hello', 'servers'])
  expect(states).toEqual(['connecting', 'live', 'lost', 'live', 'lost', 'signed-out'])
})
