import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HttpRequest, ResponseHandler, Sending } from '../../../src/http/client/http-request.ts'
import { LegacySseStream } from '../../../src/http/client/legacy-sse.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS } from '../../../src/http/client/options.ts'
import { ReopenedStream, type StreamOptions } from '../../../src/http/client/reopened-stream.ts'
import { McpError } from '../../../src/protocol/errors.ts'

/** Requests as they are sent, with a hand on what comes back. */
function wire() {
  const sent: { request: HttpRequest; reply: ResponseHandler; aborted: number }[] = []
  const send = (request: HttpRequest, reply: ResponseHandler): Sending => {
    const entry = { request, reply, aborted: 0 }
    sent.push(entry)
    return { abort: () => void entry.aborted++ }
  }
  const last = (): (typeof sent)[number] => sent.at(-1) as (typeof sent)[number]
  return {
    sent,
    send,
    last,
    begin: () => last().reply.onHead(200, { 'content-type': 'text/event-stream' }),
    say: (text: string) => last().reply.onData(Buffer.from(text)),
    end: () => last().reply.onEnd(),
  }
}

const url = new URL('http://localhost/mcp')
const shared = { server: 'the server', url, limits: DEFAULT_HTTP_CLIENT_LIMITS }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // The longest of the waits that chance makes different.
  vi.spyOn(Math, 'random').mockReturnValue(1)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
})

describe('a stream that is reopened', () => {
  function opened(options: Partial<StreamOptions> = {}, lastEventId?: string, limits = DEFAULT_HTTP_CLIENT_LIMITS) {
    const net = wire()
    const heard = { onEvent: vi.fn(), onOver: vi.fn(), onSettled: vi.fn() }
    const headers = vi.fn((id: string | undefined) => (id === undefined ? [] : ['last-event-id', id]))
    const stream = new ReopenedStream(
      { ...shared, limits, send: net.send },
      { headers, maxFruitless: 2, ...heard, ...options },
      lastEventId,
    )
    stream.open()
    return { ...net, ...heard, stream }
  }
  /** Longer than any wait. */
  const pass = (): unknown => vi.advanceTimersByTime(60_000)

  test('a stream is reopened after the last event, at the time the server names', () => {
    const { begin, say, end, sent, last, onEvent } = opened()
    begin()
    say('id: 7\nretry: 5000\ndata: one\n\n')
    end()
    vi.advanceTimersByTime(4_999)
    expect(sent).toHaveLength(1)
    vi.advanceTimersByTime(1_000)
    expect([sent.length, last().request.headers]).toEqual([2, ['last-event-id', '7']])
    expect(onEvent.mock.calls).toEqual([['message', 'one']])
  })

  test('a stream that was cancelled delivers nothing more, and is not reopened', () => {
    const heard: string[] = []
    const again = opened({
      onEvent: (_name, data) => {
        heard.push(data)
        again.stream.abort()
      },
    })
    again.begin()
    again.say('data: one\n\ndata: two\n\n')
    again.say('data: three\n\n')
    again.end()
    pass()
    expect([heard, again.sent.length, again.last().aborted, again.onOver.mock.calls.length]).toEqual([['one'], 1, 1, 0])
  })

  test('a stream that is cancelled while it waits is not reopened, and leaves no timer', () => {
    const { begin, end, stream, sent } = opened()
    begin()
    end()
    expect(vi.getTimerCount()).toBe(1)
    stream.abort()
    expect(vi.getTimerCount()).toBe(0)
    pass()
    expect(sent).toHaveLength(1)
  })

  test('a stream ends after the maximum of failed attempts, and says why', () => {
    const { last, sent, onOver } = opened()
    for (let i = 1; i <= 3; i++) {
      expect([sent.length, onOver.mock.calls.length]).toEqual([i, 0])
      last().reply.onFail(new McpError('ERR_NETWORK', 'reset'))
      pass()
    }
    expect([sent.length, onOver.mock.calls.length]).toEqual([3, 1])
    expect(onOver.mock.calls[0]).toEqual([
      expect.objectContaining({ code: 'ERR_CLOSED', message: expect.stringMatching(/reset; .* 2 attempts$/) }),
      undefined,
    ])
  })

  test('a stream resets its count of attempts after one that delivered something', () => {
    const { begin, say, end, sent, onOver } = opened()
    for (let i = 0; i < 10; i++) {
      begin()
      if (i % 3 === 2) say('id: 1\n\n')
      else say(': nothing but a comment\n\n')
      end()
      pass()
    }
    expect([sent.length, onOver.mock.calls.length]).toEqual([11, 0])
  })

  test.each([
    [408, true],
    [409, true],
    [425, true],
    [429, true],
    [499, false],
    [500, true],
    [503, true],
    [400, false],
    [404, false],
  ])('a stream that is refused with %i is tried again: %s', (status, isTried) => {
    const { last, sent, onOver, onSettled } = opened()
    const first = last()
    first.reply.onHead(status, {})
    expect([first.aborted > 0, onSettled.mock.calls.length]).toEqual([true, 1])
    pass()
    expect(sent).toHaveLength(isTried ? 2 : 1)
    if (!isTried) expect(onOver.mock.calls).toEqual([[expect.objectContaining({ code: 'ERR_HTTP', data: { status } }), status]])
  })

  test('a stream waits once for as long as a refusal asks', () => {
    const { last, sent } = opened()
    last().reply.onHead(503, { 'retry-after': '20' })
    vi.advanceTimersByTime(19_999)
    expect(sent).toHaveLength(1)
    vi.advanceTimersByTime(3_000)
    expect(sent).toHaveLength(2)
    last().reply.onHead(503, {})
    vi.advanceTimersByTime(3_000)
    expect(sent).toHaveLength(3)
  })

  test('a stream waits longer after each failed attempt, up to about half a minute', () => {
    const { last, sent } = opened({ maxFruitless: 20 })
    const waits: number[] = []
    for (let i = 0; i < 12; i++) {
      last().reply.onHead(500, {})
      const before = sent.length
      let waited = 0
      for (; sent.length === before; waited += 100) vi.advanceTimersByTime(100)
      waits.push(waited)
    }
    expect(waits.slice(0, 3)).toEqual([500, 900, 1800])
    expect(waits.slice(-2)).toEqual([33_000, 33_000])
  })

  test.each([
    [400, true],
    [404, false],
  ])('a stream whose last event is refused with %i restarts where a gap is allowed: %s', (status, isAnew) => {
    const onGap = vi.fn()
    const { last, sent } = opened({ onGap }, '7')
    expect(last().request.headers).toEqual(['last-event-id', '7'])
    last().reply.onHead(status, {})
    pass()
    expect([onGap.mock.calls.length, sent.length]).toEqual(isAnew ? [1, 2] : [0, 1])
    if (isAnew) expect(last().request.headers).toEqual([])
  })

  test('a stream with an event that is too long ends, and so does its connection', () => {
    const { begin, say, last, onOver } = opened({}, undefined, { ...DEFAULT_HTTP_CLIENT_LIMITS, maxBodyBytes: 10 })
    begin()
    say(`data: ${'x'.repeat(30)}\n\n`)
    pass()
    expect([last().aborted, onOver.mock.calls.length]).toEqual([1, 1])
    expect(onOver.mock.calls[0]?.[0]).toMatchObject({ code: 'ERR_LIMIT' })
  })

  test.each([
    ['ERR_NETWORK', 2],
    ['ERR_TIMEOUT', 2],
    ['ERR_AUTH', 1],
  ] as const)('a stream that fails with %s is opened %i times', (code, times) => {
    const { last, sent, onOver } = opened()
    last().reply.onFail(new McpError(code as never, 'failed'))
    pass()
    expect([sent.length, onOver.mock.calls.length]).toEqual([times, times === 1 ? 1 : 0])
  })
})

describe('the stream of 2024-11-05', () => {
  function opened() {
    const net = wire()
    const heard = { onReady: vi.fn(), onRefused: vi.fn(), onMessage: vi.fn(), onEnd: vi.fn() }
    const stream = new LegacySseStream({ ...shared, send: net.send }, heard)
    return { ...net, ...heard, stream }
  }
  const ENDPOINT = 'event: endpoint\ndata: /messages\n\n'

  test('the stream of 2024-11-05 names the endpoint once, and then delivers only messages', () => {
    const { begin, say, onReady, onMessage, onEnd, onRefused } = opened()
    begin()
    say(ENDPOINT)
    say('data: {"a":1}\n\nevent: other\ndata: x\n\nevent: endpoint\ndata: /elsewhere\n\n')
    expect([onReady.mock.calls.map(String), onMessage.mock.calls]).toEqual([['http://localhost/messages'], [['{"a":1}']]])
    expect([onEnd.mock.calls, onRefused.mock.calls]).toEqual([[], []])
  })

  test.each([
    ['ends', (net: ReturnType<typeof opened>) => net.end(), 'ended its stream'],
    ['fails', (net: ReturnType<typeof opened>) => net.last().reply.onFail(new McpError('ERR_NETWORK', 'reset')), 'reset'],
  ])('a stream of 2024-11-05 that %s after it was ready ends the connection, reported once', (_how, act, words) => {
    const net = opened()
    net.begin()
    net.say(ENDPOINT)
    act(net)
    net.end()
    net.say('data: late\n\n')
    expect(net.onEnd.mock.calls).toEqual([[expect.objectContaining({ message: expect.stringContaining(words) })]])
    expect([net.onRefused.mock.calls, net.onMessage.mock.calls, net.last().aborted]).toEqual([[], [], 1])
  })

  test.each([
    ['ends at once', (net: ReturnType<typeof opened>) => net.end(), 'the stream is empty'],
    ['begins with a message', (net: ReturnType<typeof opened>) => net.say('data: {}\n\ndata: {}\n\n'), 'the first event is "message"'],
    ['names no URL', (net: ReturnType<typeof opened>) => net.say('event: endpoint\ndata: http://\n\n'), 'its endpoint is not a valid URL'],
  ])('a stream of 2024-11-05 that %s is refused once, and its connection closed', (_how, act, words) => {
    const net = opened()
    net.begin()
    act(net)
    net.end()
    expect(net.onRefused.mock.calls).toEqual([
      [expect.objectContaining({ code: 'ERR_NO_ENDPOINT', message: expect.stringContaining(words) })],
    ])
    expect([net.onEnd.mock.calls, net.onReady.mock.calls, net.last().aborted]).toEqual([[], [], 1])
  })

  test.each([
    [404, 'text/event-stream'],
    [200, 'text/html'],
  ])('a stream of 2024-11-05 that is answered with %i and %s is refused', (status, type) => {
    const net = opened()
    net.last().reply.onHead(status, { 'content-type': type })
    expect(net.onRefused.mock.calls).toEqual([[expect.objectContaining({ code: 'ERR_NO_ENDPOINT' })]])
  })

  test('a stream of 2024-11-05 that was cancelled delivers nothing more', () => {
    const net = opened()
    net.begin()
    net.say(ENDPOINT)
    net.stream.abort()
    net.say('data: late\n\n')
    net.end()
    expect([net.onMessage.mock.calls, net.onEnd.mock.calls, net.last().aborted]).toEqual([[], [], 1])
  })
})
