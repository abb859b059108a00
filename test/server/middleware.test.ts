import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { apps } from '../../src/apps/index.ts'
import { serverExtension } from '../../src/extensions/index.ts'
import { createServer, McpError, type Middleware, type MiddlewareCall, type Service } from '../../src/server/index.ts'
import { tasks } from '../../src/tasks/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel } from '../support/raw-channel.ts'

const newServer = () => {
  const server = createServer({ name: 'x', version: '1', onError: () => {} })
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  server.resource('a:1', { name: 'a' }, () => 'x')
  server.prompt('p', {}, () => 'x')
  return server
}

describe.each(REVISIONS)('middleware in %s', (revision) => {
  test('middleware sees every request, in the order of use, with its target and caller', async () => {
    const server = newServer()
    const seen: string[] = []
    server.use(async ({ method, target, caller }, next) => {
      seen.push(`${method} ${target ?? '-'} ${caller.revision === revision || method === 'initialize'}`)
      return next()
    })
    const order: string[] = []
    for (const name of ['outer', 'inner']) {
      server.use(async (_call, next) => {
        order.push(`${name} in`)
        const result = await next()
        order.push(`${name} out`)
        return result
      })
    }
    const { client } = await connectPair(server, { revision })
    order.length = 0
    await client.call('echo', { text: 'a' })
    expect(order).toEqual(['outer in', 'inner in', 'inner out', 'outer out'])
    await client.tools().all()
    await client.read('a:1')
    await client.prompt('p')
    expect(seen.slice(1)).toEqual(['tools/call echo true', 'tools/list - true', 'resources/read a:1 true', 'prompts/get p true'])
  })

  test('middleware may refuse, answer, change parameters or change the result', async () => {
    const server = newServer()
    server.use(async (call, next) => {
      if (call.target === 'a:1') throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: 'a:1' } })
      if (call.target === 'p') return { messages: [] }
      if (call.method !== 'tools/call') return next()
      const result = await next({ params: { ...call.params, arguments: { text: 'changed' } } })
      return { ...result, content: [...(result.content as unknown[]), { type: 'text', text: 'added' }] }
    })
    const { client } = await connectPair(server, { revision })
    await expect(client.read('a:1')).rejects.toMatchObject({ message: 'Resource not found' })
    expect((await client.prompt('p')).messages).toEqual([])
    expect((await client.call('echo', { text: 'original' })).content).toEqual([
      { type: 'text', text: 'changed' },
      { type: 'text', text: 'added' },
    ])
  })

  test('middleware sees the original failures, and its own errors are masked like any other', async () => {
    const server = newServer()
    const failures: string[] = []
    server.tool('bad', {}, () => {
      throw new Error('inside')
    })
    server.use(async (call, next) => {
      if (call.target === 'a:1') throw new Error('the middleware itself')
      try {
        return await next()
      } catch (error) {
        failures.push((error as Error).message)
        throw error
      }
    })
    const { client } = await connectPair(server, { revision })
    expect((await client.call('bad')).isError).toBe(true)
    expect(failures).toEqual(['inside'])
    await expect(client.read('a:1')).rejects.toMatchObject({ code: -32603, message: expect.stringMatching(/^Internal error/) })
  })
})

test('all middleware has the reference of the client, also in a mounted server and with other params', async () => {
  const reported: string[] = []
  const failing = createServer({ name: 'failing', version: '1', onError: (_error, { reference }) => void reported.push(reference) })
  const inner = createServer({ name: 'inner', version: '1' })
  inner.tool('bad', {}, () => {
    throw new Error('inside')
  })
  const seen: string[] = []
  const note: Middleware = (call, next) => {
    seen.push(call.reference)
    return next({ params: { ...call.params } })
  }
  for (const server of [failing, failing, inner, inner]) server.use(note)
  failing.mount('in', inner)
  const raw = rawChannel(failing)
  await raw.initialize('2025-11-25')
  seen.length = 0
  const { result } = await raw.ask('tools/call', { name: 'in_bad' })
  expect(seen).toEqual(Array(4).fill(reported[0]))
  expect(result.content[0].text).toBe(`Internal error (reference ${reported[0]})`)
})

test('middleware can tell what a server has from names that a client made up', async () => {
  const outer = newServer()
  const inner = createServer({ name: 'inner', version: '1' })
  inner.tool('echo', {}, () => 'x')
  const seen: [string, boolean][] = []
  const inside: [string | undefined, boolean][] = []
  outer.use((call, next) => {
    seen.push([call.target ?? call.method, call.isKnown])
    return next()
  })
  inner.use((call, next) => {
    inside.push([call.target, call.isKnown])
    return next({ params: { ...call.params, name: 'gone' } })
  })
  inner.use((call, next) => {
    inside.push([call.target, call.isKnown])
    return next()
  })
  const shout = serverExtension({ id: 'com.example/shout', methods: { 'com.example/shout': { handler: () => ({}) } } })
  for (const extension of [tasks(), apps({}), shout]) outer.extend(extension)
  outer.mount('in', inner)
  const raw = rawChannel(outer)
  await raw.initialize('2025-11-25')
  seen.length = 0
  const known = ['echo', 'in_echo'].map((name) => ['tools/call', { name }] as const)
  const unknown = ['made-up', 'constructor', 1].map((name) => ['tools/call', { name }] as const)
  for (const [method, params] of [...known, ...unknown]) await raw.ask(method, params)
  for (const name of ['p', 'q']) await raw.ask('prompts/get', { name })
  for (const method of ['tasks/get', 'com.example/shout', 'tasks/made-up', 'com.example/made-up', 'ping']) await raw.ask(method, {})
  expect(seen).toEqual([
    ['echo', true],
    ['in_echo', true],
    ['made-up', false],
    ['constructor', false],
    ['tools/call', false],
    ['p', true],
    ['q', false],
    ['tasks/get', true],
    ['com.example/shout', true],
    ['tasks/made-up', false],
    ['com.example/made-up', false],
    ['ping', true],
  ])
  expect(inside).toEqual([
    ['echo', true],
    ['gone', false],
  ])
})

test('middleware can refuse a call before the tool or resource is reached', async () => {
  proves('T-TOOL-042', 'T-RES-056', 'T-HOST-024')
  const server = newServer()
  const touched: string[] = []
  server.tool('admin', {}, () => {
    touched.push('tool')
    return 'x'
  })
  server.resource('secret:1', { name: 'secret' }, () => {
    touched.push('resource')
    return 'x'
  })
  server.use((call: MiddlewareCall, next) => {
    if (call.caller.principal === 'alice') return next()
    if (call.target === 'admin') throw new McpError('ERR_TOOL_NOT_FOUND', 'Unknown tool: admin')
    if (call.target === 'secret:1') throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: call.target } })
    return next()
  })
  const asked = async (principal: string) => {
    const raw = rawChannel(server, { principal })
    await raw.initialize('2025-11-25')
    const answers = [await raw.ask('tools/call', { name: 'admin' }), await raw.ask('resources/read', { uri: 'secret:1' })]
    return answers.map(({ error }) => error?.code)
  }
  expect(await asked('mallory')).toEqual([-32602, -32002])
  expect(touched).toEqual([])
  expect(await asked('alice')).toEqual([undefined, undefined])
  expect(touched).toEqual(['tool', 'resource'])
})

test.each(REVISIONS)('client and server may use custom authentication, or none, in %s', async (revision) => {
  proves('T-AUTH-002', 'T-AUTH-006')
  const open = newServer()
  const guarded = newServer()
  guarded.use((call, next) => {
    const { 'com.example/ticket': ticket } = (call.params._meta ?? {}) as Record<string, unknown>
    if (call.method === 'tools/call' && ticket !== 'valid') throw new McpError('ERR_INVALID_REQUEST', 'No ticket')
    return next()
  })
  const call = async (server: Service, meta?: Record<string, unknown>) => {
    const { client } = await connectPair(server, { revision })
    return client.call('echo', { text: 'a' }, meta ? { meta } : {})
  }
  await expect(call(open)).resolves.toMatchObject({ content: [{ text: 'a' }] })
  await expect(call(guarded)).rejects.toMatchObject({ code: -32600, message: 'No ticket' })
  await expect(call(guarded, { 'com.example/ticket': 'forged' })).rejects.toMatchObject({ message: 'No ticket' })
  await expect(call(guarded, { 'com.example/ticket': 'valid' })).resolves.toMatchObject({ content: [{ text: 'a' }] })
})

test('middleware sees a call that returns questions as a result', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.tool('asks', {}, (_args, ctx) => ctx.elicit('a', 'A?', z.object({ a: z.string() })))
  const types: unknown[] = []
  server.use(async (call, next) => {
    const result = await next()
    if (call.method === 'tools/call') types.push(result.resultType)
    return result
  })
  const { client } = await connectPair(server, {
    revision: '2026-07-28',
    answer: { elicit: () => ({ action: 'accept', content: { a: 'x' } }) },
  })
  await client.call('asks')
  expect(types).toEqual(['input_required', undefined])
})

test('the valid part of a trace context is given to handlers and middleware', async () => {
  proves('R-META-014')
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
  const server = newServer()
  server.tool('trace', {}, (_args, ctx) => JSON.stringify([ctx.trace ?? null, ctx.meta.traceparent ?? null]))
  const seen: unknown[] = []
  server.use((call, next) => {
    seen.push(call.trace)
    return next()
  })
  const valid = { traceparent, tracestate: 'vendor=1', baggage: 'user=anna' }
  const cases: [Record<string, unknown>, unknown][] = [
    [{}, null],
    [{ traceparent }, { traceparent }],
    [valid, valid],
    [{ ...valid, traceparent: 'mine' }, { baggage: 'user=anna' }],
    [{ ...valid, traceparent: 5, tracestate: {}, baggage: 'no pair' }, null],
  ]
  for (const revision of REVISIONS) {
    seen.length = 0
    const raw = rawChannel(server)
    const isStateless = revision === '2026-07-28'
    if (!isStateless) await raw.initialize(revision)
    for (const [meta, expected] of cases) {
      const { result } = await raw.ask('tools/call', { name: 'trace', _meta: isStateless ? envelope({}, meta) : meta })
      expect(JSON.parse(result.content[0].text)).toEqual([expected, meta.traceparent ?? null])
    }
    expect(seen.slice(-cases.length)).toEqual(cases.map(([, expected]) => expected ?? undefined))
  }
})

test('middleware hears of a cancelled request, also in a mounted server, and its listeners may fail', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [inner, server] = [createServer({ name: 'inner', version: '1' }), newServer()]
  const heard: unknown[] = []
  const hear: Middleware = (call, next) => {
    call.onAborted(() => {
      throw new Error('A bug')
    })
    call.onAborted((reason) => heard.push([call.target, (reason as Error).name]))
    const stop = call.onAborted(() => heard.push('removed'))
    stop()
    return next()
  }
  let isWaiting = false
  inner.tool('wait', {}, () => {
    isWaiting = true
    return new Promise<string>(() => {})
  })
  inner.use(hear)
  server.mount('inner', inner)
  server.use(hear)
  const channel = rawChannel(server)
  channel.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'inner_wait', _meta: envelope() } })
  await vi.waitFor(() => expect(isWaiting).toBe(true))
  channel.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  await expect
    .poll(() => heard)
    .toEqual([
      ['inner_wait', 'AbortError'],
      ['wait', 'AbortError'],
    ])
  said.mockRestore()
})
