import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NodeRequestReply } from '../../../src/http/server/runtime/node.ts'
import type { BodyFault } from '../../../src/http/server/runtime/request-reply.ts'
import { portOf } from '../../support/http-requests.ts'

interface Visited {
  visit: NodeRequestReply
  request: IncomingMessage
  response: ServerResponse
  socket: Socket
  /** All that came back so far. */
  text(): string
  closed: Promise<unknown>
}

/** A request with this head and the beginning of its body, and the visit that is made of it. */
async function visited(head: string, body = ''): Promise<Visited> {
  const server = createServer()
  Object.assign(server, { httpAllowHalfOpen: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  socket.write(`${head}\r\nhost: localhost\r\n\r\n${body}`)
  const [request, response] = await arrived
  const visit = new NodeRequestReply(request, response, undefined, 1_000)
  return { visit, request, response, socket, text: () => text, closed: once(response, 'close') }
}

/** Even next door an answer may take a while on a busy machine. */
const eventually = <T>(read: () => T): ReturnType<typeof expect.poll<T>> => expect.poll(read, { timeout: 10_000 })

const GET = 'GET /mcp HTTP/1.1'
const POST = (length: number): string => `POST /mcp HTTP/1.1\r\ncontent-length: ${length}`
const BOUNDS = { maxBodyBytes: 100, bodyGraceMs: 60_000, minBodyRate: 1 }

/** Reads the body: what came of it, once it is known. */
function bodyOf(visit: NodeRequestReply, bounds: Partial<typeof BOUNDS> = {}): Promise<[string | undefined, BodyFault | undefined][]> {
  const calls: [string | undefined, BodyFault | undefined][] = []
  return new Promise((resolve) => {
    visit.body({ ...BOUNDS, ...bounds }, { grow: () => true }, (text, fault) => {
      calls.push([text, fault])
      resolve(calls)
    })
  })
}

describe('a client', () => {
  test('a client that got its whole answer has not left, although its connection closes', async () => {
    const { visit, request, socket, text, closed } = await visited(`${GET}\r\nconnection: close`)
    const onGone = vi.fn()
    visit.onGone = onGone
    visit.send(200, {}, 'all of it')
    await closed
    await eventually(text).toMatch(/all of it$/)
    socket.destroy()
    await eventually(() => request.socket.closed).toBe(true)
    visit.onConnectionClosed()
    expect([visit.isGone, onGone.mock.calls.length]).toEqual([false, 0])
  })

  test('a client that disconnects before its answer has left, which is reported once', async () => {
    const { visit, socket, closed } = await visited(GET)
    const onGone = vi.fn()
    visit.onGone = onGone
    socket.destroy()
    await closed
    visit.onConnectionClosed()
    await turn()
    expect([visit.isGone, onGone.mock.calls.length]).toEqual([true, 1])
  })

  test('a client that disconnected before the first check has left', async () => {
    const { request, response, socket, closed } = await visited(GET)
    socket.destroy()
    await closed
    expect(new NodeRequestReply(request, response, undefined, 1_000).isGone).toBe(true)
  })

  test('a client that disconnects in the middle of its body is reported to the reader too', async () => {
    const { visit, socket } = await visited(POST(10), '12345')
    const onGone = vi.fn()
    visit.onGone = onGone
    const body = bodyOf(visit)
    socket.destroy()
    expect(await body).toEqual([[undefined, 'gone']])
    await turn()
    expect([onGone.mock.calls.length, (await body).length]).toEqual([1, 1])
  })

  test('a client that half-closes its connection gets its answer', async () => {
    const { visit, socket, text, closed } = await visited(`${GET}\r\nconnection: close`)
    socket.end()
    await eventually(text).toContain('100 Continue')
    expect(visit.isGone).toBe(false)
    visit.send(200, {}, 'still')
    await closed
    await eventually(text).toContain('still')
  })
})

describe('a body', () => {
  const CHUNKED = 'POST /mcp HTTP/1.1\r\ntransfer-encoding: chunked'
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

  test.each([
    [100, ['x'.repeat(100), undefined]],
    [101, [undefined, 'too-large']],
  ])('a body of %i bytes with a limit of 100 is read or refused', async (length, outcome) => {
    const { visit, socket } = await visited(CHUNKED, chunk('x'.repeat(50)))
    const body = bodyOf(visit)
    socket.write(`${chunk('x'.repeat(length - 50))}0\r\n\r\n`)
    expect(await body).toEqual([outcome])
  })

  test.each(['utf8', 'latin1', 'utf16le', 'hex', 'base64'] as const)('a body that middleware made %s text of is read', async (encoding) => {
    const { visit, request, socket } = await visited(CHUNKED)
    request.setEncoding(encoding)
    const grown: number[] = []
    const body = new Promise((resolve) => {
      const grow = (bytes: number): boolean => grown.push(bytes) > 0
      visit.body(BOUNDS, { grow }, (text, fault) => resolve([text, fault]))
    })
    const bytes = Buffer.from('größer 😀!')
    socket.write(Buffer.concat([Buffer.from('7\r\n'), bytes.subarray(0, 7), Buffer.from('\r\n')]))
    await once(request, 'data')
    socket.write(Buffer.concat([Buffer.from('7\r\n'), bytes.subarray(7), Buffer.from('\r\n0\r\n\r\n')]))
    expect(await body).toEqual(['größer 😀!', undefined])
    expect(grown.reduce((sum, each) => sum + each)).toBe(bytes.length)
  })

  test('a complete body leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { visit, socket } = await visited(POST(10), '12345')
    const timers = vi.getTimerCount()
    const body = bodyOf(visit)
    await eventually(() => vi.getTimerCount()).toBe(timers + 1)
    socket.write('67890')
    expect(await body).toEqual([['1234567890', undefined]])
    expect(vi.getTimerCount()).toBe(timers)
  })

  test('the rate of a body is judged by what came since the last check', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { visit, socket, request } = await visited(POST(90), '1'.repeat(40))
    const body = bodyOf(visit, { bodyGraceMs: 1_000, minBodyRate: 10 })
    await turn()
    await turn()
    await vi.advanceTimersByTimeAsync(1_000)
    // Fast enough again, if only just.
    socket.write('2'.repeat(10))
    await once(request, 'data')
    await vi.advanceTimersByTimeAsync(1_000)
    socket.write('3'.repeat(9))
    await once(request, 'data')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await body).toEqual([[undefined, 'too-slow']])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('an answer before the request is whole', () => {
  const BIG = 50_000_000

  test('an early answer reaches a client that keeps sending, and the rest is discarded', async () => {
    const { visit, request, socket, text } = await visited(POST(300_000), 'x'.repeat(1_000))
    visit.send(413, {}, 'too long')
    socket.write('x'.repeat(299_000))
    await eventually(text).toContain('too long')
    await eventually(() => request.complete).toBe(true)
    // The connection is as good as before.
    socket.write(`${GET}\r\nhost: localhost\r\n\r\n`)
    expect(socket.destroyed).toBe(false)
  })

  test('an early answer is followed by the end of the connection when the rest does not come', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { visit, socket, text, closed } = await visited(POST(BIG), 'x')
    visit.send(413, {}, 'too long')
    await vi.advanceTimersByTimeAsync(499)
    for (let i = 0; i < 20; i++) await turn()
    expect([visit.isGone, socket.readableEnded]).toEqual([false, false])
    await vi.advanceTimersByTimeAsync(1)
    await closed
    await eventually(() => socket.readableEnded).toBe(true)
    expect(text()).toMatch(/too long$/)
  })

  test('an early answer leaves no timer behind when the client leaves', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { visit, socket, closed } = await visited(POST(BIG), 'x')
    const timers = vi.getTimerCount()
    visit.send(413, {}, 'too long')
    expect(vi.getTimerCount()).toBe(timers + 1)
    socket.destroy()
    await closed
    await eventually(() => vi.getTimerCount()).toBe(timers)
  })
})

describe('a stream', () => {
  test('a stream that begins and ends in one turn is one answer, otherwise it is written by turns', async () => {
    const whole = await visited(GET)
    const sink = whole.visit.open({ 'content-type': 'text/event-stream' })
    sink.write('one')
    sink.write('two')
    sink.end()
    sink.write('late')
    sink.end()
    await whole.closed
    await eventually(whole.text).toMatch(/content-length: 6\r\n[\s\S]*\r\n\r\nonetwo$/)

    const parts = await visited(GET)
    const other = parts.visit.open({ 'content-type': 'text/event-stream' })
    other.write('one')
    await turn()
    other.write('two')
    other.end()
    await parts.closed
    await eventually(parts.text).toMatch(/transfer-encoding: chunked\r\n[\s\S]*\r\none\r\n[\s\S]*two\r\n0\r\n\r\n$/i)
  })

  test('a stream whose client left is reported once, and accepts nothing more', async () => {
    const { visit, socket, closed, response } = await visited(GET)
    const sink = visit.open({})
    const onGone = vi.fn()
    sink.onGone = onGone
    sink.write('one')
    await turn()
    socket.destroy()
    await closed
    const drained = vi.fn()
    sink.whenDrained(drained)
    sink.write('two')
    sink.end()
    await turn()
    expect([onGone.mock.calls.length, drained.mock.calls.length, response.destroyed]).toEqual([1, 1, true])
  })

  test('a stream that is cut off while its writer waits releases the writer, and reports it', async () => {
    const { visit, socket, closed } = await visited(GET)
    const sink = visit.open({})
    const onGone = vi.fn()
    sink.onGone = onGone
    socket.pause()
    sink.write('x'.repeat(20_000_000))
    await turn()
    const drained = [vi.fn(), vi.fn()]
    for (const each of drained) sink.whenDrained(each)
    await turn()
    expect(drained.map((each) => each.mock.calls.length)).toEqual([0, 0])
    sink.destroy()
    await closed
    await turn()
    expect([...drained, onGone].map((each) => each.mock.calls.length)).toEqual([1, 1, 1])
  })

  test('a small write releases its writer in the same turn, and leaves no listener behind', async () => {
    const { visit, response } = await visited(GET)
    const sink = visit.open({})
    const listeners = (): number => response.listenerCount('drain') + response.listenerCount('close')
    const before = listeners()
    const drained = vi.fn()
    sink.write('little')
    sink.whenDrained(drained)
    expect([sink.pending, drained.mock.calls.length]).toEqual([6, 0])
    await turn()
    expect([drained.mock.calls.length, listeners()]).toEqual([1, before])
  })

  test('a stream whose reader reads again releases its writer, and leaves no listener behind', async () => {
    const { visit, socket, response } = await visited(GET)
    const sink = visit.open({})
    const listeners = (): number => response.listenerCount('drain') + response.listenerCount('close')
    const before = listeners()
    socket.pause()
    sink.write('x'.repeat(20_000_000))
    await turn()
    const drained = new Promise<void>((resolve) => sink.whenDrained(resolve))
    expect(sink.pending).toBeGreaterThan(0)
    socket.resume()
    await drained
    expect(listeners()).toBe(before)
  })
})
