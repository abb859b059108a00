import { describe, expect, test } from 'vitest'
import type { AllHttpLimits } from '../../../src/http/server/fixed-limits.ts'
import { httpStream } from '../../support/http-requests.ts'
import {
  callTool,
  gate,
  type HttpSession,
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

const POLLED = '2025-11-25'
const OLDER = ['2025-03-26', '2025-06-18']

/** A tool that tells its progress `count` times, then waits to be let go on. */
function counting() {
  const server = testServer()
  const go = gate()
  server.tool('count', { input: { type: 'object', properties: { to: { type: 'integer' } } } }, async ({ to }, ctx) => {
    for (let i = 1; i <= Number(to); i++) await ctx.progress(i)
    await go.opened
    return `counted to ${to}`
  })
  return { server, go }
}

const count = (to: number, id = 1) => ({ ...callTool('count', { to }, WATCHED), id })

async function refusalOf(session: HttpSession, lastEventId: string): Promise<[number, string | undefined]> {
  const stream = await session.listen(lastEventId)
  const { error } = await stream.whole()
  return [stream.status, error?.message]
}

describe('event ids', () => {
  test('event ids are unique in the session, and each names its stream and its place in it', async () => {
    proves('T-HTTP-050', 'T-HTTP-051', 'T-HTTP-052', 'T-HTTP-053')
    const { server, go } = counting()
    const { url } = await serve(server)
    const session = await openSession(url, POLLED)
    const standing = await session.listen()
    const streams = [await session.askStream(count(5, 1)), await session.askStream(count(5, 2)), standing]
    go.open()
    await streams[0]?.ended
    await streams[1]?.ended
    server.log.error('one')
    await standing.message()
    const ids = streams.map(({ events }) => events.map(({ id }) => String(id)))
    expect(new Set(ids.flat()).size).toBe(7 + 7 + 2)
    const prefixes = ids.map((each) => new Set(each.map((id) => id.slice(0, id.lastIndexOf('.')))))
    for (const prefix of prefixes) expect(prefix.size).toBe(1)
    expect(new Set(prefixes.flatMap((each) => [...each])).size).toBe(3)
    expect(ids[0]?.map((id) => Number(id.slice(id.lastIndexOf('.') + 1)))).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('a stream begins with an empty event with an id and the retry time, from 2025-11-25 on', async () => {
    proves('T-HTTP-019', 'R-VER-007')
    const { server, go } = counting()
    go.open()
    const { url } = await serve(server)
    const session = await openSession(url, POLLED)
    for (const stream of [await session.askStream(count(1)), await session.listen()])
      expect(await stream.next()).toEqual({ id: expect.stringMatching(/\.0$/), retry: '1000', data: '' })
    for (const revision of OLDER) {
      const older = await openSession(url, revision)
      const stream = await older.askStream(count(1))
      await stream.ended
      expect(stream.text).toMatch(/^event: message\nid: /)
      expect(stream.text).not.toContain('retry')
      const standing = await older.listen()
      await standing.untilComments(1)
      expect(standing.events).toEqual([])
    }
  })
})

describe('a stream that broke', () => {
  test.each(STREAMABLE)('a broken stream is resumed by GET after the named event, nothing lost or doubled, in %s', async (revision) => {
    proves('T-HTTP-033', 'T-HTTP-042', 'T-HTTP-053', 'T-HTTP-055', 'T-HTTP-056', 'T-HTTP-057')
    const { server, go } = counting()
    const { url, handler } = await serve(server)
    const session = await openSession(url, revision)
    const first = await session.askStream(count(10, 1))
    const other = await session.askStream(count(10, 2))
    const messages = (stream: typeof first) => stream.events.filter(({ data }) => data)
    await until(() => messages(first).length === 10 && messages(other).length === 10)
    const lastSeen = messages(first)[3]?.id
    first.destroy()
    await until(() => handler.counts.streams === 1)
    const resumed = await session.listen(lastSeen)
    go.open()
    const rest = await resumed.messages()
    expect(rest.map((message) => message.params?.progress ?? message.id)).toEqual([5, 6, 7, 8, 9, 10, 1])
    expect((await other.messages()).at(-1)?.id).toBe(2)
    // Over and delivered, it can be asked for once more: the answer that was not seen is there, and then the end.
    const again = await session.listen(resumed.events.at(-2)?.id)
    expect(await again.messages()).toMatchObject([{ id: 1 }])
    const nothing = await session.listen(resumed.events.at(-1)?.id)
    expect([nothing.status, await nothing.messages(), await nothing.ended]).toEqual([200, [], 'end'])
  })

  test('the GET stream is resumed in the same way, with the events in between', async () => {
    proves('T-HTTP-044', 'T-HTTP-049')
    const server = testServer()
    const { url, handler } = await serve(server)
    const session = await openSession(url, POLLED)
    const standing = await session.listen()
    server.log.error('one')
    await standing.message()
    standing.destroy()
    await until(() => handler.counts.streams === 0)
    server.log.error('two')
    server.log.error('three')
    const resumed = await session.listen(standing.events.at(-1)?.id)
    expect([(await resumed.message()).params.data, (await resumed.message()).params.data]).toEqual(['two', 'three'])
  })

  test('resuming a stream that still seems open takes it over', async () => {
    const server = testServer()
    const { url, handler } = await serve(server)
    const session = await openSession(url, POLLED)
    const standing = await session.listen()
    server.log.error('one')
    await standing.message()
    const resumed = await session.listen(standing.events.at(-1)?.id)
    expect(await standing.ended).toBe('end')
    server.log.error('two')
    expect((await resumed.message()).params.data).toBe('two')
    expect(handler.counts.streams).toBe(1)
  })
})

describe('event ids that are not good', () => {
  test('event ids that are forged, garbled, or of another session or stream are answered 400', async () => {
    proves('T-HTTP-056', 'T-SEC-006')
    const { server, go } = counting()
    go.open()
    const { url } = await serve(server)
    const alice = await openSession(url, POLLED)
    const mallory = await openSession(url, POLLED)
    const stream = await alice.askStream(count(3))
    await stream.ended
    const id = String(stream.events[1]?.id)
    const [prefix, number] = id.split('.')
    expect(await refusalOf(mallory, id)).toEqual([400, 'The last event id does not belong to this session'])
    expect(await refusalOf(alice, `${prefix}.${number}.5`)).toEqual([400, 'The last event id names an event that was not sent'])
    expect(await refusalOf(alice, `${prefix}.${number}.999999999999999`)).toEqual([400, expect.stringContaining('was not sent')])
    expect(await refusalOf(alice, `${prefix}.77.1`)).toEqual([400, 'The stream of that event id is no longer kept'])
    for (const forged of [
      'x',
      '',
      `${prefix}`,
      `${prefix}.1`,
      `${prefix}.1.-1`,
      `${prefix}.1.1.1`,
      `${prefix}.1.1e3`,
      `${prefix}.0x1.1`,
      `${prefix}A.1.1`,
      `${prefix}.1.9999999999999999`,
    ])
      expect(await refusalOf(alice, forged), forged).toEqual([400, 'The last event id does not belong to this session'])
    const good = await alice.listen(id)
    expect((await good.messages()).map((message) => message.params?.progress ?? message.id)).toEqual([2, 3, 1])
  })

  test('an event that is no longer stored is reported, not skipped silently', async () => {
    const { server, go } = counting()
    go.open()
    const limits: Partial<AllHttpLimits> = { maxEvents: 4 }
    const { url } = await serve(server, { limits })
    const session = await openSession(url, POLLED)
    const stream = await session.askStream(count(9))
    await stream.ended
    // Sent: 1 to 9 and the answer, 10. Kept: 7 to 10.
    const id = (sequence: number) => String(stream.events[sequence]?.id)
    expect(stream.events).toHaveLength(11)
    expect(await refusalOf(session, id(5))).toEqual([400, 'Events after that id are no longer kept'])
    expect(await (await session.listen(id(6))).messages()).toHaveLength(4)
    expect(await (await session.listen(id(7))).messages()).toHaveLength(3)
  })

  test('a second GET is answered 409 and the first continues', async () => {
    const server = testServer()
    const { url } = await serve(server)
    const session = await openSession(url, POLLED)
    const first = await session.listen()
    const second = await session.listen()
    expect([second.status, (await second.whole()).error?.code]).toEqual([409, -32600])
    server.log.error('still here')
    expect((await first.message()).params.data).toBe('still here')
  })
})

describe('what is kept of streams', () => {
  test('stored events are bounded in bytes, though the last event is always stored', async () => {
    const server = testServer()
    server.tool('big', {}, async (_args, ctx) => {
      for (let i = 1; i <= 4; i++) await ctx.progress(i, 5, 'x'.repeat(900))
      return 'y'.repeat(5000)
    })
    const { url } = await serve(server, { limits: { maxEventBytes: 2200 } })
    const session = await openSession(url, POLLED)
    const stream = await session.askStream(callTool('big', {}, WATCHED))
    await stream.ended
    expect(await refusalOf(session, String(stream.events[3]?.id))).toEqual([400, 'Events after that id are no longer kept'])
    expect(await (await session.listen(stream.events[4]?.id)).messages()).toMatchObject([{ id: 1 }])
  })

  /** A tool whose answer has about `size` bytes, asked for as a stream. */
  async function largeAnswers(limits: Partial<AllHttpLimits>, text = 'x') {
    const server = testServer()
    server.tool('large', { input: { type: 'object', properties: { size: { type: 'integer' } } } }, ({ size }) => text.repeat(Number(size)))
    const serving = await serve(server, { limits, trustProxy: true })
    const open = (address: string) => openSession(serving.url, POLLED, { headers: { 'x-forwarded-for': address } })
    const ask = async (session: HttpSession, size: number, id: number): Promise<string> => {
      const stream = await session.askStream({ ...callTool('large', { size }), id }, { accept: 'text/event-stream' })
      await stream.ended
      return String(stream.events[0]?.id)
    }
    return { ...serving, open, ask }
  }
  const isKept = async (session: HttpSession, id: string): Promise<boolean> => (await session.listen(id)).status === 200

  test('stored events take maxKeptBytesPerSession per session: the oldest ended streams go first', async () => {
    const { open, ask, handler } = await largeAnswers({ maxKeptBytesPerSession: 10_000 })
    const session = await open('192.0.2.1')
    const other = await open('192.0.2.1')
    const others = await ask(other, 3_000, 1)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push(await ask(session, 3_000, i))
    expect(await Promise.all(ids.map((id) => isKept(session, id)))).toEqual([false, false, true, true, true])
    expect(await isKept(other, others)).toBe(true)
    expect(handler.counts.keptBytes).toBeLessThan(14_000)
    // One that is larger than all there is room for is delivered and not kept.
    expect(await isKept(session, await ask(session, 11_000, 9))).toBe(false)
  })

  test('stored events take maxKeptBytes in all: the largest holder loses some, others nothing', async () => {
    const { open, ask, handler } = await largeAnswers({ maxKeptBytes: 40_000 })
    const small = await open('192.0.2.1')
    const smalls = await ask(small, 3_000, 1)
    const greedy = await Promise.all([1, 2, 3].map(() => open('192.0.2.2')))
    const ids: [HttpSession, string][] = []
    for (let i = 0; i < 30; i++) {
      const session = greedy[i % 3] as HttpSession
      ids.push([session, await ask(session, 3_000, i)])
      expect(handler.counts.keptBytes).toBeLessThanOrEqual(40_000)
    }
    expect(await isKept(small, smalls)).toBe(true)
    expect(await Promise.all(ids.slice(0, 15).map(([session, id]) => isKept(session, id)))).not.toContain(true)
    expect(await Promise.all(ids.slice(-8).map(([session, id]) => isKept(session, id)))).not.toContain(false)
  })

  test('stored events count two bytes a character where one of them needs two', async () => {
    const { open, ask, handler } = await largeAnswers({}, 'ж')
    await ask(await open('192.0.2.1'), 10_000, 1)
    expect(handler.counts.keptBytes).toBeGreaterThan(20_000)
  })

  test('stored events of a stream without a reader are bounded too, and losses are reported', async () => {
    const { server, go } = counting()
    const { url, handler } = await serve(server, { limits: { maxKeptBytes: 20_000 } })
    const session = await openSession(url, POLLED)
    const stream = await session.askStream(count(1_000))
    await until(() => stream.events.filter(({ data }) => data).length === 1_000)
    const early = String(stream.events[1]?.id)
    const late = String(stream.events.at(-1)?.id)
    stream.destroy()
    expect(handler.counts.keptBytes).toBeLessThanOrEqual(20_000)
    expect(await refusalOf(session, early)).toEqual([400, 'Events after that id are no longer kept'])
    const resumed = await session.listen(late)
    go.open()
    expect((await resumed.message()).result?.content[0].text).toBe('counted to 1000')
  })

  test('stored events are released when the session ends', async () => {
    const { open, ask, handler } = await largeAnswers({})
    const session = await open('192.0.2.1')
    await ask(session, 5_000, 1)
    await session.listen()
    expect(handler.counts.keptBytes).toBeGreaterThan(5_000)
    await session.end()
    expect(handler.counts).toMatchObject({ keptBytes: 0, streams: 0, sessions: 0 })
    await until(() => handler.counts.callers === 0)
  })

  test('stored events are forgotten eventTtlMs after the client left', async () => {
    const { server, go } = counting()
    go.open()
    const { url, pass } = await serveInFakeTime(server, { limits: { eventTtlMs: 10_000 } })
    const session = await openSession(url, POLLED)
    const stream = await session.askStream(count(3))
    await stream.ended
    await pass(9_000)
    const kept = await session.listen(stream.events[1]?.id)
    expect(await kept.messages()).toHaveLength(3)
    await pass(9_000)
    expect(await (await session.listen(stream.events[1]?.id)).messages()).toHaveLength(3)
    await pass(11_000)
    expect(await refusalOf(session, String(stream.events[1]?.id))).toEqual([400, 'The stream of that event id is no longer kept'])
  })

  test('stored events are those of at most 16 ended streams of one session', async () => {
    const { server, go } = counting()
    go.open()
    const { url } = await serve(server)
    const session = await openSession(url, POLLED)
    const ids: string[] = []
    for (let i = 0; i < 17; i++) {
      const stream = await session.askStream(count(1, i))
      await stream.ended
      ids.push(String(stream.events[0]?.id))
    }
    expect((await refusalOf(session, ids[0] as string))[1]).toBe('The stream of that event id is no longer kept')
    expect((await session.listen(ids[1])).status).toBe(200)
    expect((await session.listen(ids[16])).status).toBe(200)
  })

  test('one stream that is resumed again and again displaces no other', async () => {
    const { server, go } = counting()
    go.open()
    const { url } = await serve(server)
    const session = await openSession(url, POLLED)
    const ids: string[] = []
    for (let i = 0; i < 16; i++) {
      const stream = await session.askStream(count(1, i))
      await stream.ended
      ids.push(String(stream.events[0]?.id))
    }
    for (let i = 0; i < 5; i++) await (await session.listen(ids[1])).ended
    expect((await session.listen(ids[0])).status).toBe(200)
    expect((await session.listen(ids[1])).status).toBe(200)
  })
})

describe('an answer that was sent at once', () => {
  const hi = (id: number) => ({ ...callTool('hi'), id })
  const EVENTS = { accept: 'text/event-stream' }

  test('it can be read again, as often as the client likes', async () => {
    const { url, handler } = await serve(testServer())
    const session = await openSession(url, POLLED)
    const sent = await session.askStream(hi(7), EVENTS)
    await sent.ended
    const [first, answer] = sent.events
    const { keptBytes } = handler.counts
    for (let i = 0; i < 3; i++) {
      const again = await session.listen(first?.id)
      await again.ended
      expect(again.events).toEqual([first, answer])
      const nothing = await session.listen(answer?.id)
      expect([nothing.status, await nothing.messages()]).toEqual([200, []])
    }
    expect(handler.counts).toMatchObject({ streams: 0, abandoned: 0 })
    // The answer is not kept a second time.
    expect(handler.counts.keptBytes).toBeLessThanOrEqual(keptBytes)
    await session.end()
    expect(handler.counts.keptBytes).toBe(0)
  })

  test.each(OLDER)('in %s its only event has an id, and nothing comes after it', async (revision) => {
    const { url } = await serve(testServer())
    const session = await openSession(url, revision)
    const sent = await session.askStream(hi(1), EVENTS)
    await sent.ended
    expect(sent.text).toMatch(/^event: message\nid: \S+\.1\ndata: /)
    const nothing = await session.listen(sent.events[0]?.id)
    expect([nothing.status, await nothing.messages()]).toEqual([200, []])
  })

  test('it is one of at most 16, and reading it again displaces no other', async () => {
    const { url } = await serve(testServer())
    const session = await openSession(url, POLLED)
    const ids: (string | undefined)[] = []
    for (let i = 0; i < 17; i++) {
      const sent = await session.askStream(hi(i), EVENTS)
      await sent.ended
      ids.push(sent.events[0]?.id)
    }
    for (let i = 0; i < 3; i++) await (await session.listen(ids[2])).ended
    expect(await refusalOf(session, String(ids[0]))).toEqual([400, 'The stream of that event id is no longer kept'])
    for (const i of [1, 2, 16]) expect(await (await session.listen(ids[i])).messages()).toMatchObject([{ id: i }])
  })

  test('it is forgotten after eventTtlMs, and attempts that are refused do not keep it', async () => {
    const { url, pass, endpoint } = await serveInFakeTime(testServer(), { limits: { eventTtlMs: 10_000 } })
    const session = await openSession(url, POLLED)
    const sent = await session.askStream(hi(1), EVENTS)
    await sent.ended
    const id = String(sent.events[0]?.id)
    await pass(9_000)
    const unsent = `${id.slice(0, -1)}9`
    expect(await refusalOf(session, unsent)).toEqual([400, 'The last event id names an event that was not sent'])
    await pass(2_000)
    expect(await refusalOf(session, id)).toEqual([400, 'The stream of that event id is no longer kept'])
    expect(endpoint.counts.keptBytes).toBe(0)
  })
})

describe('a call that lets its client hang up', () => {
  test('2025-11-25: the connection ends with a retry time, and the answer waits for the client', async () => {
    proves('T-HTTP-020', 'T-HTTP-022', 'R-VER-007')
    const server = testServer()
    const go = gate()
    server.tool('long', {}, async (_args, ctx) => {
      ctx.release()
      await go.opened
      return 'done at last'
    })
    const { url, handler } = await serve(server)
    const session = await openSession(url, POLLED)
    const stream = await session.askStream(callTool('long'))
    expect(await stream.ended).toBe('end')
    expect(stream.events).toEqual([{ id: expect.stringMatching(/\.0$/), retry: '1000', data: '' }, { retry: '1000' }])
    expect(handler.counts).toMatchObject({ inFlight: 1, streams: 0 })
    const waiting = await session.listen(stream.events[0]?.id)
    expect((await waiting.next())?.data).toBe('')
    go.open()
    expect(await waiting.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'done at last' }] } }])
    expect(await waiting.ended).toBe('end')
  })

  test.each([...OLDER, '2026-07-28'])('%s: no connection is ended before the answer', async (revision) => {
    proves('T-HTTP-027', 'R-VER-007')
    const server = testServer()
    server.tool('long', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.release()
      await new Promise((resolve) => setTimeout(resolve, 60))
      return 'done'
    })
    const { url } = await serve(server)
    const call = callTool('long', {}, WATCHED)
    if (revision === '2026-07-28') {
      expect((await (await httpStream(url, modern(call))).messages()).at(-1)?.result?.content[0].text).toBe('done')
      return
    }
    const session = await openSession(url, revision)
    const stream = await session.askStream(call)
    const messages = await stream.messages()
    expect(messages).toHaveLength(2)
    expect(messages[1]?.result?.content[0].text).toBe('done')
    expect(stream.text).not.toContain('retry')
  })
})
