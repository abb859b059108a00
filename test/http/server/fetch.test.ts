import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type HttpOptions, httpHandler } from '../../../src/http/index.ts'
import { createHandler } from '../../../src/http/server/handler.ts'
import type { Server } from '../../../src/server/index.ts'
import {
  callTool,
  collectGarbage,
  fixedLimits,
  initializeMessage,
  modern,
  ownLimits,
  type TestHttpOptions,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import type { Message } from '../../support/raw-channel.ts'

const URL_HERE = 'http://localhost/mcp'

function handling(server: Server, options: TestHttpOptions = {}) {
  const onRefused = vi.fn()
  const handler = createHandler(server, { onRefused, ...options, limits: ownLimits(options.limits) }, fixedLimits(options.limits))
  onTestFinished(() => handler.close())
  const send = (asked: Parameters<typeof modern>[0], init: RequestInit = {}, url = URL_HERE): Promise<Response> => {
    const { headers, body } = modern(asked)
    const all = { 'content-type': 'application/json', ...(headers as Record<string, string>), ...(init.headers as Record<string, string>) }
    return handler.fetch(new Request(url, { method: 'POST', body: JSON.stringify(body), ...init, headers: all }))
  }
  return { handler, send, onRefused }
}

/** A tool that says 400 times 16 KiB, and waits when it is asked to. */
function talkative(isPatient: boolean) {
  const server = testServer()
  const state = { said: 0, aborted: false }
  server.tool('talk', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => {
      state.aborted = true
    })
    for (let i = 1; i <= 400 && !ctx.signal.aborted; i++) {
      const taken = ctx.progress(i, 400, 'x'.repeat(16 * 1024))
      state.said = i
      if (isPatient) await taken
      else if (i % 8 === 0) await sleep(0)
    }
    return 'all'
  })
  return { server, state }
}

describe('the fetch handler', () => {
  test('the fetch handler checks the host name, from the Host header or else the URL', async () => {
    const { send } = handling(testServer())
    expect((await send(callTool('hi'))).status).toBe(200)
    expect((await send(callTool('hi'), {}, 'http://evil.com/mcp')).status).toBe(403)
    expect((await send(callTool('hi'), { headers: { host: 'evil.com' } })).status).toBe(403)
    expect((await send(callTool('hi'), { headers: { host: 'localhost:3000' } }, 'http://evil.com/mcp')).status).toBe(200)
    const { send: allowed } = handling(testServer(), { allowedHosts: ['mcp.example.com'] })
    expect((await allowed(callTool('hi'), {}, 'https://mcp.example.com/mcp')).status).toBe(200)
  })

  test('the fetch handler makes writers wait for a slow reader, and loses nothing', async () => {
    const { server, state } = talkative(true)
    const { send } = handling(server, { limits: { softBufferBytes: 64 * 1024, stallMs: 200 } })
    const response = await send(callTool('talk', {}, WATCHED))
    await sleep(50)
    expect(state.said).toBeLessThan(10)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    let reads = 0
    for (;;) {
      // Slow, but reading: one piece of what waits at a time, for longer than a reader may stand still.
      if (++reads < 40) await sleep(15)
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    expect(text.match(/^event: message$/gm)).toHaveLength(401)
    expect(text).toContain('"text":"all"')
  })

  test.each([
    [true, 'stallMs'],
    [false, 'hardBufferBytes'],
  ])('the fetch handler cuts off a reader that does not read (patient writer: %s), by %s', async (isPatient, limit) => {
    const { server, state } = talkative(isPatient)
    const { send, handler, onRefused } = handling(server, {
      limits: { softBufferBytes: 64 * 1024, hardBufferBytes: 512 * 1024, stallMs: 150 },
    })
    const response = await send(callTool('talk', {}, WATCHED))
    expect(handler.counts.streams).toBe(1)
    await until(() => state.aborted)
    const where = { httpMethod: 'POST', path: '/mcp' }
    expect(onRefused).toHaveBeenCalledWith({
      status: 0,
      kind: 'limit',
      reason: 'A client that did not read was disconnected',
      limit,
      ...where,
    })
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
    expect(state.said).toBeLessThan(400)
    await expect(response.text()).rejects.toThrow('The stream was closed by the server')
  })

  test('a session whose reader was cut off can be resumed', async () => {
    const { server } = talkative(true)
    const { handler } = handling(server, { limits: { softBufferBytes: 64 * 1024, stallMs: 150, maxEventBytes: 16 * 1024 * 1024 } })
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const post = (body: Message) => handler.fetch(new Request(URL_HERE, { method: 'POST', headers, body: JSON.stringify(body) }))
    const opened = await post(initializeMessage('2025-11-25'))
    headers['mcp-session-id'] = String(opened.headers.get('mcp-session-id'))
    const response = await post({ jsonrpc: '2.0', id: 1, ...callTool('talk', {}, WATCHED) })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!/^id: (.+)\n(?!retry)/m.test(text)) text += new TextDecoder().decode((await reader.read()).value)
    await until(() => handler.counts.streams === 0)
    await until(() => handler.counts.inFlight === 0)
    const id = /^id: (.+)\n(?!retry)/m.exec(text)?.[1] as string
    const resumed = await handler.fetch(new Request(URL_HERE, { headers: { ...headers, 'last-event-id': id } }))
    const rest = await resumed.text()
    expect([resumed.status, rest.match(/^event: message$/gm)?.length]).toEqual([200, 400])
    expect(rest).toContain('"text":"all"')
  })

  test('an aborted request cancels the work, before and after there is an answer', async () => {
    const server = testServer()
    let aborted = 0
    server.tool('endless', {}, async (_args, ctx) => {
      if (ctx.meta.progressToken) await ctx.progress(1)
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      aborted++
      return 'x'
    })
    const { send, handler } = handling(server)
    for (const [i, more] of [{}, WATCHED].entries()) {
      const controller = new AbortController()
      const answer = send(callTool('endless', {}, more), { signal: controller.signal })
      await until(() => handler.counts.inFlight === 1)
      await sleep(20)
      // A signal of a Request goes silent when the Request is collected.
      collectGarbage()
      await sleep(1)
      collectGarbage()
      controller.abort()
      await answer.catch(() => {})
      await until(() => aborted === i + 1 && handler.counts.inFlight === 0 && handler.counts.streams === 0)
    }
  })

  test('a body that breaks off is answered 400', async () => {
    const { send } = handling(testServer())
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('broke')) })
    const answer = await send(callTool('hi'), { body, duplex: 'half' } as RequestInit)
    expect([answer.status, ((await answer.json()) as Message).error.code]).toEqual([400, -32600])
  })

  const streaming = (pieces: string[], everyMs: number): RequestInit =>
    ({
      duplex: 'half',
      body: new ReadableStream<Uint8Array>({
        async pull(controller) {
          const piece = pieces.shift()
          if (piece === undefined) return controller.close()
          await sleep(everyMs)
          controller.enqueue(new TextEncoder().encode(piece))
        },
      }),
    }) as RequestInit

  test('the fetch handler limits the length and the slowness of bodies', async () => {
    const { send: sendLarge } = handling(testServer(), { limits: { maxBodyBytes: 1000 } })
    const { send } = handling(testServer(), { limits: { bodyGraceMs: 80, minBodyRate: 100_000 } })
    const large = await sendLarge(
      callTool('hi'),
      streaming(
        Array.from({ length: 100 }, () => ' '.repeat(100)),
        0,
      ),
    )
    expect([large.status, ((await large.json()) as Message).error.message]).toEqual([
      413,
      'The message is longer than 1000 bytes (limits.maxBodyBytes)',
    ])
    const slow = await send(
      callTool('hi'),
      streaming(
        Array.from({ length: 100 }, () => ' '),
        20,
      ),
    )
    expect([slow.status, ((await slow.json()) as Message).error.message]).toEqual([408, expect.stringContaining('limits.minBodyRate')])
    const never = await send(callTool('hi'), { body: new ReadableStream(), duplex: 'half' } as RequestInit)
    expect(never.status).toBe(408)
  })

  test('a body of text is read like one of bytes, and counted', async () => {
    const { handler, send } = handling(testServer())
    const text = JSON.stringify(modern({ ...callTool('hi'), id: 'größer' }).body)
    const chunks = [text.slice(0, 50), text.slice(50)]
    let seen = 0
    const body = new ReadableStream({
      pull: (controller) => {
        seen = handler.counts.bodyBytes
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const answer = await send(callTool('hi'), { body, duplex: 'half' } as RequestInit)
    expect([answer.status, seen, handler.counts.bodyBytes]).toEqual([200, Buffer.byteLength(text), 0])
  })

  test('a body that the program cannot give as bytes is answered 500, and nothing is counted', async () => {
    const { handler, send } = handling(testServer())
    const chunks = new ReadableStream({ start: (controller) => controller.enqueue({ length: 1 }) })
    const strange = await send(callTool('hi'), { body: chunks, duplex: 'half' } as RequestInit)
    const { headers, body } = modern(callTool('hi'), { 'content-type': 'application/json' })
    const used = new Request(URL_HERE, { method: 'POST', headers: headers as Record<string, string>, body: JSON.stringify(body) })
    await used.text()
    for (const answer of [strange, await handler.fetch(used)]) {
      const message = 'The body of the Request cannot be read: it was read before, or it has chunks that are neither bytes nor text'
      expect([answer.status, ((await answer.json()) as Message).error.message]).toEqual([500, message])
    }
    expect([handler.counts.bodyBytes, (await send(callTool('hi'))).status]).toEqual([0, 200])
  })

  test('the fetch handler detects a byte order mark and invalid UTF-8', async () => {
    const { send } = handling(testServer())
    const body = JSON.stringify(modern(callTool('hi')).body)
    for (const bytes of [new TextEncoder().encode(`\ufeff${body}`), Buffer.from(`${body.slice(0, -1)}\xff}`, 'latin1')]) {
      const answer = await send(callTool('hi'), { body: bytes })
      expect([answer.status, ((await answer.json()) as Message).error.code]).toEqual([400, -32700])
    }
  })

  test('a public name needs a list of hosts or authentication', async () => {
    const { headers, body } = modern(callTool('hi'))
    const statusOf = async (options: HttpOptions): Promise<number> => {
      const request = new Request('https://mcp.example.com/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
        body: JSON.stringify(body),
      })
      return (await httpHandler(testServer(), options).fetch(request)).status
    }
    expect(await statusOf({})).toBe(403)
    expect(await statusOf({ allowedHosts: ['mcp.example.com'] })).toBe(200)
    expect(await statusOf({ authenticate: () => ({ principal: 'anna' }) })).toBe(200)
    expect(await statusOf({ authenticate: () => ({ principal: 'anna' }), allowedHosts: ['other.example.com'] })).toBe(403)
  })

  test('the runtime may supply the caller', async () => {
    const knocks: (string | undefined)[] = []
    const handler = httpHandler(testServer(), {
      authenticate: (knock) => {
        knocks.push(knock.remoteAddress)
        return { principal: String(knock.remoteAddress) }
      },
    })
    const { headers, body } = modern(callTool('hi'))
    const request = new Request(URL_HERE, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
      body: JSON.stringify(body),
    })
    expect((await handler.fetch(request, { remoteAddress: '192.0.2.7' })).status).toBe(200)
    expect(knocks).toEqual(['192.0.2.7'])
    await handler.drain(0)
    expect(handler.isReady).toBe(false)
    expect(
      (await handler.fetch(new Request(URL_HERE, { method: 'POST', headers: request.headers, body: JSON.stringify(body) }))).status,
    ).toBe(503)
  })
})
