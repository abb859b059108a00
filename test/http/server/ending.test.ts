import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ListenOptions, listen } from '../../../src/http/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import {
  askModern,
  callTool,
  gate,
  holdingServer,
  initializeMessage,
  LISTEN,
  modern,
  openSession,
  STREAMABLE,
  serve,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'

async function start(
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; url: string; exited: Promise<[number | null, string | null]>; said(word: string): number }> {
  const file = fileURLToPath(new URL('fixtures/working-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await until(() => output.includes('\n'))
  const said = (word: string): number => output.split('\n').filter((line) => line === word).length
  return { child, url: output.split('\n')[0] ?? '', exited, said }
}

describe('options of listen', () => {
  test('options of listen that are undefined have their defaults', async () => {
    const { url, port } = await serve(testServer(), {
      port: undefined,
      host: undefined,
      path: undefined,
      allowedHosts: ['example.com'],
      limits: { maxBodyBytes: undefined },
    } as unknown as ListenOptions)
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`)
    expect((await http(url, { body: ' '.repeat(4 * 1024 * 1024 + 1) })).status).toBe(413)
  })

  test.each([
    ['mcp', 'must begin with a slash'],
    ['/messages', 'legacySse: false'],
  ])('a path %j that cannot be served is refused', async (path, words) => {
    await expect(listen(testServer(), { path })).rejects.toThrow(words)
  })

  test('listen refuses an argument that is not a server', async () => {
    await expect(listen({} as never)).rejects.toThrow('createServer()')
  })

  test('the path may be that of the oldest transport: every revision is served there', async () => {
    const { url } = await serve(testServer(), { path: '/sse' })
    const session = await openSession(url, '2025-11-25')
    const stream = await session.listen()
    expect((await stream.next())?.id).toBeDefined()
    const old = await httpStream(url, { method: 'GET' })
    expect((await old.next())?.event).toBe('endpoint')
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
  })
})

describe('a process that is asked to end', () => {
  test('a process that ends answers 200 running calls, refuses new ones with 503, and exits with 0', async () => {
    const { child, url, exited, said } = await start()
    const session = await openSession(url, '2025-11-25')
    const older = await openSession(url, '2025-06-18')
    const standing = [await session.listen(), await older.listen()]
    const old = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET' })
    await old.next()
    const listens = await Promise.all(Array.from({ length: 100 }, (_, id) => httpStream(url, modern({ ...LISTEN, id }))))
    await Promise.all(listens.map((stream) => stream.message()))
    const calls = Array.from({ length: 200 }, (_, id) =>
      id % 4 === 0 ? session.ask({ ...callTool('work', { ms: 2000 }), id }) : askModern(url, { ...callTool('work', { ms: 2000 }), id }),
    )
    await until(() => said('works') === 200)
    const signalledAt = performance.now()
    child.kill('SIGTERM')
    await until(() => said('ends') === 1)
    const refused = await Promise.all([
      askModern(url, callTool('work', { ms: 1 })),
      session.ask({ ...callTool('work', { ms: 1 }), id: 'late' }),
      http(url, { body: initializeMessage('2025-11-25') }),
      http(url, { method: 'GET', headers: session.headers }),
      http(url.replace('/mcp', '/sse'), { method: 'GET' }),
      askModern(url, LISTEN),
    ])
    for (const { status, headers, message } of refused) {
      expect([status, headers.connection, headers['retry-after'], message.error?.code]).toEqual([503, 'close', '5', -32603])
    }
    for (const [id, answer] of (await Promise.all(calls)).entries()) {
      expect(answer.status).toBe(200)
      expect(answer.message).toMatchObject({ id, result: { content: [{ text: 'done' }] } })
    }
    for (const [id, stream] of listens.entries()) {
      expect(await stream.messages()).toMatchObject([{ id, result: { resultType: 'complete' } }])
      expect(await stream.ended).toBe('end')
    }
    for (const stream of [...standing, old]) expect(await stream.ended).toBe('end')
    expect(standing[0]?.events.at(-1)).toEqual({ retry: '1000' })
    expect(await exited).toEqual([0, null])
    expect(performance.now() - signalledAt).toBeLessThan(10_000)
  })

  test('a process that ends completes answers that are streams', async () => {
    const { child, url, exited } = await start({ RESPONSES: 'sse' })
    const session = await openSession(url, '2025-11-25')
    const streams = await Promise.all([
      ...Array.from({ length: 10 }, (_, id) => session.askStream({ ...callTool('work', { ms: 700 }), id })),
      ...Array.from({ length: 10 }, (_, id) => httpStream(url, modern({ ...callTool('work', { ms: 700 }), id }))),
    ])
    child.kill('SIGTERM')
    for (const [i, stream] of streams.entries()) {
      expect(await stream.messages()).toMatchObject([{ id: i % 10, result: { content: [{ text: 'done' }] } }])
      expect(await stream.ended).toBe('end')
    }
    expect(await exited).toEqual([0, null])
  })

  test('a process that ends waits for both of its servers', async () => {
    const { child, url, exited, said } = await start({ SECOND: '1' })
    const call = askModern(url, callTool('work', { ms: 700 }))
    await until(() => said('works') === 1)
    child.kill('SIGTERM')
    expect((await call).message.result?.content[0].text).toBe('done')
    expect(await exited).toEqual([0, null])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('a process that is asked a second time (%s) exits at once', async (signal) => {
    const { child, url, exited, said } = await start()
    const call = askModern(url, callTool('work', { ms: 60_000 })).catch((error: NodeJS.ErrnoException) => error.code)
    await until(() => said('works') === 1)
    child.kill(signal)
    await until(() => said('ends') === 1)
    await sleep(200)
    expect(child.exitCode).toBeNull()
    const askedAt = performance.now()
    child.kill(signal)
    expect(await exited).toEqual([0, null])
    expect(performance.now() - askedAt).toBeLessThan(5000)
    expect(await call).toBe('ECONNRESET')
  })
})

describe('the end of a server in a program', () => {
  test('with drainDelayMs a server that ends is not ready, and serves for that time', async () => {
    const { server, begun, go } = holdingServer()
    const { url, close, handler } = await serve(server, { graceMs: 10_000, drainDelayMs: 1500, health: true })
    const closing = close()
    const ready = await http(new URL('/readyz', url).href, { method: 'GET', isBare: true })
    expect([ready.status, handler.isReady]).toEqual([503, false])
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    await openSession(url, '2025-11-25')
    expect((await http(url.replace('/mcp', '/elsewhere'), { method: 'GET', isBare: true })).status).toBe(404)
    // A request that comes during the delay has all of graceMs.
    const held = askModern(url, callTool('hold'))
    await begun.opened
    await until(async () => (await askModern(url, callTool('hi'))).status === 503)
    go.open()
    expect((await held).text).toContain('held')
    await closing
  })

  test('a server that ends waits graceMs for running requests, then aborts them', async () => {
    const server = testServer()
    const begun = gate()
    let aborted = 0
    server.tool('endless', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted++)
      begun.open()
      await new Promise(() => {})
      return 'x'
    })
    const listening = await serve(server, { graceMs: 200 })
    const session = await openSession(listening.url, '2025-11-25')
    const calls = [askModern(listening.url, callTool('endless')), session.ask(callTool('endless'))].map((call) => call.catch(() => 'cut'))
    await begun.opened
    await until(() => listening.handler.counts.inFlight === 2)
    const askedAt = performance.now()
    expect(listening.handler.isReady).toBe(true)
    const closed = listening.close()
    expect(listening.handler.isReady).toBe(false)
    expect(listening.close()).toBeInstanceOf(Promise)
    await closed
    await listening.closed
    const took = performance.now() - askedAt
    expect(took).toBeGreaterThan(190)
    expect(took).toBeLessThan(1500)
    await Promise.all(calls)
    await until(() => aborted === 2)
    await expect(http(listening.url, { body: {} })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test.each(STREAMABLE)('a call of %s that is not over at the end of graceMs is answered with an error', async (revision) => {
    const server = testServer()
    let begun = 0
    server.tool('endless', {}, async (_args, ctx) => {
      await ctx.progress(1)
      begun++
      await new Promise(() => {})
    })
    const listening = await serve(server, { graceMs: 50 })
    const session = await openSession(listening.url, revision)
    const call = (id: number): object => ({ jsonrpc: '2.0', ...callTool('endless'), id })
    const answers = [session.post(call(1)), session.post(call(2), { accept: 'application/json' })]
    const stream = await session.askStream({ ...callTool('endless', {}, WATCHED), id: 3 })
    const batch = revision === '2025-03-26' && session.post([call(4), { jsonrpc: '2.0', ...callTool('hi'), id: 5 }])
    await until(() => begun === (batch ? 4 : 3))
    await listening.close()
    const error = {
      code: -32603,
      message: expect.stringContaining('Send the request again'),
      data: { reason: 'shutdown', retryable: true },
    }
    expect((await Promise.all(answers)).map(({ message }) => message)).toMatchObject([1, 2].map((id) => ({ id, error })))
    expect((await stream.messages()).at(-1)).toMatchObject({ id: 3, error })
    if (batch)
      expect(JSON.parse((await batch).text)).toMatchObject([
        { id: 5, result: {} },
        { id: 4, error },
      ])
  })

  test('a handshake that is not over at the end of graceMs is answered with an error', async () => {
    const server = testServer()
    const begun = gate()
    server.use(async () => {
      begun.open()
      return new Promise(() => {})
    })
    const listening = await serve(server, { graceMs: 50 })
    const answer = http(listening.url, { body: initializeMessage('2025-11-25') })
    await begun.opened
    await listening.close()
    expect((await answer).message).toMatchObject({ id: 0, error: { data: { reason: 'shutdown' } } })
  })

  test('a server that ends accepts answers to its questions until the calls are answered', async () => {
    const server = testServer()
    const asked = gate()
    server.tool('asks', {}, async (_args, ctx) => {
      asked.open()
      const { ok } = await ctx.elicit('q', 'Ok?', { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const)
      return `ok=${ok}`
    })
    const listening = await serve(server, { graceMs: 3000 })
    const session = await openSession(listening.url, '2025-11-25', { capabilities: { elicitation: {} } })
    const stream = await session.askStream(callTool('asks'))
    await asked.opened
    const question = await stream.message()
    const closed = listening.close()
    const answered = await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { ok: true } } })
    expect(answered.status).toBe(202)
    expect((await stream.message()).result?.content[0].text).toBe('ok=true')
    await closed
  })

  test('the result of a call whose client disconnected to poll can still be fetched at the end', async () => {
    const server = testServer()
    const go = gate()
    server.tool('long', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.release()
      await go.opened
      return 'fetched'
    })
    const listening = await serve(server, { graceMs: 3000 })
    const session = await openSession(listening.url, '2025-11-25')
    const stream = await session.askStream(callTool('long', {}, WATCHED))
    await stream.ended
    const closed = listening.close()
    const resumed = await session.listen(stream.events.find(({ data }) => data)?.id)
    expect(resumed.status).toBe(200)
    go.open()
    expect((await resumed.message()).result?.content[0].text).toBe('fetched')
    expect(await resumed.ended).toBe('end')
    await closed
  })
})
