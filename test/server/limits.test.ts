import { describe, expect, test } from 'vitest'
import { createServer, DEFAULT_LIMITS } from '../../src/server/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel, settle } from '../support/raw-channel.ts'

describe('rates', () => {
  test('tool calls of one caller are limited by default: 200 at once, 100 a second after that', async () => {
    proves('T-TOOL-043')
    const clock = fakeClock()
    const server = createServer({ name: 'x', version: '1', clock })
    server.tool('t', {}, () => 'x')
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    const call = async () => (await raw.ask('tools/call', { name: 't' })).error
    expect(DEFAULT_LIMITS.toolCalls).toEqual({ perSecond: 100, burst: 200 })
    for (let i = 0; i < 200; i++) expect(await call()).toBeUndefined()
    expect(await call()).toMatchObject({
      code: -32603,
      message: 'Too many requests: 100 a second, 200 at once (limits.toolCalls)',
      data: { reason: 'rate-limited', limit: 'toolCalls', retryAfterMs: 10 },
    })
    await clock.advance(10)
    expect(await call()).toBeUndefined()
    expect(await call()).toBeDefined()
  })

  test('one caller does not use up the rate of another, and false turns the limit off', async () => {
    const server = createServer({ name: 'x', version: '1', limits: { toolCalls: { perSecond: 1, burst: 1 } } })
    server.tool('t', {}, () => 'x')
    const [one, two] = [rawChannel(server), rawChannel(server)]
    const call = async (raw: typeof one) => (await raw.ask('tools/call', { name: 't', _meta: envelope() })).error?.code
    expect([await call(one), await call(one), await call(two)]).toEqual([undefined, -32603, undefined])
    const free = createServer({ name: 'x', version: '1', limits: { toolCalls: false } })
    free.tool('t', {}, () => 'x')
    const raw = rawChannel(free)
    for (let i = 0; i < 500; i++) expect(await call(raw)).toBeUndefined()
  })

  test.each([
    [{ perSecond: 0, burst: 0 }, '{ perSecond: 0, burst: 0 }'],
    [{}, '{}'],
    [5, '5'],
  ])('a limit that the code switched off cannot become a wrong rate: %j', (toolCalls, shown) => {
    const server = createServer({ name: 'x', version: '1', limits: { toolCalls: false } })
    expect(() => server.useLimits?.({ toolCalls })).toThrow(
      `limits.toolCalls must be false or { perSecond, burst } with two numbers above 0, not ${shown}`,
    )
  })

  test('limits that are replaced later leave the others as they are', async () => {
    const server = createServer({ name: 'x', version: '1', limits: { toolCalls: { perSecond: 1, burst: 1 } } })
    server.tool('t', {}, () => 'x')
    server.useLimits?.({ maxActive: 1, toolCalls: undefined })
    const raw = rawChannel(server)
    const call = async () => (await raw.ask('tools/call', { name: 't', _meta: envelope() })).error?.code
    expect([await call(), await call()]).toEqual([undefined, -32603])
  })
})

describe('requests at the same time', () => {
  test('requests over maxActive wait, those over maxWaiting are refused, and all are answered once', async () => {
    const server = createServer({ name: 'x', version: '1', limits: { maxActive: 2, maxWaiting: 3 } })
    const finish: (() => void)[] = []
    server.tool('slow', {}, () => new Promise<string>((resolve) => finish.push(() => resolve('done'))))
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    const answers = Array.from({ length: 6 }, () => raw.ask('tools/call', { name: 'slow' }))
    expect((await answers[5])?.error).toEqual({
      code: -32603,
      message: 'Too many requests in progress',
      data: { reason: 'too-many-requests', limit: 'maxWaiting', max: 3 },
    })
    expect(finish).toHaveLength(2)
    while (finish.length > 0) {
      finish.shift()?.()
      await settle()
    }
    for (const answer of answers.slice(0, 5)) expect((await answer).result).toBeDefined()
  })
})

describe('progress', () => {
  test.each(REVISIONS)('progress is sent with the token of the request, only grows, and stops with the answer, in %s', async (revision) => {
    proves('T-PROG-001', 'T-PROG-002', 'T-PROG-003', 'T-PROG-005', 'T-PROG-006', 'T-PROG-007', 'T-PROG-008', 'T-PROG-009')
    proves('T-PROG-010', 'T-PROG-011', 'T-PROG-012', 'T-PROG-013', 'T-PROG-014', 'T-PROG-017', 'T-PROG-018', 'T-PROG-020')
    proves('T-PROG-021', 'T-META-002')
    const server = createServer({ name: 'x', version: '1' })
    let later: (() => Promise<void>) | undefined
    server.tool('work', {}, async (_args, ctx) => {
      later = () => ctx.progress(9)
      for (const [progress, total, message] of [
        [0.2, 1, 'first'],
        [0.2, 1, 'same'],
        [0.1, 1, 'back'],
        [0.6, 1, 'second'],
        [1, undefined, undefined],
      ] as const)
        await ctx.progress(progress, total, message)
      return 'done'
    })
    const seen: unknown[] = []
    const { client, sent } = await connectPair(server, { revision })
    await client.call('work', {}, { onProgress: (progress) => seen.push(progress) })
    await later?.()
    await settle()
    const hasMessage = revision >= '2025-03-26'
    expect(seen).toEqual([
      { progress: 0.2, total: 1, ...(hasMessage ? { message: 'first' } : {}) },
      { progress: 0.6, total: 1, ...(hasMessage ? { message: 'second' } : {}) },
      { progress: 1 },
    ])
    const token = sent('client', 'tools/call')[0]?.params._meta.progressToken
    expect(sent('server', 'notifications/progress').map(({ params }) => params.progressToken)).toEqual([token, token, token])
  })

  test('progress is not sent to callers that did not request it', async () => {
    proves('T-PROG-015', 'T-PROG-016')
    const server = createServer({ name: 'x', version: '1' })
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1, 2)
      return 'done'
    })
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    for (const _meta of [undefined, {}, { progressToken: null }, { progressToken: 1.5 }, { progressToken: {} }])
      await raw.ask('tools/call', { name: 'work', ...(_meta ? { _meta } : {}) })
    expect(raw.out.filter(({ method }) => method === 'notifications/progress')).toEqual([])
    await raw.ask('tools/call', { name: 'work', _meta: { progressToken: 'text' } })
    expect(raw.out.filter(({ method }) => method === 'notifications/progress')).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'text', progress: 1, total: 2 } },
    ])
  })

  test('progress is limited, so that a loop without a pause cannot flood the client', async () => {
    proves('T-PROG-019')
    const server = createServer({ name: 'x', version: '1', limits: { progressNotices: { perSecond: 10, burst: 5 } } })
    server.tool('work', {}, async (_args, ctx) => {
      for (let i = 1; i <= 1000; i++) await ctx.progress(i)
      return 'done'
    })
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    await raw.ask('tools/call', { name: 'work', _meta: { progressToken: 1 } })
    const count = raw.out.filter(({ method }) => method === 'notifications/progress').length
    expect(count).toBeGreaterThanOrEqual(5)
    expect(count).toBeLessThan(20)
  })
})

describe('cancellation', () => {
  const newServer = () => {
    const server = createServer({ name: 'x', version: '1', onError: () => {} })
    const state = { aborted: [] as unknown[], finish: () => {} }
    server.tool('slow', {}, (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => state.aborted.push(ctx.signal.reason))
      return new Promise<string>((resolve) => {
        state.finish = () => resolve('late')
      })
    })
    server.tool('fast', {}, () => 'x')
    return { server, state }
  }

  test.each(REVISIONS)('cancellation aborts the handler and leaves the request without an answer, in %s', async (revision) => {
    proves('T-CANC-001', 'T-CANC-002', 'T-CANC-003', 'T-CANC-008', 'T-CANC-009', 'T-CANC-010', 'T-CANC-014', 'T-CANC-018')
    proves('R-STDIO-006', 'R-STDIO-007', 'R-STDIO-008', 'R-CANC-003')
    const { server, state } = newServer()
    const { client, sent } = await connectPair(server, { revision })
    const controller = new AbortController()
    const call = client.call('slow', {}, { signal: controller.signal })
    await settle()
    controller.abort(new Error('changed my mind'))
    await expect(call).rejects.toThrow('changed my mind')
    await settle()
    const request = sent('client', 'tools/call')[0]
    expect(sent('client', 'notifications/cancelled')).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: request?.id, reason: 'The caller cancelled the request' },
      },
    ])
    expect(state.aborted).toEqual([
      expect.objectContaining({ name: 'AbortError', message: 'The client cancelled the request: The caller cancelled the request' }),
    ])
    state.finish()
    await settle()
    expect(sent('server').some(({ id }) => id === request?.id)).toBe(false)
    await expect(client.call('fast')).resolves.toBeDefined()
  })

  test.each(SESSION_REVISIONS)(
    'a cancellation of an unknown or finished request, or a malformed one, is ignored, in %s',
    async (revision) => {
      proves('T-CANC-006', 'T-CANC-011', 'T-CANC-012', 'T-CANC-016', 'T-CANC-017', 'T-CANC-020', 'T-CANC-021', 'T-CANC-022')
      proves('T-CANC-023', 'T-BASE-028')
      proves('R-CANC-002')
      const { server } = newServer()
      const raw = rawChannel(server)
      await raw.initialize(revision)
      await raw.ask('tools/call', { name: 'fast' }, 'done')
      const before = raw.out.length
      for (const params of [
        undefined,
        {},
        { requestId: 'never' },
        { requestId: 'done' },
        { requestId: null },
        { requestId: {} },
        { requestId: 1.5 },
        { reason: 'x' },
      ])
        raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', ...(params ? { params } : {}) })
      await settle()
      expect(raw.out.length).toBe(before)
      expect((await raw.ask('ping')).result).toEqual({})
    },
  )

  test('a queued request that is cancelled never runs', async () => {
    const { state, server: _unused } = newServer()
    const server = createServer({ name: 'x', version: '1', limits: { maxActive: 1 } })
    let runs = 0
    server.tool(
      'slow',
      {},
      () =>
        new Promise<string>((resolve) => {
          runs++
          state.finish = () => resolve('x')
        }),
    )
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
    raw.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'slow' } })
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    state.finish()
    await raw.until(({ id }) => id === 1)
    await settle()
    expect(runs).toBe(1)
  })

  test('the end of the channel cancels all running requests, and nothing is sent after it', async () => {
    const { server, state } = newServer()
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
    await settle()
    raw.channel.close('gone')
    expect(state.aborted).toHaveLength(1)
    state.finish()
    await settle()
    expect(raw.out).toHaveLength(1)
    expect(raw.dropped).toBe(1)
  })
})
