import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HttpRequest, ResponseHandler, Sending } from '../../../src/http/client/http-request.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS } from '../../../src/http/client/options.ts'
import { RemoteSession } from '../../../src/http/client/session.ts'
import { McpError } from '../../../src/protocol/errors.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** A session of a client, with a hand on what comes back. */
function session(id: string | null = 's1') {
  const sent: { request: HttpRequest; reply: ResponseHandler; aborted: number }[] = []
  const heard = { onMessage: vi.fn(), onForgotten: vi.fn(), onMissed: vi.fn(), onWarning: vi.fn() }
  const send = (request: HttpRequest, reply: ResponseHandler): Sending => {
    const entry = { request, reply, aborted: 0 }
    sent.push(entry)
    return { abort: () => void entry.aborted++ }
  }
  const connection = { server: 'the server', url: new URL('http://localhost/mcp'), limits: DEFAULT_HTTP_CLIENT_LIMITS, send }
  const it = new RemoteSession(connection, heard)
  if (id !== null) it.take({ 'mcp-session-id': id })
  return { it, sent, last: () => sent.at(-1) as (typeof sent)[number], ...heard }
}

const EVENTS = { 'content-type': 'text/event-stream' }

function watched(promise: Promise<unknown>): { isOver: boolean } {
  const state = { isOver: false }
  void promise.then(() => {
    state.isOver = true
  })
  return state
}

describe('the end of a session', () => {
  test.each([
    ['is answered', (reply: ResponseHandler) => reply.onHead(200, {})],
    ['is refused', (reply: ResponseHandler) => reply.onHead(405, {})],
    ['fails', (reply: ResponseHandler) => reply.onFail(new McpError('ERR_NETWORK', 'reset'))],
  ])('the end of a session sends DELETE, waits until it %s, and leaves no timer', async (_how, act) => {
    const { it, last } = session()
    const ending = watched(it.end())
    await vi.advanceTimersByTimeAsync(1_999)
    expect([last().request.method, ending.isOver]).toEqual(['DELETE', false])
    act(last().reply)
    await vi.advanceTimersByTimeAsync(0)
    expect([ending.isOver, vi.getTimerCount()]).toEqual([true, 0])
  })

  test('the end of a session waits two seconds for a server that does not answer', async () => {
    const { it } = session()
    const ending = watched(it.end())
    await vi.advanceTimersByTimeAsync(1_999)
    expect(ending.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(ending.isOver).toBe(true)
  })

  test('the end of a session sends nothing without an id, or when the server has forgotten it', async () => {
    const nameless = session(null)
    await nameless.it.end()
    const forgotten = session()
    forgotten.it.forget()
    await forgotten.it.end()
    expect([nameless.sent, forgotten.sent, forgotten.onForgotten.mock.calls.length]).toEqual([[], [], 1])
  })

  test('the end of a session ends its stream, and drops queued messages', async () => {
    const { it, sent } = session()
    const run = vi.fn()
    it.hold()
    it.whenReady(run)
    it.begin()
    const stream = sent[0]
    const ending = watched(it.end())
    sent[1]?.reply.onHead(200, {})
    await vi.advanceTimersByTimeAsync(60_000)
    expect([stream?.aborted, run.mock.calls.length, ending.isOver, sent.length]).toEqual([1, 0, true, 2])
  })
})

describe('what is held back during the handshake', () => {
  test.each([
    ['the stream is open', (reply: ResponseHandler) => reply.onHead(200, EVENTS)],
    ['there is no stream', (reply: ResponseHandler) => reply.onHead(405, {})],
    ['the stream fails', (reply: ResponseHandler) => reply.onFail(new McpError('ERR_NETWORK', 'reset'))],
  ])('messages queued during the handshake are sent, in order, as soon as %s', (_when, act) => {
    const { it, last } = session()
    const log: number[] = []
    it.whenReady(() => log.push(1))
    it.hold()
    it.hold()
    it.whenReady(() => log.push(2))
    it.whenReady(() => log.push(3))
    it.begin()
    expect(log).toEqual([1])
    act(last().reply)
    expect(log).toEqual([1, 2, 3])
    it.whenReady(() => log.push(4))
    expect(log).toEqual([1, 2, 3, 4])
  })

  test('messages queued during the handshake wait half a second for the stream', () => {
    const { it } = session()
    const run = vi.fn()
    it.hold()
    it.whenReady(run)
    it.begin()
    vi.advanceTimersByTime(499)
    expect(run).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(run).toHaveBeenCalledOnce()
  })
})

describe('the GET stream', () => {
  test('the GET stream delivers messages and nothing else', () => {
    const { it, last, onMessage } = session()
    it.begin()
    last().reply.onHead(200, EVENTS)
    last().reply.onData(Buffer.from('data: {"a":1}\n\nevent: other\ndata: x\n\n'))
    expect(onMessage.mock.calls).toEqual([['{"a":1}']])
  })

  test.each([400, 404, 405])('the GET stream that is answered with %i does not exist, without a warning', (status) => {
    const { it, last, onWarning, onForgotten } = session()
    it.begin()
    last().reply.onHead(status, {})
    expect([onWarning.mock.calls, onForgotten.mock.calls]).toEqual([[], []])
  })

  test('the GET stream that is answered with 403 causes a warning', () => {
    const { it, last, onWarning } = session()
    it.begin()
    last().reply.onHead(403, {})
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('are no longer received')]])
  })

  test('a GET stream that is not found again means that the session is forgotten, if it had an id', () => {
    for (const id of ['s1', null]) {
      const { it, last, onForgotten, onWarning } = session(id)
      it.begin()
      last().reply.onHead(200, EVENTS)
      last().reply.onEnd()
      vi.advanceTimersByTime(60_000)
      last().reply.onHead(404, {})
      expect([onForgotten.mock.calls.length, onWarning.mock.calls.length]).toEqual(id === null ? [0, 1] : [1, 0])
    }
  })
})

test.each([
  ['x', true],
  ['x'.repeat(4096), true],
  ['x'.repeat(4097), false],
  ['with space', false],
  ['', false],
])('a session id is 1 to 4,096 visible characters (case %#)', (id, isTaken) => {
  const { it } = session(null)
  const fault = it.take({ 'mcp-session-id': id })
  expect([fault === undefined, it.hasId]).toEqual([isTaken, isTaken])
})

test('messages count as missed only when the stream opens late or its last events are gone', async () => {
  const { it, last, onMissed } = session()
  it.hold()
  it.begin()
  last().reply.onHead(200, EVENTS)
  last().reply.onData(new TextEncoder().encode('id: e1\ndata:\n\n'))
  last().reply.onEnd()
  await vi.advanceTimersByTimeAsync(60_000)
  last().reply.onHead(200, EVENTS)
  expect(onMissed.mock.calls.length).toBe(0)
  last().reply.onEnd()
  await vi.advanceTimersByTimeAsync(60_000)
  last().reply.onHead(400, {})
  expect(onMissed.mock.calls.length).toBe(1)

  const late = session()
  late.it.hold()
  late.it.begin()
  await vi.advanceTimersByTimeAsync(500)
  late.last().reply.onHead(200, EVENTS)
  expect(late.onMissed.mock.calls.length).toBe(1)
})
