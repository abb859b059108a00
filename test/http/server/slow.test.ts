import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AllHttpLimits, FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { requestTimeoutOf } from '../../../src/http/server/listen.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/server/options.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { httpStream, rawHttp } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  bystander,
  callTool,
  gate,
  modern,
  openSession,
  serve,
  serveInFakeTime,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import { rawRequest } from '../../support/raw-request.ts'

const MIB = 1024 * 1024

const headOf = (length: number): string =>
  `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hi\r\nContent-Length: ${length}\r\n\r\n`
const BODY = JSON.stringify(modern(callTool('hi')).body)

describe('bodies that trickle in', () => {
  const limits: Partial<AllHttpLimits> = { bodyGraceMs: 150, minBodyRate: 1000 }

  test('a body slower than minBodyRate after bodyGraceMs is answered 408 and closed', async () => {
    const onRefused = vi.fn()
    const { port } = await serve(testServer(), { limits, onRefused })
    const raw = rawHttp(port, headOf(BODY.length))
    const timer = setInterval(() => raw.socket.write('{'), 50)
    const answer = await raw.closed
    clearInterval(timer)
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*Connection: close.*"code":-32600.*limits\.minBodyRate/is)
    const refusal = { status: 408, reason: expect.stringContaining('limits.minBodyRate'), address: '127.0.0.1' }
    expect(onRefused.mock.calls).toEqual([[expect.objectContaining(refusal)]])
  })

  test('a body that never arrives is answered 408 and closed', async () => {
    const { port } = await serve(testServer(), { limits })
    const startedAt = performance.now()
    expect(await rawHttp(port, headOf(BODY.length)).closed).toMatch(/^HTTP\/1\.1 408 /)
    expect(performance.now() - startedAt).toBeLessThan(8000)
  })

  test('a body in small pieces that is fast enough is accepted, and so is a slow short one', async () => {
    const { port } = await serve(testServer(), { limits: { bodyGraceMs: 100, minBodyRate: 200 } })
    const steady = rawHttp(port, headOf(BODY.length))
    for (let at = 0; at < BODY.length; at += 40) {
      steady.socket.write(BODY.slice(at, at + 40))
      await sleep(20)
    }
    expect(await steady.status()).toBe(200)
    const short = rawHttp(port, headOf(BODY.length) + BODY.slice(0, 1))
    await sleep(40)
    short.socket.write(BODY.slice(1))
    expect(await short.status()).toBe(200)
  })

  test('a body that starts fast and then stalls is judged by its current rate', async () => {
    const { port } = await serve(testServer(), { limits: { bodyGraceMs: 150, minBodyRate: 1000 } })
    const raw = rawHttp(port, headOf(3_000_000) + ' '.repeat(2_000_000))
    const startedAt = performance.now()
    const timer = setInterval(() => raw.socket.write(' '), 50)
    const answer = await raw.closed
    clearInterval(timer)
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*limits\.minBodyRate/is)
    // By the average of all it sent it would have had half an hour.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  test('Node gives a request the time that the longest body takes at minBodyRate', () => {
    const rates = [1024, 10, 100_000]
    for (const minBodyRate of rates) {
      const bounds = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, minBodyRate }
      expect(requestTimeoutOf(bounds)).toBeGreaterThan((bounds.maxBodyBytes / minBodyRate) * 1000)
    }
    expect(requestTimeoutOf({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, minBodyRate: 0 })).toBe(0)
    expect(requestTimeoutOf({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, minBodyRate: 1e-9 })).toBe(2 ** 31 - 1)
  })

  test.each([
    ['POST', '/nothing-here', 404],
    ['DELETE', '/mcp', 204],
    ['GET', '/mcp', 400],
  ])('the rest of an unread body (%s %s) is not waited for', async (method, path, status) => {
    const { port, url } = await serve(testServer())
    const session = await openSession(url, '2025-11-25')
    const headers = method === 'DELETE' ? session.headers : {}
    const raw = rawHttp(port, rawRequest({ method, path, headers: { ...headers, 'content-length': '100000' } }))
    const timer = setInterval(() => raw.socket.write('x'), 50)
    const startedAt = performance.now()
    const answer = await raw.closed
    clearInterval(timer)
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('400 sockets that send a byte now and then get 408, and others are served meanwhile', async () => {
    const { port, url } = await serve(testServer(), { limits: { bodyGraceMs: 1000 }, maxConnectionsPerAddress: false })
    const startedAt = performance.now()
    const slow = Array.from({ length: 400 }, () => rawHttp(port, headOf(BODY.length)))
    const timer = setInterval(() => {
      for (const { socket } of slow) if (!socket.destroyed) socket.write('{')
    }, 200)
    const { medianMs } = bystander(url)
    const answers = await Promise.all(slow.map(({ closed }) => closed))
    clearInterval(timer)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(await medianMs()).toBeLessThan(100)
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 408 '))).toHaveLength(400)
  }, 20_000)
})

/** A client that sends a request and does not read a byte of the answer. */
function deaf(port: number, body: string, headers: Record<string, string>): Socket {
  const lines = Object.entries({ ...headers, accept: 'application/json, text/event-stream', 'content-type': 'application/json' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  return socket
}

function deafCall(port: number, name: string, args: Record<string, unknown> = {}): Socket {
  const { headers, body } = modern(callTool(name, args, WATCHED))
  return deaf(port, JSON.stringify(body), headers as Record<string, string>)
}

describe('readers that do not read', () => {
  /** A tool that writes without end, waiting when asked to or not. */
  function flooding(isPatient: boolean) {
    const server = testServer()
    const state = { written: 0, aborted: 0 }
    const text = 'x'.repeat(16 * 1024)
    server.tool('flood', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => state.aborted++)
      for (let i = 1; !ctx.signal.aborted && state.written < 512 * MIB; i++) {
        const taken = ctx.progress(i, undefined, text)
        state.written += text.length
        if (isPatient) await taken
        if (i % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return 'x'
    })
    return { server, state }
  }

  test('all writers that wait for a slow reader continue when it has read', async () => {
    const server = testServer()
    let waiting = 0
    let released = 0
    server.tool('floods', {}, async (_args, ctx) => {
      const push = async (i: number): Promise<void> => {
        const wait = ctx.progress(i, 10, 'x'.repeat(4 * MIB))
        waiting++
        await wait
        released++
      }
      await Promise.all([push(1), push(2), push(3)])
      return 'all went on'
    })
    const { url } = await serve(server, { limits: { softBufferBytes: 1024, hardBufferBytes: 64 * MIB } })
    const stream = await httpStream(url, modern(callTool('floods', {}, WATCHED)))
    stream.pause()
    await until(() => waiting === 3)
    await sleep(50)
    expect(released).toBe(0)
    stream.resume()
    expect((await stream.messages()).at(-1)?.result?.content[0].text).toBe('all went on')
    expect(released).toBe(3)
  })

  test('a writer waits beyond softBufferBytes, and the reader is cut off after stallMs', async () => {
    const { server, state } = flooding(true)
    const onRefused = vi.fn()
    const limits = { stallMs: 400, softBufferBytes: 64 * 1024 }
    const { port, handler } = await serve(server, { limits, onRefused, authenticate: byHeader })
    const startedAt = performance.now()
    const { headers, body } = modern(callTool('flood', {}, WATCHED), { 'x-user': 'ci' })
    deaf(port, JSON.stringify(body), headers as Record<string, string>)
    await until(() => state.aborted === 1)
    expect(state.written).toBeGreaterThan(0)
    // It stood still: what the kernel takes, and little more.
    expect(state.written).toBeLessThan(16 * MIB)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    const reason = 'A client that did not read was disconnected'
    const whose = { principal: 'ci', address: '127.0.0.1', httpMethod: 'POST', path: '/mcp' }
    expect(onRefused).toHaveBeenCalledWith({ status: 0, kind: 'limit', reason, limit: 'stallMs', ...whose })
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
  })

  test('a writer that does not wait has its reader cut off at hardBufferBytes', async () => {
    const { server, state } = flooding(false)
    const onRefused = vi.fn()
    const { port, handler } = await serve(server, { limits: { hardBufferBytes: 256 * 1024 }, onRefused })
    deafCall(port, 'flood')
    await until(() => state.aborted === 1)
    expect(onRefused).toHaveBeenCalledWith(expect.objectContaining({ status: 0, limit: 'hardBufferBytes', address: '127.0.0.1' }))
    expect(state.written).toBeLessThan(32 * MIB)
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
  })

  test('softBufferBytes may be smaller than what Node itself buffers', async () => {
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      for (let i = 1; i <= 20; i++) await ctx.progress(i, 20, 'x'.repeat(i * 100))
      return 'done'
    })
    const { url } = await serve(server, { limits: { softBufferBytes: 10 } })
    const stream = await httpStream(url, modern(callTool('talks', {}, WATCHED)))
    expect(await stream.messages()).toHaveLength(21)
  })

  test('a trickle of writes does not count as reading', async () => {
    const server = testServer()
    const aborted = vi.fn()
    server.tool('trickle', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', aborted)
      let i = 0
      let isFull = false
      while (!isFull && !ctx.signal.aborted) {
        const taken = ctx.progress(++i, undefined, 'x'.repeat(16 * 1024))
        isFull = await Promise.race([taken.then(() => false), sleep(20).then(() => true)])
      }
      while (!ctx.signal.aborted) {
        void ctx.progress(++i, undefined, 'x')
        await sleep(20)
      }
      return 'x'
    })
    const { port, handler } = await serve(server, { limits: { stallMs: 400, softBufferBytes: 64 * 1024 } })
    deafCall(port, 'trickle')
    await until(() => handler.counts.streams === 1)
    await until(() => aborted.mock.calls.length === 1)
  })

  test('in a session the reader is cut off too, but the call continues and can be fetched', async () => {
    const { server, state } = flooding(true)
    const { port, url, handler } = await serve(server, { limits: { stallMs: 200 } })
    const session = await openSession(url, '2025-06-18')
    deaf(port, JSON.stringify({ jsonrpc: '2.0', id: 1, ...callTool('flood', {}, WATCHED) }), session.headers)
    await until(() => handler.counts.streams === 1)
    const { written } = state
    await until(() => handler.counts.streams === 0)
    await until(() => state.written > written + MIB)
    expect(state.aborted).toBe(0)
    await session.end()
    await until(() => state.aborted === 1)
  })

  test('a reader that is slow but reads is not cut off', async () => {
    const server = testServer()
    server.tool('much', {}, async (_args, ctx) => {
      for (let i = 1; i <= 400; i++) await ctx.progress(i, 400, 'x'.repeat(32 * 1024))
      return 'all of it'
    })
    const { url } = await serve(server, { limits: { stallMs: 300, softBufferBytes: 16 * 1024 } })
    const { port } = new URL(url)
    const socket = deafCall(Number(port), 'much')
    const startedAt = performance.now()
    let received = 0
    let tail = ''
    while (!tail.includes('all of it') && !socket.closed) {
      await sleep(40)
      const chunk = socket.read(Math.min(socket.readableLength, 256 * 1024)) as Buffer | null
      if (!chunk) continue
      received += chunk.length
      tail = tail.slice(-100) + chunk.toString('latin1')
    }
    expect(tail).toContain('all of it')
    expect(received).toBeGreaterThan(12 * MIB)
    expect(performance.now() - startedAt).toBeGreaterThan(1000)
  })

  test.each(['JSON', 'a last event'])('an answer as %s that is never read does not stay for ever', async (kind) => {
    const server = testServer()
    const begun = gate()
    server.tool('big', {}, async (_args, ctx) => {
      if (kind !== 'JSON') await ctx.progress(1)
      begun.open()
      return 'x'.repeat(16 * MIB)
    })
    const { port, handler } = await serve(server, { limits: { stallMs: 300 } })
    const socket = deafCall(port, 'big')
    await begun.opened
    // As far as the endpoint knows it has been answered; the rest lies in the socket until that is cut.
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)
    await sleep(1500)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    await new Promise((resolve) => socket.on('close', resolve))
    expect(received).toBeGreaterThan(0)
    expect(received).toBeLessThan(16 * MIB)
  })

  test('100 clients that never read 300 MB each are cut off with bounded memory, and others are served', async () => {
    const server = testServer()
    const text = 'x'.repeat(64 * 1024)
    let written = 0
    let begun = 0
    let over = 0
    server.tool('emit', {}, async (_args, ctx) => {
      begun++
      for (let i = 1; i <= 4800 && !ctx.signal.aborted; i++) {
        await ctx.progress(i, undefined, text)
        written += text.length
      }
      over++
      return 'x'
    })
    const { port, url, handler } = await serve(server, { limits: { stallMs: 2000 }, maxConnectionsPerAddress: false })
    await askModern(url, callTool('hi'))
    const before = process.memoryUsage.rss()
    const startedAt = performance.now()
    for (let i = 0; i < 100; i++) deafCall(port, 'emit')
    await until(() => begun === 100, 30_000)
    let most = 0
    const { medianMs } = bystander(url)
    while (over < 100) {
      most = Math.max(most, process.memoryUsage.rss() - before)
      await sleep(5)
    }
    expect(performance.now() - startedAt).toBeLessThan(40_000)
    await expect.poll(() => handler.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
    expect(most).toBeLessThan(150 * MIB)
    // Asked for were 30 GB; taken was what the kernel holds.
    expect(written).toBeLessThan(1024 * MIB)
    expect(await medianMs()).toBeLessThan(100)
  }, 60_000)
})

describe('silent peers', () => {
  const inFakeTime = () => {
    const clock = fakeClock()
    return serveInFakeTime(testServer({ clock }), {}, clock)
  }

  test('a session that answers no pings loses its stream within 75 s', async () => {
    const { url, pass, endpoint } = await inFakeTime()
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    await standing.next()
    await pass(75_000)
    expect(await standing.ended).toBe('end')
    expect(endpoint.counts.streams).toBe(0)
    expect(standing.text.match(/"method":"ping"/g)).toHaveLength(2)
    expect((await session.listen()).status).toBe(200)
  })

  test('a session that answers pings keeps its stream, and one miss is tolerated', async () => {
    const { url, pass, endpoint } = await inFakeTime()
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    const answerPing = async () => session.post({ jsonrpc: '2.0', id: (await standing.message()).id, result: {} })
    await pass(30_000)
    await answerPing()
    await pass(30_000)
    await standing.message()
    await pass(30_000)
    await answerPing()
    await pass(30_000)
    await answerPing()
    expect(endpoint.counts.streams).toBe(1)
  })
})
