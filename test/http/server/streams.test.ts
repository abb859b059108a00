import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/server/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import {
  callTool,
  gate,
  modern,
  openSession,
  STREAMABLE,
  serve,
  serveInFakeTime,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const FORMS = { elicitation: {} }
const settled = (ms = 60): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('which stream a message goes to', () => {
  test.each(STREAMABLE)('in %s messages of a call go to its stream, others to the GET stream, each to one', async (revision) => {
    proves('T-HTTP-026', 'T-HTTP-039', 'T-HTTP-041', 'T-HTTP-042', 'T-HTTP-047', 'T-HTTP-048')
    const server = testServer()
    const arrived = [gate(), gate()]
    const go = gate()
    let count = 0
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      arrived[count++]?.open()
      await go.opened
      ctx.log.warning(`about ${String(ctx.meta.progressToken)}`)
      return 'done'
    })
    const { url } = await serve(server)
    const session = await openSession(url, revision)
    const standing = await session.listen()
    const first = await session.askStream({ ...callTool('work', {}, { _meta: { progressToken: 'a' } }), id: 1 })
    const second = await session.askStream({ ...callTool('work', {}, { _meta: { progressToken: 'b' } }), id: 2 })
    await Promise.all(arrived.map(({ opened }) => opened))
    server.tool('new', {}, () => 'x')
    server.log.error('about nothing')
    expect(await standing.message()).toMatchObject({ method: 'notifications/message', params: { data: 'about nothing' } })
    expect(await standing.message()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    go.open()
    for (const [stream, token, id] of [
      [first, 'a', 1],
      [second, 'b', 2],
    ] as const) {
      const [progress, log, answer, ...rest] = await stream.messages()
      expect(progress?.params.progressToken).toBe(token)
      expect(log?.params.data).toBe(`about ${token}`)
      expect(answer?.id).toBe(id)
      expect(rest).toEqual([])
    }
    await session.end()
    expect(await standing.messages()).toEqual([])
  })

  test.each(['2025-06-18', '2025-11-25'])(
    'in %s a question goes only to the stream of its call, and not at all after it',
    async (revision) => {
      proves('T-HTTP-025', 'T-HTTP-040')
      const server = testServer()
      let context: Context | undefined
      server.tool('asks', {}, async (_args, ctx) => {
        context = ctx
        return `hello ${(await ctx.elicit('name', 'Who?', NAME)).name}`
      })
      const { url } = await serve(server)
      const session = await openSession(url, revision, { capabilities: FORMS })
      const standing = await session.listen()
      const stream = await session.askStream(callTool('asks'))
      const question = await stream.message()
      expect(question.method).toBe('elicitation/create')
      const answered = await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ann' } } })
      expect([answered.status, answered.text]).toEqual([202, ''])
      expect((await stream.message()).result?.content[0].text).toBe('hello Ann')
      expect(await stream.ended).toBe('end')
      // The call is over: there is no stream left that a question could go to.
      void (context as Context).elicit('again', 'Who?', NAME).catch(() => {})
      void (context as Context).progress(5)
      await settled()
      await session.end()
      expect(await standing.messages()).toEqual([])
    },
  )

  test('messages before the client listens are stored for it, up to a limit', async () => {
    const server = testServer()
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    for (let i = 0; i < 70; i++) server.log.error(`early ${i}`)
    const standing = await session.listen()
    const first = await standing.message()
    expect(first.params.data).toBe('early 6')
    await until(() => standing.events.length >= 65)
    expect(standing.events.at(-1)?.data).toContain('early 69')
  })

  test('a GET stream without an event id gets only new messages', async () => {
    proves('T-BASE-015', 'T-HTTP-055', 'T-HTTP-057')
    const server = testServer()
    const { url, endpoint, pass } = await serveInFakeTime(server, { limits: { pingMs: 5_000 } })
    const session = await openSession(url, '2025-11-25')
    const seen: Message[] = []
    const once = async (): Promise<void> => {
      const stream = await session.listen()
      server.log.error(`seen ${seen.length}`)
      await pass(6_000)
      const pings = (): Message[] =>
        stream.events.flatMap(({ data }) => (data?.includes('"method":"ping"') ? [JSON.parse(data) as Message] : []))
      await until(() => stream.events.filter(({ data }) => data).length >= 2 && pings().length > 0)
      // The server closes the stream of a client that does not answer.
      for (const { id } of pings()) await session.post({ jsonrpc: '2.0', id, result: {} })
      stream.destroy()
      await until(() => endpoint.counts.streams === 0)
      seen.push(...(await stream.messages()))
    }
    await once()
    server.log.error('said to nobody')
    await once()
    await once()
    const said = seen.flatMap(({ method, params }) => (method === 'notifications/message' ? [params.data] : []))
    expect(said.filter((data) => data === 'said to nobody')).toHaveLength(1)
    expect(new Set(said).size).toBe(said.length)
    // Requests of ours have ids, which are never used twice.
    const ids = seen.flatMap(({ method, id }) => (method === 'ping' ? [id] : []))
    expect(ids.length).toBeGreaterThanOrEqual(3)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a GET stream with an event id gets all messages after it', async () => {
    const server = testServer()
    const { url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const first = await session.listen()
    for (const text of ['one', 'two', 'three']) server.log.error(text)
    await until(() => first.events.filter(({ data }) => data).length === 3)
    const second = first.events.filter(({ data }) => data)[1]?.id
    first.destroy()
    await until(() => handler.counts.streams === 0)
    const resumed = await session.listen(second)
    expect((await resumed.message()).params.data).toBe('three')
    resumed.destroy()
    await until(() => handler.counts.streams === 0)
    server.log.error('four')
    expect((await (await session.listen()).message()).params.data).toBe('four')
  })

  test('a GET stream that the client closes is released, and can be opened again', async () => {
    proves('T-HTTP-043')
    const { url, handler } = await serve(testServer())
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    expect(handler.counts.streams).toBe(1)
    standing.destroy()
    await until(() => handler.counts.streams === 0)
    expect((await session.listen()).status).toBe(200)
  })
})

describe('an answer that takes long', () => {
  test.each([...STREAMABLE, '2026-07-28'])('a slow answer becomes a stream after streamAfterMs, in %s', async (revision) => {
    proves('T-HTTP-017')
    const server = testServer()
    const go = gate()
    server.tool('slow', {}, async () => {
      await go.opened
      return 'done'
    })
    const { url } = await serve(server, { limits: { streamAfterMs: 40 } })
    const startedAt = performance.now()
    const stream =
      revision === '2026-07-28'
        ? await httpStream(url, modern(callTool('slow')))
        : await (await openSession(url, revision)).askStream(callTool('slow'))
    expect(performance.now() - startedAt).toBeGreaterThan(35)
    expect(stream.headers['content-type']).toBe('text/event-stream')
    await stream.untilComments(1)
    go.open()
    expect((await stream.message()).result?.content[0].text).toBe('done')
    expect(await stream.ended).toBe('end')
  })

  test('a fast answer stays JSON, and so does one of a client that accepts nothing else', async () => {
    const server = testServer()
    server.tool('slow', {}, () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 80)))
    const quick = await serve(server, { limits: { streamAfterMs: 5000 } })
    const { headers } = await http(quick.url, modern(callTool('slow')))
    expect(headers['content-type']).toBe('application/json')
    const eager = await serve(server, { limits: { streamAfterMs: 10 } })
    const only = await http(eager.url, modern(callTool('slow'), { accept: 'application/json' }))
    expect(only.headers['content-type']).toBe('application/json')
  })
})

describe('a client that goes away', () => {
  for (const how of ['destroy', 'reset'] as const) {
    test.each(STREAMABLE)(`a disconnect (${how}) is not a cancellation in %s: the result can be fetched`, async (revision) => {
      proves('T-HTTP-030', 'T-HTTP-031', 'T-HTTP-033')
      const server = testServer()
      const go = gate()
      let wasAborted: boolean | undefined
      server.tool('work', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await go.opened
        wasAborted = ctx.signal.aborted
        return 'kept'
      })
      const { url, handler } = await serve(server)
      const session = await openSession(url, revision)
      const stream = await session.askStream(callTool('work', {}, WATCHED))
      await stream.message()
      const { id } = stream.events.at(-1) ?? {}
      stream[how]()
      await until(() => handler.counts.streams === 0)
      expect(handler.counts.inFlight).toBe(1)
      go.open()
      await until(() => handler.counts.inFlight === 0)
      expect(wasAborted).toBe(false)
      const resumed = await session.listen(id)
      expect(await resumed.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'kept' }] } }])
    })

    test(`a disconnect (${how}) cancels a stateless request within 100 ms, and nothing more is written`, async () => {
      proves('R-HTTP-021', 'R-HTTP-022', 'R-HTTP-023', 'R-CANC-006')
      const server = testServer()
      const aborted: number[] = []
      const begun: (() => void)[] = []
      server.tool('work', {}, async (_args, ctx) => {
        await ctx.progress(1)
        begun.shift()?.()
        await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
        aborted.push(performance.now())
        await ctx.progress(2)
        ctx.log.error('late')
        return 'late'
      })
      const { url, handler } = await serve(server)
      const streaming = await httpStream(url, modern(callTool('work', {}, WATCHED)))
      await streaming.message()
      const leftAt = performance.now()
      streaming[how]()
      await until(() => aborted.length === 1)
      expect((aborted[0] as number) - leftAt).toBeLessThan(100)
      await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)

      const waits = gate()
      begun.push(waits.open)
      const controller = new AbortController()
      const { headers, body } = modern(callTool('work'))
      const fetched = fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
        body: JSON.stringify(body),
        signal: controller.signal,
      }).catch((error: Error) => error.name)
      await waits.opened
      controller.abort()
      expect(await fetched).toBe('AbortError')
      await until(() => aborted.length === 2)
      await until(() => handler.counts.inFlight === 0)
    })
  }

  test('300 clients that disconnect, half of each kind, leave nothing behind', async () => {
    const server = testServer()
    let ended = 0
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve())
        setTimeout(resolve, 300)
      })
      ended++
      return 'x'
    })
    const { url, handler } = await serve(server, {
      maxConnectionsPerAddress: 1000,
      limits: { maxInFlightPerSession: 200, maxInFlightPerAddress: 300 },
    })
    const session = await openSession(url, '2025-11-25')
    const streams = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        i % 2 === 0
          ? httpStream(url, modern(callTool('work', {}, WATCHED)))
          : session.askStream({ ...callTool('work', {}, WATCHED), id: i }),
      ),
    )
    for (const [i, stream] of streams.entries()) i % 3 === 0 ? stream.reset() : stream.destroy()
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
    // Of the session 64 are worked on at once, the rest after them.
    await until(() => ended === 300)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
  })

  test.each([
    ['application/json, text/event-stream', 200, 'text/event-stream'],
    ['text/event-stream', 200, 'text/event-stream'],
    ['application/json', 202, undefined],
  ])('a call of a client that accepts %s is cancelled: the POST ends with %i and no body', async (accept, status, type) => {
    const server = testServer()
    const begun = gate()
    server.tool('hold', {}, async (_args, ctx) => {
      begun.open()
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      return 'never'
    })
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const answer = session.ask(callTool('hold'), { accept })
    await begun.opened
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    const { status: got, headers, text } = await answer
    expect([got, headers['content-type'], text]).toEqual([status, type, ''])
  })

  test('notifications/cancelled ends a call of a session, and its stream with it', async () => {
    const server = testServer()
    const aborted = gate()
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      aborted.open()
      return 'never'
    })
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 5 })
    await stream.message()
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    await aborted.opened
    expect(await stream.messages()).toEqual([])
    expect(await stream.ended).toBe('end')
  })
})

describe('streams that only wait', () => {
  test('idle streams send comments after every keepAliveMs of silence', async () => {
    const { url, pass, endpoint } = await serveInFakeTime(testServer(), { limits: { keepAliveMs: 10_000 } })
    const session = await openSession(url, '2025-06-18')
    const standing = await session.listen()
    await standing.untilComments(1)
    await pass(9_000)
    await settled(20)
    expect(standing.comments).toBe(1)
    await pass(1_000)
    await standing.untilComments(2)
    expect(standing.events).toEqual([])
    expect(endpoint.counts.streams).toBe(1)
  })

  test('pings go to the GET stream', async () => {
    proves('T-HTTP-039')
    const { url, pass } = await serveInFakeTime(testServer(), { limits: { pingMs: 5_000 } })
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    await pass(5_000)
    const ping = await standing.message()
    expect(ping).toMatchObject({ jsonrpc: '2.0', method: 'ping' })
    expect((await session.post({ jsonrpc: '2.0', id: ping.id, result: {} })).status).toBe(202)
  })

  test('idle streams end after maxStreamAgeMs in a way that lets the client come back', async () => {
    proves('T-HTTP-022', 'T-HTTP-043', 'T-HTTP-044')
    const server = testServer()
    const { url, pass } = await serveInFakeTime(server, { limits: { maxStreamAgeMs: 60_000, pingMs: 1e9 } })
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    await standing.next()
    await pass(59_000)
    server.log.error('one')
    expect((await standing.message()).params.data).toBe('one')
    await pass(1_000)
    expect(await standing.ended).toBe('end')
    expect(standing.events.at(-1)).toEqual({ retry: '1000' })
    server.log.error('two')
    const again = await session.listen(standing.events.at(-2)?.id)
    expect((await again.message()).params.data).toBe('two')
  })

  test('streams of running requests are not ended for their age', async () => {
    const server = testServer()
    const go = gate()
    server.tool('slow', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await go.opened
      return 'done'
    })
    const { url, pass } = await serveInFakeTime(server, { limits: { maxStreamAgeMs: 5_000, eventTtlMs: 5_000, sessionIdleMs: 5_000 } })
    const session = await openSession(url, '2025-11-25')
    const streams = [await session.askStream(callTool('slow', {}, WATCHED)), await httpStream(url, modern(callTool('slow', {}, WATCHED)))]
    for (const stream of streams) await stream.message()
    await pass(60_000)
    go.open()
    for (const stream of streams) expect((await stream.message()).result?.content[0].text).toBe('done')
  })
})
