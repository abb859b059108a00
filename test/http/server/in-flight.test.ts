import { describe, expect, test } from 'vitest'
import { Endpoint } from '../../../src/http/server/endpoint.ts'
import { type AllHttpLimits, FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { BodyMemory } from '../../../src/http/server/limits/body-memory.ts'
import { CallerUsage, UsageByCaller } from '../../../src/http/server/limits/caller-usage.ts'
import { InFlight } from '../../../src/http/server/limits/in-flight.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/server/options.ts'
import { answerStateless } from '../../../src/http/server/stateless.ts'
import { OpenStreams } from '../../../src/http/server/streams/open-streams.ts'
import type { RequestMessage } from '../../../src/jsonrpc/message.ts'
import type { Answering, Service } from '../../../src/protocol/interfaces/service.ts'
import { selectRevisions } from '../../../src/revisions/index.ts'
import { MODERN, testServer } from '../../support/http-service.ts'
import { envelope } from '../../support/raw-channel.ts'
import { countingClock, TestReply } from './test-sink.ts'

const holdOf = (inFlight: InFlight, usage: CallerUsage): BodyMemory => new BodyMemory(inFlight, usage)

const limitsOf = (limits: Partial<AllHttpLimits>): AllHttpLimits => ({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, ...limits })
const watched = (promise: Promise<unknown>): { isOver: boolean } => {
  const state = { isOver: false }
  void promise.then(() => {
    state.isOver = true
  })
  return state
}

describe('requests in hand', () => {
  test.each([
    ['principal', 'maxInFlightPerPrincipal', 429],
    ['address', 'maxInFlightPerAddress', 429],
    ['principal', 'maxInFlight', 503],
    ['address', 'maxInFlight', 503],
    ['unknown', 'maxInFlight', 503],
  ] as const)('running requests of a usage by %s are limited by %s, and released', (kind, limit, status) => {
    const inFlight = new InFlight(limitsOf({ [limit]: 2 }))
    const usage = new CallerUsage(kind)
    expect([inFlight.enter(usage, holdOf(inFlight, usage)), inFlight.enter(usage, holdOf(inFlight, usage))]).toEqual([undefined, undefined])
    expect(inFlight.enter(usage, holdOf(inFlight, usage))).toMatchObject({ status, limit })
    expect([inFlight.requests, usage.inFlight]).toEqual([2, 2])
    inFlight.leave(usage, undefined)
    expect(inFlight.enter(usage, holdOf(inFlight, usage))).toBeUndefined()
  })

  test('running requests of unknown callers have only the limit of the process', () => {
    const inFlight = new InFlight(limitsOf({ maxInFlightPerAddress: 1, maxInFlightPerPrincipal: 1, maxAbandoned: 1 }))
    const usage = new CallerUsage('unknown')
    for (let i = 0; i < 3; i++) expect(inFlight.enter(usage, holdOf(inFlight, usage))).toBeUndefined()
  })

  test('abandoned requests are bounded, and released', () => {
    const inFlight = new InFlight(limitsOf({ maxAbandoned: 2 }))
    const usage = new CallerUsage('address')
    inFlight.abandon(usage)
    expect(inFlight.enter(usage, holdOf(inFlight, usage))).toBeUndefined()
    inFlight.abandon(usage)
    expect(inFlight.enter(usage, holdOf(inFlight, usage))).toMatchObject({ status: 429, limit: 'maxAbandoned' })
    expect(inFlight.enter(new CallerUsage('address'), holdOf(inFlight, usage))).toBeUndefined()
    inFlight.unabandon(usage)
    expect(inFlight.enter(usage, holdOf(inFlight, usage))).toBeUndefined()
    expect([inFlight.abandoned, usage.abandoned]).toEqual([1, 1])
  })

  test('running requests are waited for until the last is over, by every waiter', async () => {
    const inFlight = new InFlight(limitsOf({}))
    const usage = new CallerUsage('address')
    await inFlight.whenIdle()
    inFlight.enter(usage, holdOf(inFlight, usage))
    inFlight.enter(usage, holdOf(inFlight, usage))
    const waiting = [watched(inFlight.whenIdle()), watched(inFlight.whenIdle())]
    inFlight.leave(usage, undefined)
    await Promise.resolve()
    expect(waiting.map(({ isOver }) => isOver)).toEqual([false, false])
    inFlight.leave(usage, undefined)
    await Promise.resolve()
    expect(waiting.map(({ isOver }) => isOver)).toEqual([true, true])
  })
})

describe('open streams', () => {
  test.each([
    [1, undefined],
    [2, 'maxStreams'],
  ])('%i open streams of at most two leave room, or are refused by %s', (open, limit) => {
    const refusal = new InFlight(limitsOf({ maxStreams: 2 })).checkStreams(new CallerUsage('principal'), open)
    expect(refusal?.limit).toBe(limit)
  })

  test('open streams of one address are bounded, those of a principal are not', () => {
    const inFlight = new InFlight(limitsOf({ maxStreamsPerAddress: 2 }))
    const [address, principal] = [new CallerUsage('address'), new CallerUsage('principal')]
    address.streams = 1
    principal.streams = 2
    expect([inFlight.checkStreams(address, 0), inFlight.checkStreams(principal, 0)]).toEqual([undefined, undefined])
    address.streams = 2
    expect(inFlight.checkStreams(address, 0)).toMatchObject({ status: 429, limit: 'maxStreamsPerAddress' })
    expect(new InFlight(limitsOf({ maxStreamsPerAddress: false })).checkStreams(address, 0)).toBeUndefined()
  })

  test('open streams for subscriptions are bounded for a principal, and released', () => {
    const inFlight = new InFlight(limitsOf({ maxListensPerPrincipal: 1 }))
    const [principal, address] = [new CallerUsage('principal'), new CallerUsage('address')]
    expect(inFlight.enterListen(principal)).toBeUndefined()
    expect(inFlight.enterListen(principal)).toMatchObject({ status: 429, limit: 'maxListensPerPrincipal' })
    inFlight.leaveListen(principal)
    expect(inFlight.enterListen(principal)).toBeUndefined()
    for (let i = 0; i < 2; i++) expect(inFlight.enterListen(address)).toBeUndefined()
    expect([principal.listens, address.listens]).toEqual([1, 2])
  })
})

describe('a caller', () => {
  const held = {
    inFlight: (usage: CallerUsage) => usage.inFlight++,
    abandoned: (usage: CallerUsage) => usage.abandoned++,
    listens: (usage: CallerUsage) => usage.listens++,
    streams: (usage: CallerUsage) => usage.streams++,
    legacySessions: (usage: CallerUsage) => usage.legacySessions++,
    sessions: (usage: CallerUsage) => usage.sessions.add({ id: 's', idleSince: undefined }),
    keptBytes: (usage: CallerUsage) => usage.keptBytes++,
  }

  test.each(Object.entries(held))('a caller that holds only %s is counted as long as it does', async (_what, hold) => {
    const { clock, timers } = countingClock()
    const usages = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, clock, () => {}))
    const usage = usages.of(undefined, '192.0.2.1')
    hold(usage)
    expect(usage.isIdle).toBe(false)
    await clock.advance(5_000)
    expect([usages.size, usages.of(undefined, '192.0.2.1') === usage, timers()]).toEqual([1, true, 1])
  })

  test('a caller that holds nothing is forgotten at the next tick, and the timer stops', async () => {
    const { clock, timers } = countingClock()
    const usages = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, clock, () => {}))
    const [address, principal] = [usages.of(undefined, '192.0.2.1'), usages.of('me', '192.0.2.1')]
    expect([usages.size, usages.of(undefined, '192.0.2.1') === address, usages.of('me', undefined) === principal]).toEqual([2, true, true])
    principal.inFlight = 1
    await clock.advance(1_000)
    expect([usages.size, usages.of(undefined, '192.0.2.1') === address, usages.of('me', undefined) === principal]).toEqual([1, false, true])
    principal.inFlight = 0
    await clock.advance(2_000)
    expect([usages.size, timers()]).toEqual([0, 0])
    // And again for the next one.
    usages.of(undefined, '192.0.2.1')
    await clock.advance(1_000)
    expect([usages.size, timers()]).toEqual([0, 0])
  })

  test('callers without an address count as one, while they hold something', () => {
    const usages = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, countingClock().clock, () => {}))
    const usage = usages.of(undefined, undefined)
    expect([usage.kind, usages.size]).toEqual(['unknown', 0])
    usage.inFlight++
    expect([usages.of(undefined, undefined) === usage, usages.size]).toEqual([true, 1])
  })

  test('the caller that holds most is found', () => {
    const usages = new UsageByCaller(new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }, countingClock().clock, () => {}))
    const few = usages.of('few', undefined)
    const many = usages.of(undefined, '192.0.2.1')
    few.keptBytes = 1
    many.keptBytes = 2
    const size = ({ keptBytes }: CallerUsage): number => keptBytes
    expect(usages.largest(size)).toBe(many)
    few.keptBytes = 3
    expect(usages.largest(size)).toBe(few)
  })
})

describe('a request that stands alone', () => {
  const request: RequestMessage = { kind: 'request', id: 1, method: 'ping', params: { _meta: envelope() } } as never

  /** Answers in whatever way `answer` does. */
  function asked(answer: Service['answer']) {
    const limits = limitsOf({})
    const inFlight = new InFlight(limits)
    const open = new OpenStreams(limits, countingClock().clock, () => {})
    const usage = new CallerUsage('address')
    const reply = new TestReply()
    const service = { answer, mirroredParams: () => [] } as unknown as Service
    const headers: Record<string, string> = { 'mcp-protocol-version': MODERN, 'mcp-method': 'ping' }
    const view = { header: (name: string) => headers[name], count: () => 1 } as never
    const start = (): unknown =>
      answerStateless(
        request,
        {
          request: view,
          reply,
          principal: undefined,
          usage,
          access: null,
          accepts: { json: true, events: true },
          body: holdOf(inFlight, usage),
        },
        { service, supported: selectRevisions([MODERN]), limits, inFlight, open, canListen: true, requireMcpHeaders: false },
      )
    return { inFlight, usage, reply, start }
  }

  const answering = (): Answering & { reasons: unknown[] } => {
    const reasons: unknown[] = []
    return { reasons, onStopped: undefined, cancel: (reason) => void reasons.push(reason), finish: () => {} }
  }

  test('a stateless request is cancelled once when its client leaves, and abandoned until it stops', () => {
    const work = answering()
    const { inFlight, usage, reply, start } = asked(() => work)
    expect(start()).toBeUndefined()
    reply.leave()
    reply.leave()
    expect([work.reasons.length, inFlight.abandoned, usage.abandoned]).toEqual([1, 1, 1])
    work.onStopped?.()
    work.onStopped?.()
    expect([inFlight.abandoned, usage.abandoned]).toEqual([0, 0])
  })

  test('a stateless request is cancelled also when its client leaves during its start', () => {
    const work = answering()
    const { inFlight, reply, start } = asked(() => {
      reply.leave()
      return work
    })
    start()
    expect([work.reasons.length, inFlight.abandoned]).toEqual([1, 1])
    expect(String(work.reasons[0])).toContain('The client disconnected')
  })

  test('a stateless request is not cancelled after its answer', () => {
    const work = answering()
    const { inFlight, reply, start } = asked((_request, outlet) => {
      outlet.answer('{}')
      return work
    })
    start()
    reply.leave()
    expect([work.reasons, inFlight.abandoned, inFlight.requests, reply.sent]).toEqual([[], 0, 0, [{ status: 200, body: '{}' }]])
  })
})

test('sessions end when unused, and the timer ends with the last of them', async () => {
  const { clock, timers } = countingClock()
  const endpoint = new Endpoint(testServer(), {}, clock)
  const headers = (more: Record<string, string>): Record<string, string> => ({
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  })
  const send = async (method: string, body: string, more: Record<string, string> = {}): Promise<{ status: number; id: string }> => {
    const all = headers(more)
    let id = ''
    const reply = new TestReply()
    const send = reply.send.bind(reply)
    reply.send = (status, sent, text) => {
      id = sent['mcp-session-id'] ?? ''
      send(status, sent, text)
    }
    endpoint.handle(
      {
        method,
        url: '/mcp',
        header: (name) => all[name],
        count: (name) => (name in all ? 1 : 0),
        headerCount: Object.keys(all).length,
        isLocal: true,
        remoteAddress: '127.0.0.1',
        proxies: 0,
        body: (_bounds, _room, done) => done(body, undefined),
      },
      reply,
    )
    for (let i = 0; i < 50 && reply.sent.length === 0; i++) await new Promise((resolve) => setImmediate(resolve))
    return { status: reply.sent[0]?.status ?? 0, id: reply.extraHeaders?.['mcp-session-id'] ?? id }
  }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  const open = (): Promise<{ status: number; id: string }> =>
    send('POST', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  const sessions = [await open(), await open()]
  expect(sessions.map(({ status, id }) => [status, id !== ''])).toEqual([
    [200, true],
    [200, true],
  ])
  await clock.advance(10_000)
  expect([endpoint.counts.sessions, timers()]).toEqual([2, 1])
  // Those that nobody uses end by themselves.
  const { id: idle } = await open()
  await clock.advance(DEFAULT_HTTP_LIMITS.sessionIdleMs / 2)
  for (const { id } of sessions) await send('POST', '{"jsonrpc":"2.0","id":2,"method":"ping"}', { 'mcp-session-id': id })
  await clock.advance(DEFAULT_HTTP_LIMITS.sessionIdleMs / 2)
  expect([endpoint.counts.sessions, (await send('DELETE', '', { 'mcp-session-id': idle })).status]).toEqual([2, 404])
  for (const { id } of sessions) expect((await send('DELETE', '', { 'mcp-session-id': id })).status).toBeLessThan(300)
  await clock.advance(10_000)
  expect([endpoint.counts, timers()]).toEqual([
    { inFlight: 0, tasks: 0, abandoned: 0, streams: 0, sessions: 0, legacySessions: 0, callers: 0, keptBytes: 0, bodyBytes: 0 },
    0,
  ])
})

test('a writer has to wait before its reader is disconnected', () => {
  const { softBufferBytes, hardBufferBytes } = new Endpoint(testServer(), {}).limits
  expect(softBufferBytes).toBe(hardBufferBytes / 4)
})

test('a program cannot change the fixed limits of a handler', () => {
  const limits = { maxAbandoned: 1, streamAfterMs: 1, maxInFlight: 5 }
  expect(() => new Endpoint(testServer(), { limits })).toThrow('limits: unknown member "maxAbandoned"')
  expect(new Endpoint(testServer(), { limits: { maxInFlight: 5 } }).limits).toMatchObject({ ...FIXED_HTTP_LIMITS, maxInFlight: 5 })
})
