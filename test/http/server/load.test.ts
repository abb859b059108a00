import { describe, expect, test } from 'vitest'
import { BodyHold } from '../../../src/http/server/body-hold.ts'
import { Endpoint } from '../../../src/http/server/endpoint.ts'
import { Holder, Holders } from '../../../src/http/server/holders.ts'
import { Load } from '../../../src/http/server/load.ts'
import { OpenStreams } from '../../../src/http/server/open-streams.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../src/http/server/options.ts'
import { answerStateless } from '../../../src/http/server/stateless.ts'
import type { RequestMessage } from '../../../src/jsonrpc/message.ts'
import type { Answering, Service } from '../../../src/protocol/seams/service.ts'
import { selectRevisions } from '../../../src/revisions/index.ts'
import { MODERN, testServer } from '../../support/http-service.ts'
import { envelope } from '../../support/raw-channel.ts'
import { countingClock, TestReply } from './test-sink.ts'

const holdOf = (load: Load, holder: Holder): BodyHold => new BodyHold(load, holder)

const limitsOf = (limits: Partial<HttpLimits>): HttpLimits => ({ ...DEFAULT_HTTP_LIMITS, ...limits })
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
  ] as const)('running requests of a holder by %s are bounded by %s, and released', (kind, limit, status) => {
    const load = new Load(limitsOf({ [limit]: 2 }))
    const holder = new Holder(kind)
    expect([load.enter(holder, holdOf(load, holder)), load.enter(holder, holdOf(load, holder))]).toEqual([undefined, undefined])
    expect(load.enter(holder, holdOf(load, holder))).toMatchObject({ status, limit })
    expect([load.inFlight, holder.inFlight]).toEqual([2, 2])
    load.leave(holder, undefined)
    expect(load.enter(holder, holdOf(load, holder))).toBeUndefined()
  })

  test('running requests of unknown callers have only the bound of the process', () => {
    const load = new Load(limitsOf({ maxInFlightPerAddress: 1, maxInFlightPerPrincipal: 1, maxAbandoned: 1 }))
    const holder = new Holder('unknown')
    for (let i = 0; i < 3; i++) expect(load.enter(holder, holdOf(load, holder))).toBeUndefined()
  })

  test('abandoned requests are bounded, and released', () => {
    const load = new Load(limitsOf({ maxAbandoned: 2 }))
    const holder = new Holder('address')
    load.abandon(holder)
    expect(load.enter(holder, holdOf(load, holder))).toBeUndefined()
    load.abandon(holder)
    expect(load.enter(holder, holdOf(load, holder))).toMatchObject({ status: 429, limit: 'maxAbandoned' })
    expect(load.enter(new Holder('address'), holdOf(load, holder))).toBeUndefined()
    load.unabandon(holder)
    expect(load.enter(holder, holdOf(load, holder))).toBeUndefined()
    expect([load.abandoned, holder.abandoned]).toEqual([1, 1])
  })

  test('running requests are waited for until the last is over, by every waiter', async () => {
    const load = new Load(limitsOf({}))
    const holder = new Holder('address')
    await load.whenIdle()
    load.enter(holder, holdOf(load, holder))
    load.enter(holder, holdOf(load, holder))
    const waiting = [watched(load.whenIdle()), watched(load.whenIdle())]
    load.leave(holder, undefined)
    await Promise.resolve()
    expect(waiting.map(({ isOver }) => isOver)).toEqual([false, false])
    load.leave(holder, undefined)
    await Promise.resolve()
    expect(waiting.map(({ isOver }) => isOver)).toEqual([true, true])
  })
})

describe('open streams', () => {
  test.each([
    [1, undefined],
    [2, 'maxStreams'],
  ])('%i open streams of at most two leave room, or are refused by %s', (open, limit) => {
    const refusal = new Load(limitsOf({ maxStreams: 2 })).faultOfStreams(new Holder('principal'), open)
    expect(refusal?.limit).toBe(limit)
  })

  test('open streams of one address are bounded, those of a principal are not', () => {
    const load = new Load(limitsOf({ maxStreamsPerAddress: 2 }))
    const [address, principal] = [new Holder('address'), new Holder('principal')]
    address.streams = 1
    principal.streams = 2
    expect([load.faultOfStreams(address, 0), load.faultOfStreams(principal, 0)]).toEqual([undefined, undefined])
    address.streams = 2
    expect(load.faultOfStreams(address, 0)).toMatchObject({ status: 429, limit: 'maxStreamsPerAddress' })
    expect(new Load(limitsOf({ maxStreamsPerAddress: false })).faultOfStreams(address, 0)).toBeUndefined()
  })

  test('open streams for subscriptions are bounded for a principal, and released', () => {
    const load = new Load(limitsOf({ maxListensPerPrincipal: 1 }))
    const [principal, address] = [new Holder('principal'), new Holder('address')]
    expect(load.enterListen(principal)).toBeUndefined()
    expect(load.enterListen(principal)).toMatchObject({ status: 429, limit: 'maxListensPerPrincipal' })
    load.leaveListen(principal)
    expect(load.enterListen(principal)).toBeUndefined()
    for (let i = 0; i < 2; i++) expect(load.enterListen(address)).toBeUndefined()
    expect([principal.listens, address.listens]).toEqual([1, 2])
  })
})

describe('a caller', () => {
  const held = {
    inFlight: (holder: Holder) => holder.inFlight++,
    abandoned: (holder: Holder) => holder.abandoned++,
    listens: (holder: Holder) => holder.listens++,
    streams: (holder: Holder) => holder.streams++,
    conversations: (holder: Holder) => holder.conversations++,
    sessions: (holder: Holder) => holder.sessions.add({ id: 's', idleSince: undefined }),
    keptBytes: (holder: Holder) => holder.keptBytes++,
  }

  test.each(Object.entries(held))('a caller that holds only %s is counted as long as it does', async (_what, hold) => {
    const { clock, timers } = countingClock()
    const holders = new Holders(new OpenStreams(DEFAULT_HTTP_LIMITS, clock, () => {}))
    const holder = holders.of(undefined, '192.0.2.1')
    hold(holder)
    expect(holder.isIdle).toBe(false)
    await clock.advance(5_000)
    expect([holders.size, holders.of(undefined, '192.0.2.1') === holder, timers()]).toEqual([1, true, 1])
  })

  test('a caller that holds nothing is forgotten at the next tick, and the timer stops', async () => {
    const { clock, timers } = countingClock()
    const holders = new Holders(new OpenStreams(DEFAULT_HTTP_LIMITS, clock, () => {}))
    const [address, principal] = [holders.of(undefined, '192.0.2.1'), holders.of('me', '192.0.2.1')]
    expect([holders.size, holders.of(undefined, '192.0.2.1') === address, holders.of('me', undefined) === principal]).toEqual([
      2,
      true,
      true,
    ])
    principal.inFlight = 1
    await clock.advance(1_000)
    expect([holders.size, holders.of(undefined, '192.0.2.1') === address, holders.of('me', undefined) === principal]).toEqual([
      1,
      false,
      true,
    ])
    principal.inFlight = 0
    await clock.advance(2_000)
    expect([holders.size, timers()]).toEqual([0, 0])
    // And again for the next one.
    holders.of(undefined, '192.0.2.1')
    await clock.advance(1_000)
    expect([holders.size, timers()]).toEqual([0, 0])
  })

  test('callers without an address count as one, while they hold something', () => {
    const holders = new Holders(new OpenStreams(DEFAULT_HTTP_LIMITS, countingClock().clock, () => {}))
    const holder = holders.of(undefined, undefined)
    expect([holder.kind, holders.size]).toEqual(['unknown', 0])
    holder.inFlight++
    expect([holders.of(undefined, undefined) === holder, holders.size]).toEqual([true, 1])
  })

  test('the caller that holds most is found', () => {
    const holders = new Holders(new OpenStreams(DEFAULT_HTTP_LIMITS, countingClock().clock, () => {}))
    const few = holders.of('few', undefined)
    const many = holders.of(undefined, '192.0.2.1')
    few.keptBytes = 1
    many.keptBytes = 2
    const size = ({ keptBytes }: Holder): number => keptBytes
    expect(holders.largest(size)).toBe(many)
    few.keptBytes = 3
    expect(holders.largest(size)).toBe(few)
  })
})

describe('a request that stands alone', () => {
  const request: RequestMessage = { kind: 'request', id: 1, method: 'ping', params: { _meta: envelope() } } as never

  /** Answers in whatever way `answer` does. */
  function asked(answer: Service['answer']) {
    const limits = limitsOf({})
    const load = new Load(limits)
    const open = new OpenStreams(limits, countingClock().clock, () => {})
    const holder = new Holder('address')
    const reply = new TestReply()
    const service = { answer, mirroredParams: () => [] } as unknown as Service
    const headers: Record<string, string> = { 'mcp-protocol-version': MODERN, 'mcp-method': 'ping' }
    const ask = { header: (name: string) => headers[name], count: () => 1 } as never
    const start = (): unknown =>
      answerStateless(
        request,
        { ask, reply, principal: undefined, holder, access: null, kinds: { json: true, events: true }, body: holdOf(load, holder) },
        { service, supported: selectRevisions([MODERN]), limits, load, open, canListen: true, requireMcpHeaders: false },
      )
    return { load, holder, reply, start }
  }

  const answering = (): Answering & { reasons: unknown[] } => {
    const reasons: unknown[] = []
    return { reasons, onStopped: undefined, cancel: (reason) => void reasons.push(reason), finish: () => {} }
  }

  test('a stateless request is cancelled once when its client leaves, and abandoned until it stops', () => {
    const work = answering()
    const { load, holder, reply, start } = asked(() => work)
    expect(start()).toBeUndefined()
    reply.leave()
    reply.leave()
    expect([work.reasons.length, load.abandoned, holder.abandoned]).toEqual([1, 1, 1])
    work.onStopped?.()
    work.onStopped?.()
    expect([load.abandoned, holder.abandoned]).toEqual([0, 0])
  })

  test('a stateless request is cancelled also when its client leaves during its start', () => {
    const work = answering()
    const { load, reply, start } = asked(() => {
      reply.leave()
      return work
    })
    start()
    expect([work.reasons.length, load.abandoned]).toEqual([1, 1])
    expect(String(work.reasons[0])).toContain('The client went away')
  })

  test('a stateless request is not cancelled after its answer', () => {
    const work = answering()
    const { load, reply, start } = asked((_request, outlet) => {
      outlet.answer('{}')
      return work
    })
    start()
    reply.leave()
    expect([work.reasons, load.abandoned, load.inFlight, reply.sent]).toEqual([[], 0, 0, [{ status: 200, body: '{}' }]])
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
        body: (_bounds, _grow, done) => done(body, undefined),
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
    { inFlight: 0, abandoned: 0, streams: 0, sessions: 0, legacySessions: 0, callers: 0, keptBytes: 0, bodyBytes: 0 },
    0,
  ])
})
