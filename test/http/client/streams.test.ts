import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { proves } from '../../support/proves.ts'
import {
  type Events,
  failureOf,
  open,
  openSession,
  type Received,
  SAID,
  type Script,
  sessionServer,
  statelessServer,
} from './scripted-http.ts'

const gets = (received: Received[]): Received[] => received.filter(({ verb }) => verb === 'GET')
const resumes = (received: Received[]): Received[] => gets(received).filter(({ headers }) => headers['last-event-id'] !== undefined)

describe('the stream of a call', () => {
  test('a call stream that ends before its answer is resumed by GET after the last event', async () => {
    proves('T-HTTP-021', 'T-HTTP-030', 'T-HTTP-054', 'T-HTTP-057')
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        if (headers['last-event-id'] === undefined) return answer.status(405)
        answer
          .events()
          .message({ jsonrpc: '2.0', id: server.posts('tools/call')[0]?.message.id, result: SAID }, 'e3')
          .end()
      },
      'tools/call': (_, answer) => {
        const events = answer.events().raw('id: e1\ndata:\n\n')
        events.notice('notifications/message', { level: 'info', data: 'half way' }, 'e2')
        setTimeout(() => events.destroy(), 20)
      },
    })
    const logs: unknown[] = []
    const { client, warnings } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(logs).toEqual(['half way'])
    expect(resumes(server.received).map(({ headers }) => headers['last-event-id'])).toEqual(['e2'])
    const [resume] = resumes(server.received)
    expect(resume?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 'session-1',
      'mcp-protocol-version': client.revision,
    })
    expect(warnings).toEqual([])
  })

  test('a call stream is not resumed before the server wants it', async () => {
    proves('T-HTTP-023')
    let endedAt = 0
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        if (headers['last-event-id'] === undefined) return answer.status(405)
        answer
          .events()
          .message({ jsonrpc: '2.0', id: server.posts('tools/call')[0]?.message.id, result: SAID })
          .end()
      },
      'tools/call': (_, answer) => {
        answer.events().raw('retry: 700\nid: e1\ndata:\n\n').end()
        endedAt = performance.now()
      },
    })
    const { client } = await openSession(server)
    await client.call('echo', {})
    const [resume] = resumes(server.received)
    expect((resume?.at ?? 0) - endedAt).toBeGreaterThanOrEqual(690)
    expect((resume?.at ?? 0) - endedAt).toBeLessThan(2000)
  })

  test.each([
    ['an event with an id and no data', 'id: e1\n\n'],
    [
      'lines that end with CR alone',
      'id: e1\rdata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\r\r',
    ],
  ])('a call stream can be resumed after %s', async (_, first) => {
    proves('T-HTTP-054')
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        if (headers['last-event-id'] === undefined) return answer.status(405)
        const result = JSON.stringify({ jsonrpc: '2.0', id: server.posts('tools/call')[0]?.message.id, result: SAID })
        answer.events().raw(`data: ${result}\r\r`)
      },
      'tools/call': (_received, answer) => answer.events().raw(`retry: 5\n${first}`).end(),
    })
    const { client } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(resumes(server.received).map(({ headers }) => headers['last-event-id'])).toEqual(['e1'])
  })

  test('a call stream may be resumed many times, as long as it delivers something', async () => {
    proves('T-HTTP-021')
    let polls = 0
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        if (headers['last-event-id'] === undefined) return answer.status(405)
        const events = answer.events()
        if (++polls === 8) return events.message({ jsonrpc: '2.0', id: server.posts('tools/call')[0]?.message.id, result: SAID }).end()
        events.raw(`retry: 5\nid: p${polls}\ndata:\n\n`).end()
      },
      'tools/call': (_, answer) => answer.events().raw('retry: 5\nid: p0\ndata:\n\n').end(),
    })
    const { client } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(resumes(server.received).map(({ headers }) => headers['last-event-id'])).toEqual([
      'p0',
      'p1',
      'p2',
      'p3',
      'p4',
      'p5',
      'p6',
      'p7',
    ])
  })

  test('a call whose answer comes on the other stream is settled', async () => {
    let standing: Events | undefined
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        const events = answer.events()
        if (headers['last-event-id'] === undefined) standing = events
      },
      'tools/call': ({ message }, answer) => {
        answer.events().raw('retry: 60000\nid: e1\ndata:\n\n').end()
        setTimeout(() => standing?.message({ jsonrpc: '2.0', id: message.id, result: SAID }), 50)
      },
    })
    const { client } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
  })

  test.each([
    ['names no event', (events: Events) => events.end()],
    ['names an event that no header can carry', (events: Events) => events.raw('id: a\u0001b\ndata:\n\n').end()],
    ['forgets the event it named', (events: Events) => events.raw('id: a\ndata:\n\nid:\ndata:\n\n').end()],
  ])('a call stream that %s ends the call with an error', async (_, finish) => {
    const server = await sessionServer({ 'tools/call': (_received, answer) => finish(answer.events()) })
    const { client } = await openSession(server)
    expect(await failureOf(client.call('echo', {}))).toMatchObject({
      code: 'ERR_CLOSED',
      message: expect.stringContaining('ended the stream of tools/call before its answer'),
    })
    expect(resumes(server.received)).toEqual([])
    await client.ping()
  })

  test('a call stream whose server goes away ends the call with one sentence', async () => {
    const server = await sessionServer({
      GET: ({ headers }, answer) => (headers['last-event-id'] === undefined ? answer.status(405) : void answer.response.destroy()),
      'tools/call': (_, answer) => answer.events().raw('retry: 1\nid: e1\ndata:\n\n').end(),
    })
    const { client } = await openSession(server)
    const { code, message } = (await failureOf(client.call('echo', {}))) as { code: string; message: string }
    expect(code).toBe('ERR_CLOSED')
    expect(message).toMatch(/^http:\S+ ended the stream of tools\/call before its answer: \w/)
    expect(message).not.toContain('could not be reached')
  })

  test('a call stream that cannot be resumed ends the call with an error that says why', async () => {
    const refusing = (status: number): Script => ({
      GET: ({ headers }, answer) => answer.status(headers['last-event-id'] === undefined ? 405 : status),
      'tools/call': (_, answer) => answer.events().raw('retry: 1\nid: e1\ndata:\n\n').end(),
    })
    const gone = await sessionServer(refusing(410))
    const first = await openSession(gone)
    expect(await failureOf(first.client.call('echo', {}))).toMatchObject({
      code: 'ERR_CLOSED',
      message: expect.stringContaining('HTTP 410 Gone'),
    })
    expect(resumes(gone.received)).toHaveLength(1)

    const down = await sessionServer(refusing(503))
    const second = await openSession(down)
    // The pauses between the attempts are not tested here.
    const after = systemClock.after.bind(systemClock)
    vi.spyOn(systemClock, 'after').mockImplementation((ms, run) => after(ms < 10_000 ? 1 : ms, run))
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await failureOf(second.client.call('echo', {}))).toMatchObject({
      code: 'ERR_CLOSED',
      message: expect.stringMatching(/HTTP 503 .*in 5 attempts$/),
    })
    expect(resumes(down.received)).toHaveLength(6)
  })

  test('a stateless call stream is not resumed', async () => {
    proves('R-HTTP-018', 'R-HTTP-019')
    const server = await statelessServer({ 'tools/call': (_, answer) => answer.events().raw('id: e1\ndata:\n\n').end() })
    const { client } = await open(server)
    for (let i = 0; i < 2; i++) expect(await failureOf(client.call('echo', {}))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(gets(server.received)).toEqual([])
    // Whoever wants the answer asks anew: another POST under another id, which names nothing of the first.
    const calls = server.posts('tools/call')
    expect(calls).toHaveLength(2)
    expect(calls[1]?.message.id).not.toBe(calls[0]?.message.id)
    for (const { headers } of calls) expect(headers).not.toHaveProperty('last-event-id')
  })

  test('a call stream that stays open after its answer is closed after a while', async () => {
    let events: Events | undefined
    const server = await sessionServer({
      'tools/call': (_, answer) => {
        events = answer.events().result(SAID)
      },
    })
    const { client } = await openSession(server)
    await client.call('echo', {})
    expect(events?.response.closed).toBe(false)
    await expect.poll(() => events?.response.closed).toBe(true)
  })

  test('a call stream leaves its connection to the next request when the server ends it', async () => {
    const server = await sessionServer({ 'tools/call': (_, answer) => answer.events().result(SAID).end() })
    const { client } = await openSession(server)
    for (let i = 0; i < 20; i++) await client.call('echo', {})
    expect(server.sockets.size).toBeLessThanOrEqual(2)
  })

  test('a call stream ignores comments, other events and events without data', async () => {
    const server = await sessionServer({
      'tools/call': (_, answer) =>
        answer.events().raw(': hello\n\nevent: ping\ndata: {"not":"ours"}\n\nid: 1\ndata:\n\ndata: \n\nfoo: bar\n\n').result(SAID).end(),
    })
    const { client, warnings } = await openSession(server)
    expect(await client.call('echo', {})).toMatchObject(SAID)
    expect(warnings).toEqual([])
  })
})

describe('the GET stream', () => {
  test('the GET stream is open before the first request', async () => {
    proves('T-HTTP-034', 'T-HTTP-035')
    let standing: Events | undefined
    const server = await sessionServer({
      GET: (_, answer) => {
        standing = answer.events()
      },
      'tools/list': (_, answer) => {
        standing?.notice('notifications/message', { level: 'info', data: 'unasked' })
        answer.result({ tools: [] })
      },
    })
    const logs: unknown[] = []
    const { client } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    await client.tools().all()
    await expect.poll(() => logs).toEqual(['unasked'])
    const order = server.received.map(({ verb, message }) => message.method ?? verb)
    expect(order).toEqual(['initialize', 'notifications/initialized', 'GET', 'tools/list'])
    expect(gets(server.received)[0]?.headers).toMatchObject({ accept: 'text/event-stream', 'mcp-session-id': 'session-1' })
  })

  test('the GET stream may carry a question, answered by a POST', async () => {
    proves('R-HTTP-008')
    let standing: Events | undefined
    const server = await sessionServer({
      GET: (_, answer) => {
        standing = answer.events()
      },
      'tools/call': (_, answer) => {
        standing?.message({ jsonrpc: '2.0', id: 'q', method: 'roots/list' })
        void server
          .until(({ message }) => message.id === 'q')
          .then(({ message }) => answer.result({ content: [], structuredContent: message.result }))
      },
    })
    const { client } = await openSession(server, { answer: { roots: ['file:///work'] } })
    expect((await client.call('echo', {})).structuredContent).toEqual({ roots: [{ uri: 'file:///work' }] })
  })

  test.each([405, 404, 400])('the GET stream is not used where GET is answered %i, and everything else works', async (status) => {
    const server = await sessionServer({ GET: (_, answer) => answer.status(status) })
    const { client, warnings } = await openSession(server)
    await client.ping()
    expect(gets(server.received)).toHaveLength(1)
    expect(warnings).toEqual([])
  })

  test('the GET stream does not delay the first request when GET is not answered', async () => {
    const server = await sessionServer({ GET: () => {} })
    const { client } = await openSession(server)
    const before = performance.now()
    await client.ping()
    expect(performance.now() - before).toBeLessThan(8000)
  })

  test('the GET stream is resumed after a break, from the last event', async () => {
    let streams = 0
    const server = await sessionServer({
      GET: (_, answer) => {
        const events = answer.events()
        if (++streams === 1) {
          events.raw('retry: 10\n\n').notice('notifications/message', { level: 'info', data: 'one' }, 's1')
          setTimeout(() => events.destroy(), 20)
        } else events.notice('notifications/message', { level: 'info', data: 'two' }, 's2')
      },
    })
    const logs: unknown[] = []
    await openSession(server, { onLog: ({ data }) => logs.push(data) })
    await expect.poll(() => logs).toEqual(['one', 'two'])
    expect(gets(server.received).map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 's1'])
  })

  test('the GET stream is reopened with a warning when the missed events are gone', async () => {
    const server = await sessionServer({
      GET: ({ headers }, answer) => {
        if (headers['last-event-id'] !== undefined) return answer.error(-32600, 'Events after that id are no longer kept', 400)
        const events = answer.events()
        if (gets(server.received).length === 1) events.raw('retry: 10\nid: s1\ndata:\n\n').end()
        else events.notice('notifications/message', { level: 'info', data: 'later' })
      },
    })
    const logs: unknown[] = []
    const { warnings } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    await expect.poll(() => logs).toEqual(['later'])
    expect(gets(server.received).map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 's1', undefined])
    expect(warnings).toEqual([expect.stringContaining('were missed')])
  })

  test('the GET stream is reopened when the server has noticed that the old connection is dead', async () => {
    const server = await sessionServer({
      GET: (_, answer) => {
        const count = gets(server.received).length
        if (count === 2) return answer.error(-32000, 'Conflict', 409)
        const events = answer.events()
        if (count === 1) events.destroy()
        else events.notice('notifications/message', { level: 'info', data: 'later' })
      },
    })
    const logs: unknown[] = []
    const { warnings } = await openSession(server, { onLog: ({ data }) => logs.push(data) })
    await expect.poll(() => logs).toEqual(['later'])
    expect(warnings).toEqual([])
  })

  test('a GET stream that the server takes away is reported as lost', async () => {
    const server = await sessionServer({
      GET: (_, answer) => {
        if (gets(server.received).length === 1) answer.events().end()
        else answer.status(405)
      },
    })
    const { warnings } = await openSession(server)
    await expect.poll(() => warnings).toEqual([expect.stringContaining('are no longer received')])
  })

  test('the GET stream is retried with longer and longer pauses when the server is away', async () => {
    const server = await sessionServer({ GET: (_, answer) => answer.status(503) })
    const { client } = await openSession(server)
    await client.ping()
    await expect.poll(() => gets(server.received).length).toBe(4)
    const [a, b, c, d] = gets(server.received).map(({ at }) => at) as [number, number, number, number]
    expect(b - a).toBeGreaterThan(150)
    expect(d - c).toBeGreaterThan((b - a) / 2)
    await client.ping()
  })

  test('the GET stream is not opened without a session', async () => {
    const server = await statelessServer()
    const { client } = await open(server)
    await client.call('echo', {})
    expect(gets(server.received)).toEqual([])
  })
})

describe('a stream of changes', () => {
  const acknowledging = (onOpen: (events: Events, count: number) => void): Script => {
    let count = 0
    return {
      'subscriptions/listen': ({ message }, answer) => {
        const events = answer.events()
        const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id }
        events.notice('notifications/subscriptions/acknowledged', { _meta, notifications: message.params.notifications })
        onOpen(events, ++count)
      },
    }
  }

  test('a stream of changes that breaks is reopened, and possible losses are reported', async () => {
    proves('R-LISTEN-015', 'R-HTTP-019')
    const server = await statelessServer(
      acknowledging((events, count) => {
        if (count === 1) setTimeout(() => events.destroy(), 20)
      }),
    )
    const { client } = await open(server)
    let changes = 0
    const stop = await client.onChange('tools', () => changes++)
    await expect.poll(() => changes).toBe(1)
    const ids = server.posts('subscriptions/listen').map(({ message }) => message.id)
    expect(ids).toHaveLength(2)
    expect(ids[1]).not.toBe(ids[0])
    stop()
  })

  test('a stream of changes may be kept alive with comments', async () => {
    proves('R-LISTEN-020', 'R-LISTEN-001', 'R-LISTEN-002')
    const server = await statelessServer(
      acknowledging((events) => {
        events.raw(': keep\n\n:\n\n: {"jsonrpc":"2.0"}\n\n')
        const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': server.posts('subscriptions/listen')[0]?.message.id } }
        events.notice('notifications/tools/list_changed', params)
      }),
    )
    const { client, warnings } = await open(server)
    let changes = 0
    const stop = await client.onChange('tools', () => changes++)
    await expect.poll(() => changes).toBe(1)
    const [asked] = server.posts('subscriptions/listen')
    expect(asked?.message.params.notifications).toEqual({ toolsListChanged: true })
    expect(warnings).toEqual([])
    stop()
  })

  test('a stream of changes that is no longer wanted is closed', async () => {
    proves('R-LISTEN-012')
    let isGone = false
    const server = await statelessServer(acknowledging((events) => void events.response.once('close', () => (isGone = true))))
    const { client } = await open(server)
    const stop = await client.onChange('tools', () => {})
    stop()
    await expect.poll(() => isGone).toBe(true)
    expect(server.posts('notifications/cancelled')).toEqual([])
  })
})
