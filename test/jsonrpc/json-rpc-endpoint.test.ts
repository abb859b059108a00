import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Deadlines } from '../../src/base/deadlines.ts'
import type { Exchange } from '../../src/jsonrpc/exchange.ts'
import { type EndpointHandler, JsonRpcEndpoint } from '../../src/jsonrpc/json-rpc-endpoint.ts'
import type { Id, NotificationMessage, Params } from '../../src/jsonrpc/message.ts'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import type { RequestOptions } from '../../src/jsonrpc/pending.ts'
import { read } from '../../src/jsonrpc/read.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import { notificationJson, requestJson } from '../../src/jsonrpc/write.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { type Json, type RecordingOutlet, recordingOutlet } from '../support/recording-outlet.ts'

const BOUNDS = { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000, maxBatch: 50 }

interface Bench {
  peer: JsonRpcEndpoint
  clock: FakeClock
  /** Their requests that have started and await an answer from the test. */
  started: Exchange[]
  notices: NotificationMessage[]
  ignored: string[]
  outlet: RecordingOutlet
  /** Hands a message in, with its own outlet if one is given. */
  receive(message: unknown, outlet?: Outlet): void
  /** What we have sent, parsed. */
  sent: Json[]
  /** What we have given up. */
  givenUp: [Id, string][]
  ask(method?: string, options?: Partial<RequestOptions>): Promise<Params>
}

function bench(options: Partial<EndpointHandler> = {}): Bench {
  const clock = fakeClock()
  const it: Omit<Bench, 'peer'> = {
    clock,
    started: [],
    notices: [],
    ignored: [],
    outlet: recordingOutlet(),
    sent: [],
    givenUp: [],
    receive: (message, outlet = it.outlet) =>
      peer.receive(read(typeof message === 'string' ? message : JSON.stringify(message), BOUNDS), outlet),
    ask: (method = 'x', own = {}) => {
      const id = peer.takeId()
      const reply = peer.request(id, method, requestJson(id, method, undefined), {
        write: (json) => void it.sent.push(JSON.parse(json)),
        timeoutMs: 1000,
        maxTotalMs: 10_000,
        onGiveUp: (given, reason) => void it.givenUp.push([given, reason]),
        ...own,
      })
      // A test looks at the outcome when it is ready for it.
      reply.catch(() => {})
      return reply
    },
  }
  const peer = new JsonRpcEndpoint({
    onRequest: (exchange) => void it.started.push(exchange),
    onNotification: (message) => void it.notices.push(message),
    onIgnored: (reason) => void it.ignored.push(reason),
    failure: (code, message, cause) => Object.assign(new Error(message, { cause }), { code }),
    acceptsBatch: () => false,
    unreadableId: () => null,
    deadlines: new Deadlines(clock),
    maxActive: 64,
    maxWaiting: 256,
    ...options,
  })
  return { ...it, peer }
}

const request = (id: unknown, method = 'x'): Json => ({ jsonrpc: '2.0', id, method })
const answer = (id: unknown, result: unknown = {}): Json => ({ jsonrpc: '2.0', id, result })

/** How a promise ended, or that it has not. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  const open = Symbol('open')
  await new Promise((resolve) => setImmediate(resolve))
  return Promise.race([promise, Promise.resolve(open)]).then(
    (value) => (value === open ? 'open' : value),
    (error: Error) => error,
  )
}

/** Two peers with text between them; each answers every request with its own name and the method. */
function conversation(): {
  ask(from: 'a' | 'b', method: string): Promise<Params>
  notify(from: 'a' | 'b', method: string): void
  heard: string[]
  wire: Json[]
} {
  const wire: Json[] = []
  const heard: string[] = []
  const make = (name: 'a' | 'b'): Bench =>
    bench({
      onRequest: (exchange) => exchange.answer({ by: name, method: exchange.method }),
      onNotification: ({ method }) => void heard.push(`${name} heard ${method}`),
    })
  const sides = { a: make('a'), b: make('b') }
  const deliver = (to: 'a' | 'b', json: string): undefined => {
    wire.push(JSON.parse(json))
    queueMicrotask(() => sides[to].peer.receive(read(json, BOUNDS), { push: back, answer: back, drop: () => {} }))
    const back = (reply: string): undefined => deliver(to === 'a' ? 'b' : 'a', reply)
  }
  const other = (from: 'a' | 'b'): 'a' | 'b' => (from === 'a' ? 'b' : 'a')
  return {
    wire,
    heard,
    ask: (from, method) => sides[from].ask(method, { write: (json) => deliver(other(from), json) }),
    notify: (from, method) => deliver(other(from), notificationJson(method, undefined)),
  }
}

describe('our requests', () => {
  test('our requests go both ways, and ids that coincide do not cross', async () => {
    proves('T-BASE-012', 'T-BASE-015')
    const { ask, wire } = conversation()
    const [one, two, three] = await Promise.all([ask('a', 'ping'), ask('b', 'ping'), ask('b', 'roots/list')])
    expect(one).toEqual({ by: 'b', method: 'ping' })
    expect(two).toEqual({ by: 'a', method: 'ping' })
    expect(three).toEqual({ by: 'a', method: 'roots/list' })
    expect(wire.filter(({ method }) => method === 'ping').map(({ id }) => id)).toEqual([1, 1])
  })

  test('our requests never reuse an id, answered or not', async () => {
    proves('T-BASE-015')
    const { ask, sent, receive, givenUp, clock } = bench()
    const all: Promise<unknown>[] = []
    for (let i = 0; i < 10_000; i++) {
      all.push(ask().catch(() => {}))
      if (i % 2 === 0) receive(answer(sent.at(-1)?.id))
    }
    await clock.advance(5000)
    await Promise.all(all)
    expect(givenUp).toHaveLength(5000)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(10_000)
    expect(sent.every(({ id }) => Number.isInteger(id))).toBe(true)
  })

  test('our requests are answered by the same id only, not by one that looks similar', async () => {
    proves('T-BASE-017')
    const { ask, receive, ignored } = bench()
    const reply = ask()
    const others = ['01', ' 1', '1.0', '+1', '1e0', '', 'one', '9007199254740993']
    for (const id of others) receive(answer(id, { wrong: 'id' }))
    expect(await outcome(reply)).toBe('open')
    expect(ignored).toEqual(others.map((id) => `an answer with id ${JSON.stringify(id)}, which belongs to no open request`))
    receive(answer(1, { right: true }))
    expect(await reply).toEqual({ right: true })
  })

  test('our requests are answered by their number as text, unless that text is an id itself', async () => {
    const { ask, receive, peer, ignored } = bench()
    const first = ask()
    receive(answer('1', { as: 'text' }))
    expect(await first).toEqual({ as: 'text' })
    const failed = ask()
    receive({ jsonrpc: '2.0', id: '2', error: { code: -32000, message: 'no' } })
    expect(await outcome(failed)).toMatchObject({ code: -32000 })
    const named = peer.request('3', 'x', '{}', { write: () => {}, timeoutMs: 1000, maxTotalMs: 1000 })
    const numberThree = ask()
    receive(answer('3', { for: 'the text' }))
    expect(await named).toEqual({ for: 'the text' })
    expect(await outcome(numberThree)).toBe('open')
    receive(answer('3', { for: 'the number' }))
    expect(await numberThree).toEqual({ for: 'the number' })
    expect(ignored).toEqual([])
  })

  test('our requests answered inside an array fail at once where the revision has no batches', async () => {
    const { ask, receive, outlet } = bench()
    const replies = [ask('tools/list'), ask('ping'), ask('x')]
    receive([
      answer(1, { tools: [] }),
      { jsonrpc: '2.0', id: 2, error: { code: -32000, message: 'no' } },
      { jsonrpc: '2.0', id: '3', result: 'text' },
    ])
    const reasons = await Promise.all(replies.map(outcome))
    expect(reasons).toEqual(
      ['tools/list', 'ping', 'x'].map((method) =>
        expect.objectContaining({
          code: 'ERR_ANSWER_INVALID',
          message: `The answer to ${method} cannot be used: Batches are not part of this protocol revision`,
        }),
      ),
    )
    expect(outlet).toMatchObject({ answers: [], dropped: 1 })
  })

  test('our requests fail when their answer shares an array with something else, and the rest is refused', async () => {
    const { ask, receive, outlet } = bench()
    const reply = ask()
    receive([answer(1), { jsonrpc: '2.0', id: 9, method: 'ping' }])
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    expect(outlet.answers).toMatchObject([{ error: { code: -32600 } }])
  })

  test('our requests fail at once when the answer is an object with only their id', async () => {
    const { ask, receive, outlet } = bench()
    const reply = ask('tools/list')
    receive({ jsonrpc: '2.0', id: 1 })
    expect(await outcome(reply)).toMatchObject({
      code: 'ERR_ANSWER_INVALID',
      message: 'The answer to tools/list cannot be used: A message needs "method", "result" or "error"',
    })
    expect(outlet.answers).toEqual([])
  })

  test('our requests all fail at once when one answer with two ids may be for each of them', async () => {
    const { ask, peer } = bench()
    const replies = [ask('a'), ask('b'), ask('c')]
    peer.receive(read('{"jsonrpc":"2.0","id":1,"result":{},"id":2}', BOUNDS), { push: () => undefined, answer: () => {}, drop: () => {} })
    const [a, b, c] = await Promise.all(replies.map(outcome))
    expect([a, b]).toMatchObject([{ code: 'ERR_ANSWER_INVALID' }, { code: 'ERR_ANSWER_INVALID' }])
    expect(c).toBe('open')
  })

  test('our requests get a result with every member it came with', async () => {
    proves('T-BASE-020')
    const { ask, receive } = bench()
    const reply = ask()
    const result = { known: 1, 'com.example/extra': { deep: [null, 'x'] }, _meta: {} }
    receive(answer(1, result))
    expect(await reply).toEqual(result)
  })

  test('our requests get an error with its code, message and data unchanged', async () => {
    proves('T-BASE-023')
    const { ask, receive } = bench()
    const reply = ask()
    const data = { any: ['json', null, { a: 1.5 }] }
    receive({ jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'no', data } })
    const error = (await outcome(reply)) as RemoteError
    expect(error).toBeInstanceOf(RemoteError)
    expect(error).toMatchObject({ code: -32002, message: 'no', data })
  })

  test.each([
    ['both a result and an error', { result: {}, error: { code: 1, message: 'no' } }],
    ['an error without a message', { error: { code: 1 } }],
    ['an error code that is no integer', { error: { code: 1.5, message: 'no' } }],
    ['a result that is no object', { result: 'done' }],
  ])('our requests fail at once when the answer has %s', async (_what, members) => {
    proves('T-BASE-018', 'T-BASE-019', 'T-BASE-021', 'T-BASE-022')
    const { ask, receive, outlet, givenUp } = bench()
    const reply = ask('tools/list')
    receive({ jsonrpc: '2.0', id: 1, ...members })
    expect(await outcome(reply)).toMatchObject({
      code: 'ERR_ANSWER_INVALID',
      message: expect.stringContaining('The answer to tools/list cannot be used: '),
    })
    expect(outlet.answers).toEqual([])
    expect(givenUp).toEqual([])
  })

  test('our requests fail when the answer is refused unparsed, and no error is sent back', async () => {
    const { ask, receive, outlet } = bench()
    const reply = ask()
    receive('{"jsonrpc":"2.0","id":1,"result":{"a":{"__proto__":{}}}}')
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    expect(outlet.answers).toEqual([])
  })

  test('our requests fail when they cannot be written, and leave nothing behind', async () => {
    const { ask, clock, givenUp } = bench()
    const failure = new Error('no pipe')
    const reply = ask('x', {
      write: () => {
        throw failure
      },
    })
    expect(await outcome(reply)).toBe(failure)
    await clock.advance(5000)
    expect(givenUp).toEqual([])
  })

  test('our requests end when the transport reports that no answer will come', async () => {
    const { ask, peer, receive, ignored } = bench()
    const reply = ask()
    const error = new Error('the stream ended')
    peer.abandon(1, error)
    peer.abandon(99, error)
    expect(await outcome(reply)).toBe(error)
    receive(answer(1))
    expect(ignored).toHaveLength(1)
  })

  test('our requests are settled once, and answers to unknown requests are ignored', async () => {
    proves('T-CANC-017')
    const { ask, receive, ignored } = bench()
    const reply = ask()
    receive(answer(1, { first: true }))
    receive(answer(1, { second: true }))
    receive({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } })
    receive(answer(12))
    receive({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'what?' } })
    expect(await reply).toEqual({ first: true })
    expect(ignored).toEqual([
      'an answer with id 1, which belongs to no open request',
      'an answer with id 1, which belongs to no open request: no',
      'an answer with id 12, which belongs to no open request',
      'an error without an id: what?',
    ])
  })
})

describe('notifications', () => {
  test('notifications go both ways and are never answered', async () => {
    proves('T-BASE-027', 'T-BASE-028', 'T-CANC-023')
    const { notify, heard, wire } = conversation()
    notify('a', 'notifications/one')
    notify('b', 'notifications/two')
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).toEqual(['b heard notifications/one', 'a heard notifications/two'])
    expect(wire).toEqual([
      { jsonrpc: '2.0', method: 'notifications/one' },
      { jsonrpc: '2.0', method: 'notifications/two' },
    ])
  })

  test('notifications whose handler throws are reported and never answered', () => {
    proves('T-BASE-028')
    const { receive, ignored, outlet } = bench({
      onNotification: () => {
        throw new Error('boom')
      },
    })
    receive({ jsonrpc: '2.0', method: 'notifications/x' })
    expect(ignored).toEqual(['the notification notifications/x could not be handled: Error: boom'])
    expect(outlet.answers).toEqual([])
  })
})

describe('the timeout of a request', () => {
  test('the timeout of a request fails it with a typed error and cancels it', async () => {
    proves('T-LIFE-031', 'T-LIFE-038')
    const { ask, clock, givenUp } = bench()
    const reply = ask('tools/call')
    await clock.advance(999)
    expect(await outcome(reply)).toBe('open')
    await clock.advance(1)
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT', message: 'No answer to tools/call within 1000 ms (timeoutMs)' })
    expect(givenUp).toEqual([[1, 'No answer to tools/call within 1000 ms (timeoutMs)']])
  })

  test('the timeout of a request can be set for each request', async () => {
    proves('T-LIFE-033')
    const { ask, clock } = bench()
    const short = ask('short', { timeoutMs: 10 })
    const long = ask('long', { timeoutMs: 5000 })
    await clock.advance(10)
    expect(await outcome(short)).toMatchObject({ code: 'ERR_TIMEOUT' })
    await clock.advance(4989)
    expect(await outcome(long)).toBe('open')
    await clock.advance(1)
    expect(await outcome(long)).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('the timeout of a request restarts with each progress notification', async () => {
    proves('T-LIFE-034')
    const { ask, peer, clock } = bench()
    const reply = ask()
    for (let i = 0; i < 5; i++) {
      await clock.advance(900)
      expect(peer.touch(1)).toBe(true)
    }
    expect(await outcome(reply)).toBe('open')
    await clock.advance(999)
    expect(await outcome(reply)).toBe('open')
    await clock.advance(1)
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('the timeout of a request restarts at most once a second', async () => {
    const { ask, peer, clock } = bench()
    const reply = ask('x', { timeoutMs: 3000 })
    await clock.advance(2000)
    peer.touch(1)
    await clock.advance(999)
    peer.touch(1)
    await clock.advance(2000)
    expect(await outcome(reply)).toBe('open')
    await clock.advance(1)
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('progress never extends the timeout of a request beyond its maximum', async () => {
    proves('T-LIFE-035')
    const { ask, peer, clock, givenUp } = bench()
    const reply = ask('x', { timeoutMs: 1000, maxTotalMs: 4500 })
    for (let ms = 500; ms < 4500; ms += 500) {
      await clock.advance(500)
      peer.touch(1)
    }
    expect(await outcome(reply)).toBe('open')
    await clock.advance(500)
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT', message: 'No answer to x within 4500 ms in all (maxTotalMs)' })
    expect(givenUp).toHaveLength(1)
    expect(peer.touch(1)).toBe(false)
  })

  test('the timeout of a request is its maximum if the maximum is shorter', async () => {
    const { ask, clock } = bench()
    const reply = ask('x', { timeoutMs: 1000, maxTotalMs: 100 })
    await clock.advance(100)
    expect(await outcome(reply)).toMatchObject({ message: 'No answer to x within 100 ms in all (maxTotalMs)' })
  })

  test('the timeout of a request ends with the answer, and nothing is cancelled after it', async () => {
    proves('T-CANC-006', 'T-CANC-015')
    const { ask, receive, clock, givenUp } = bench()
    const controller = new AbortController()
    const reply = ask('x', { signal: controller.signal })
    receive(answer(1))
    controller.abort()
    await clock.advance(20_000)
    expect(await reply).toEqual({})
    expect(givenUp).toEqual([])
  })

  test('an answer after the timeout of a request is ignored', async () => {
    proves('T-CANC-014')
    const { ask, receive, clock, ignored } = bench()
    const reply = ask()
    await clock.advance(1000)
    receive(answer(1, { late: true }))
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(ignored).toEqual(['an answer with id 1, which belongs to no open request'])
  })

  test('the timeout of a request fires even when the cancellation cannot be sent', async () => {
    const { ask, clock, ignored } = bench()
    const reply = ask('x', {
      onGiveUp: () => {
        throw new Error('no pipe')
      },
    })
    const other = ask('y')
    await clock.advance(1000)
    expect(await outcome(reply)).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(await outcome(other)).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(ignored).toEqual(['The cancellation of x could not be sent: Error: no pipe'])
  })
})

describe('a caller that cancels its own request', () => {
  test('a caller that cancels its own request gets its reason back, and the peer gets the id', async () => {
    proves('T-CANC-001', 'T-CANC-002')
    const { ask, givenUp, sent } = bench()
    const controller = new AbortController()
    const reply = ask('x', { signal: controller.signal })
    const reason = new Error('changed my mind')
    controller.abort(reason)
    expect(await outcome(reply)).toBe(reason)
    expect(givenUp).toEqual([[sent[0]?.id, 'The caller cancelled the request']])
  })

  test('a caller that cancelled before sending sends nothing', async () => {
    const { ask, sent, givenUp } = bench()
    const reason = new Error('never mind')
    expect(await outcome(ask('x', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(sent).toEqual([])
    expect(givenUp).toEqual([])
  })

  test('a caller that cancels after the end of its request changes nothing', async () => {
    const { ask, receive, givenUp } = bench()
    const controller = new AbortController()
    const replies = Array.from({ length: 20 }, () => ask('x', { signal: controller.signal }))
    for (let id = 1; id <= 20; id++) receive(answer(id))
    await Promise.all(replies)
    controller.abort()
    expect(givenUp).toEqual([])
  })
})

describe('incoming requests', () => {
  test('incoming requests are answered on the outlet that each came with', () => {
    const { receive, started } = bench()
    const [one, two] = [recordingOutlet(), recordingOutlet()]
    receive(request(1), one)
    receive(request(2), two)
    started[1]?.answer({})
    started[0]?.answer({})
    expect(one.answers).toEqual([answer(1)])
    expect(two.answers).toEqual([answer(2)])
  })

  test('incoming requests whose handler throws are answered -32603 without details', () => {
    proves('T-BASE-034')
    const { receive, outlet, peer } = bench({
      onRequest: () => {
        throw new Error('the database password is hunter2')
      },
    })
    receive(request('q'))
    expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id: 'q', error: { code: -32603, message: 'Internal error' } }])
    expect(peer.load).toBe(0)
  })

  test.each([
    [null, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The message is not valid JSON' } }],
    [undefined, { jsonrpc: '2.0', error: { code: -32700, message: 'The message is not valid JSON' } }],
  ])('incoming requests whose id cannot be read are answered with %s for it, as the revision says', (unreadable, expected) => {
    const { receive, outlet } = bench({ unreadableId: () => unreadable })
    receive('{')
    expect(outlet.answers).toEqual([expected])
    expect(outlet.codes).toEqual([-32700])
  })

  test('incoming requests with an id in use are refused, and the first is still answered', () => {
    proves('R-BASE-034')
    const { receive, outlet, started, peer } = bench()
    receive(request(7, 'first'))
    receive(request(7, 'second'))
    receive(request('7', 'another'))
    expect(started.map(({ method }) => method)).toEqual(['first', 'another'])
    expect(outlet.answers).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32600, message: 'A request with id 7 is already in progress' } },
    ])
    started[0]?.answer({ by: 'first' })
    started[1]?.answer({ by: 'another' })
    expect(outlet.answers.slice(1)).toEqual([answer(7, { by: 'first' }), answer('7', { by: 'another' })])
    expect(peer.load).toBe(0)
  })

  test('incoming requests may reuse a free id, and a late answer of the first does not reach the second', () => {
    proves('R-BASE-034')
    const { receive, outlet, started, peer } = bench()
    receive(request(7, 'first'))
    peer.cancel(7, 'enough')
    receive(request(7, 'second'))
    started[0]?.answer({ by: 'first' })
    expect(outlet.answers).toEqual([])
    expect(peer.load).toBe(1)
    started[1]?.answer({ by: 'second' })
    expect(outlet.answers).toEqual([answer(7, { by: 'second' })])
  })

  test('each incoming request gets exactly one answer, even if ids repeat', () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant('request' as const), id: fc.nat(4) }),
      fc.record({ act: fc.constant('answer' as const), id: fc.nat(50) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), fc.nat(4), (steps, maxActive, maxWaiting) => {
        const { receive, started } = bench({ maxActive, maxWaiting })
        const outlets: [number, RecordingOutlet][] = []
        for (const { act, id } of steps) {
          if (act === 'answer') started[id % Math.max(1, started.length)]?.answer({})
          else {
            const outlet = recordingOutlet()
            outlets.push([id, outlet])
            receive(request(id), outlet)
          }
        }
        for (let i = 0; i < started.length; i++) started[i]?.answer({})
        for (const [id, { answers }] of outlets) {
          expect(answers).toHaveLength(1)
          expect(answers[0]?.id).toBe(id)
        }
      }),
    )
  })
})

describe('a cancellation by the peer', () => {
  test('a cancellation by the peer aborts the handler with the reason, and nothing is answered', () => {
    proves('T-CANC-003', 'T-CANC-008', 'T-CANC-010')
    const { receive, started, peer, outlet } = bench()
    receive(request(7))
    const reason = new Error('the person closed the window')
    expect(peer.cancel(7, reason)).toBe(true)
    expect(started[0]?.signal.reason).toBe(reason)
    started[0]?.answer({})
    expect(outlet).toMatchObject({ answers: [], dropped: 1 })
  })

  test('a cancellation by the peer frees the slot of the request', () => {
    proves('T-CANC-009')
    const { receive, started, peer } = bench({ maxActive: 1 })
    receive(request(1))
    receive(request(2))
    peer.cancel(1, 'enough')
    expect(started.map(({ id }) => id)).toEqual([1, 2])
    expect(peer.load).toBe(1)
    peer.cancel(2, 'enough')
    expect(peer.load).toBe(0)
  })

  test('a cancellation by the peer keeps a queued request from starting', () => {
    proves('T-CANC-008', 'T-CANC-009')
    const { receive, started, peer, outlet } = bench({ maxActive: 1 })
    receive(request(1))
    receive(request(2))
    receive(request(3))
    peer.cancel(2, 'enough')
    started[0]?.answer({})
    expect(started.map(({ id }) => id)).toEqual([1, 3])
    expect(outlet.answers).toEqual([answer(1)])
  })

  test('a cancellation by the peer of an unknown or finished request does nothing', () => {
    proves('T-CANC-011', 'T-CANC-012', 'T-CANC-016', 'T-CANC-020', 'T-CANC-021')
    const { receive, started, peer, outlet } = bench()
    receive(request(7))
    expect(peer.cancel(99, 'who?')).toBe(false)
    expect(peer.cancel('7', 'not the same id')).toBe(false)
    started[0]?.answer({})
    expect(peer.cancel(7, 'too late')).toBe(false)
    expect(outlet).toMatchObject({ answers: [answer(7)], dropped: 0 })
  })

  test('a cancellation by the peer never cancels one of our own requests with the same id', async () => {
    proves('T-CANC-005')
    const { ask, peer, receive, givenUp } = bench()
    const reply = ask()
    expect(peer.cancel(1, 'mine now')).toBe(false)
    expect(givenUp).toEqual([])
    receive(answer(1, { fine: true }))
    expect(await reply).toEqual({ fine: true })
  })
})

describe('the queue of incoming requests', () => {
  const REFUSED = {
    code: -32603,
    message: 'Too many requests in progress',
    data: { reason: 'too-many-requests', limit: 'maxWaiting', max: 2 },
  }

  test.each([
    [4, []],
    [5, []],
    [6, [{ jsonrpc: '2.0', id: 6, error: REFUSED }]],
  ])('with 3 running and 2 queued at most, %i requests give the refusals %j', (count, refusals) => {
    const { receive, started, outlet, peer } = bench({ maxActive: 3, maxWaiting: 2 })
    for (let id = 1; id <= count; id++) receive(request(id))
    expect(started.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(outlet.answers).toEqual(refusals)
    expect(peer.load).toBe(Math.min(count, 5))
  })

  test('queued requests are started in order as others end', () => {
    const { receive, started, outlet } = bench({ maxActive: 1, maxWaiting: 5 })
    for (let id = 1; id <= 4; id++) receive(request(id))
    for (let i = 0; i < 4; i++) started[i]?.answer({})
    expect(outlet.answers.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  })

  test('any number of queued requests that are answered at once are handled in a loop, not recursively', () => {
    const held: Exchange[] = []
    let depth = 0
    let deepest = 0
    const { receive, outlet } = bench({
      maxActive: 1,
      maxWaiting: 10_000,
      onRequest: (exchange) => {
        if (exchange.id === 0) return void held.push(exchange)
        deepest = Math.max(deepest, ++depth)
        exchange.answer({})
        depth--
      },
    })
    for (let id = 0; id <= 10_000; id++) receive(request(id))
    expect(outlet.answers).toEqual([])
    held[0]?.answer({})
    expect(outlet.answers).toHaveLength(10_001)
    expect(deepest).toBe(1)
  })

  test('a transport pauses when half of the queue is full, and resumes later', () => {
    const { receive, started, peer } = bench({ maxActive: 1, maxWaiting: 4 })
    let relieved = 0
    peer.onRelief = () => relieved++
    receive(request(1))
    receive(request(2))
    expect(peer.isSaturated).toBe(false)
    receive(request(3))
    expect(peer.isSaturated).toBe(true)
    started[0]?.answer({})
    expect(peer.isSaturated).toBe(false)
    expect(relieved).toBe(1)
  })

  test('a cancellation also lets the transport resume', () => {
    const { receive, peer } = bench({ maxActive: 1, maxWaiting: 4 })
    let relieved = 0
    peer.onRelief = () => relieved++
    for (let id = 1; id <= 3; id++) receive(request(id))
    peer.cancel(3, 'enough')
    expect(peer.isSaturated).toBe(false)
    expect(relieved).toBe(1)
  })

  test('without a queue the transport never has to pause', () => {
    const { receive, peer, outlet } = bench({ maxActive: 1, maxWaiting: 0 })
    expect(peer.isSaturated).toBe(false)
    receive(request(1))
    receive(request(2))
    expect(peer.isSaturated).toBe(false)
    expect(outlet.codes).toEqual([-32603])
  })

  test('reading continues while we wait for an answer, which may be behind other requests', async () => {
    const { receive, peer, ask } = bench({ maxActive: 1, maxWaiting: 2 })
    let relieved = 0
    peer.onRelief = () => relieved++
    for (let id = 1; id <= 3; id++) receive(request(id))
    expect(peer.isSaturated).toBe(true)
    const reply = ask('elicitation/create')
    expect(peer.isSaturated).toBe(false)
    expect(relieved).toBe(1)
    receive(answer(1))
    await reply
    expect(peer.isSaturated).toBe(true)
  })
})

describe('the end of a conversation', () => {
  test('the end of a conversation sends nothing, rejects our requests and aborts theirs', async () => {
    proves('T-LIFE-029')
    const { receive, ask, started, peer, outlet, sent, givenUp, clock } = bench({ maxActive: 1 })
    const replies = [ask(), ask()]
    receive(request(1))
    receive(request(2))
    const signal = started[0]?.signal
    const error = new Error('the pipe broke')
    peer.close(error)
    expect(await Promise.all(replies.map(outcome))).toEqual([error, error])
    expect(signal?.reason).toBe(error)
    expect(started).toHaveLength(1)
    expect(outlet).toMatchObject({ answers: [], pushed: [], dropped: 2 })
    expect(sent).toHaveLength(2)
    await clock.advance(20_000)
    expect(givenUp).toEqual([])
    expect(peer.isClosed).toBe(true)
  })

  test('the end of a conversation is final: nothing more is sent, and incoming requests are refused', async () => {
    const { receive, ask, peer, outlet, sent } = bench()
    const cause = new Error('the pipe broke')
    peer.close(cause)
    peer.close(new Error('again'))
    expect(await outcome(ask('tools/list'))).toMatchObject({ code: 'ERR_CLOSED', message: 'Cannot send tools/list: the pipe broke', cause })
    receive(request(7))
    expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'The connection is closing' } }])
    expect(sent).toEqual([])
  })

  test('the end of a conversation can wait for the last running request', async () => {
    const { receive, started, peer, outlet } = bench({ maxActive: 1 })
    receive(request(1))
    receive(request(2))
    const drained = peer.drain()
    receive(request(3))
    expect(outlet.answers).toEqual([{ jsonrpc: '2.0', id: 3, error: { code: -32603, message: 'The connection is closing' } }])
    started[0]?.answer({})
    expect(await outcome(drained)).toBe('open')
    started[1]?.answer({})
    expect(await outcome(drained)).toBeUndefined()
    expect(outlet.answers.slice(1)).toEqual([answer(1), answer(2)])
  })

  test('the end of a conversation does not wait when no request is running', async () => {
    expect(await outcome(bench().peer.drain())).toBeUndefined()
  })

  test('the end of a conversation stops waiting when the conversation is closed', async () => {
    const { receive, peer } = bench()
    receive(request(1))
    const drained = peer.drain()
    peer.close(new Error('now'))
    expect(await outcome(drained)).toBeUndefined()
    expect([...peer.exchanges()]).toEqual([])
  })
})

describe('a batch', () => {
  const accepting = (): Bench => bench({ acceptsBatch: () => true })

  test('a batch is refused as a whole in revisions without batches', () => {
    proves('T-BASE-036')
    const { receive, outlet, started, notices } = bench()
    receive([request(1), request(2), { jsonrpc: '2.0', method: 'x' }])
    expect(outlet.answers).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Batches are not part of this protocol revision' } },
    ])
    expect(started).toEqual([])
    expect(notices).toEqual([])
  })

  test('a batch is answered by one array after the last answer', () => {
    const { receive, outlet, started, notices } = accepting()
    receive([request(1), { jsonrpc: '2.0', method: 'x' }, request('two'), { jsonrpc: '2.0', id: 3 }])
    expect(notices).toHaveLength(1)
    started[1]?.answer({})
    expect(outlet.answers).toEqual([])
    started[0]?.answer({})
    expect(outlet.answers).toHaveLength(1)
    expect(outlet.answers[0]).toMatchObject([
      { id: 3, error: { code: -32600 } },
      { id: 'two', result: {} },
      { id: 1, result: {} },
    ])
  })

  test('a batch of notifications gets no answer', async () => {
    const { receive, outlet, ask } = accepting()
    const reply = ask()
    receive([{ jsonrpc: '2.0', method: 'x' }, answer(1, { in: 'a batch' }), { jsonrpc: '2.0', method: 'x', params: 5 }])
    expect(await reply).toEqual({ in: 'a batch' })
    expect(outlet).toMatchObject({ answers: [], pushed: [], dropped: 0 })
  })

  test('a batch with the same id twice answers both', () => {
    const { receive, outlet, started } = accepting()
    receive([request(1), request(1)])
    started[0]?.answer({})
    expect(outlet.answers[0]).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 1, result: {} },
    ])
  })

  test('a batch leaves out cancelled requests, and sends nothing when none is left', () => {
    const { receive, outlet, started, peer } = accepting()
    receive([request(1), request(2)])
    peer.cancel(1, 'enough')
    started[1]?.answer({})
    expect(outlet.answers).toEqual([[answer(2)]])
    receive([request(3)])
    peer.cancel(3, 'enough')
    expect(outlet.answers).toHaveLength(1)
    expect(outlet.dropped).toBe(1)
  })
})
