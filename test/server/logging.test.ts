import { describe, expect, test } from 'vitest'
import { LOG_LEVELS } from '../../src/protocol/model/logging.ts'
import { createServer, type LogMessage } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel, settle } from '../support/raw-channel.ts'
import { recordingOutlet } from '../support/recording-outlet.ts'

const newServer = (options = {}) => {
  const server = createServer({ name: 'logger', version: '1.0.0', ...options })
  server.tool('all', {}, (_args, ctx) => {
    for (const level of LOG_LEVELS) ctx.log[level]({ said: level })
    return 'done'
  })
  return server
}

describe.each(REVISIONS)('logging in %s', (revision) => {
  test('messages at the requested level and above arrive, with level, logger and data', async () => {
    proves('T-LOG-001', 'T-LOG-002', 'T-LOG-003', 'T-LOG-004', 'T-LOG-006', 'T-LOG-008', 'T-LOG-009', 'T-LOG-010')
    proves('T-LOG-011', 'T-LOG-015', 'T-LOG-016', 'T-LIFE-021')
    proves('R-LOG-002')
    const messages: LogMessage[] = []
    const { client } = await connectPair(newServer(), { revision, logLevel: 'error', onLog: (message) => messages.push(message) })
    expect(client.server.capabilities.logging).toEqual({})
    await client.call('all')
    expect(messages.map(({ level }) => level)).toEqual(['error', 'critical', 'alert', 'emergency'])
    expect(messages[0]).toEqual({ level: 'error', logger: 'logger', data: { said: 'error' } })
    await client.setLogLevel('emergency')
    await client.call('all')
    expect(messages).toHaveLength(5)
  })

  test('a server without logging does not declare it and sends no log messages', async () => {
    const messages: LogMessage[] = []
    const { client } = await connectPair(newServer({ logging: false }), { revision, onLog: (message) => messages.push(message) })
    expect(client.server.capabilities.logging).toBeUndefined()
    await client.call('all')
    expect(messages).toEqual([])
  })
})

test.each(SESSION_REVISIONS)('an unknown level is -32602 in %s', async (revision) => {
  proves('T-LOG-005', 'T-LOG-012')
  const raw = rawChannel(newServer())
  await raw.initialize(revision)
  for (const params of [undefined, {}, { level: 'loud' }, { level: 5 }, { level: 'INFO' }]) {
    expect((await raw.ask('logging/setLevel', params)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('debug, info, notice'),
    })
  }
  expect((await raw.ask('logging/setLevel', { level: 'debug' })).result).toEqual({})
})

test('before a level is set, a session gets the default level: info, or as configured', async () => {
  proves('T-LOG-007')
  const levelsOf = async (logging: object) => {
    const raw = rawChannel(newServer({ logging }))
    await raw.initialize('2025-11-25')
    await raw.ask('tools/call', { name: 'all' })
    return raw.out.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.level)
  }
  expect(await levelsOf({})).toEqual(LOG_LEVELS.slice(1))
  expect(await levelsOf({ defaultLevel: 'alert' })).toEqual(['alert', 'emergency'])
})

test('a stateless request gets messages only when it names a level, and a wrong level is refused', async () => {
  proves('R-LOG-001', 'R-LOG-004')
  const raw = rawChannel(newServer())
  const call = (extra = {}) => raw.ask('tools/call', { name: 'all', _meta: envelope({}, extra) })
  await call()
  expect(raw.out.filter(({ method }) => method === 'notifications/message')).toEqual([])
  await call({ 'io.modelcontextprotocol/logLevel': 'alert' })
  expect(raw.out.filter(({ method }) => method === 'notifications/message')).toHaveLength(2)
  expect((await call({ 'io.modelcontextprotocol/logLevel': 'loud' })).error.code).toBe(-32602)
})

test.each(SESSION_REVISIONS)('a level that cannot be set is -32603 without details, in %s', async (revision) => {
  proves('T-LOG-013')
  const failures: unknown[] = []
  const server = newServer({ onError: (error: Error) => failures.push(error.message) })
  server.use((call, next) => {
    if (call.method === 'logging/setLevel') throw new Error('log.conf is not writable')
    return next()
  })
  const raw = rawChannel(server)
  await raw.initialize(revision)
  const { error } = await raw.ask('logging/setLevel', { level: 'debug' })
  expect(error.code).toBe(-32603)
  expect(JSON.stringify(error)).not.toContain('log.conf')
  expect(failures).toEqual(['log.conf is not writable'])
})

describe.each(REVISIONS)('an application of %s', (revision) => {
  test('an application gets every log message in full, so that it can filter and store it', async () => {
    proves('T-LOG-019', 'T-LOG-021')
    const server = createServer({ name: 'shop', version: '1.0.0' })
    server.tool('order', {}, (_args, ctx) => {
      ctx.log.debug({ query: 'select' }, 'database')
      ctx.log.error({ query: 'insert', attempt: 2 }, 'database')
      ctx.log.error('card refused', 'payment')
      ctx.log.info(['done', 3])
      return 'x'
    })
    const kept: LogMessage[] = []
    const { client } = await connectPair(server, { revision, logLevel: 'debug', onLog: (message) => kept.push(message) })
    await client.call('order')
    expect(JSON.parse(JSON.stringify(kept))).toEqual([
      { level: 'debug', logger: 'database', data: { query: 'select' } },
      { level: 'error', logger: 'database', data: { query: 'insert', attempt: 2 } },
      { level: 'error', logger: 'payment', data: 'card refused' },
      { level: 'info', logger: 'shop', data: ['done', 3] },
    ])
    expect(kept.filter(({ level, logger }) => level === 'error' && logger === 'database')).toHaveLength(1)
    expect(kept.filter((message) => JSON.stringify(message).includes('card'))).toHaveLength(1)
  })

  test('an application sees the log messages of its own calls, and no other client does', async () => {
    proves('T-LOG-027')
    const server = newServer()
    server.tool('say', { input: { type: 'object', properties: { what: { type: 'string' } } } }, ({ what }, ctx) => {
      ctx.log.error(what)
      return 'x'
    })
    const listen = async () => {
      const heard: unknown[] = []
      const { client } = await connectPair(server, { revision, logLevel: 'debug', onLog: ({ data }) => heard.push(data) })
      return { client, heard }
    }
    const [alice, bob] = [await listen(), await listen()]
    await Promise.all([alice.client.call('say', { what: 'of alice' }), bob.client.call('say', { what: 'of bob' })])
    expect([alice.heard, bob.heard]).toEqual([['of alice'], ['of bob']])
  })
})

test('the log level of one session does not affect another session', async () => {
  const server = newServer()
  const [quiet, chatty] = [rawChannel(server), rawChannel(server)]
  await quiet.initialize('2025-11-25')
  await chatty.initialize('2025-11-25')
  await quiet.ask('logging/setLevel', { level: 'emergency' })
  await chatty.ask('logging/setLevel', { level: 'debug' })
  for (const raw of [quiet, chatty]) await raw.ask('tools/call', { name: 'all' })
  const count = ({ out }: typeof quiet) => out.filter(({ method }) => method === 'notifications/message').length
  expect([count(quiet), count(chatty)]).toEqual([1, 8])
})

test('messages outside a request reach every session that is ready and wants them', async () => {
  proves('T-LIFE-012')
  const server = newServer()
  const raw = rawChannel(server)
  await raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } })
  server.log.error('too early')
  raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  server.log.debug('too quiet')
  server.log.error('disk nearly full', 'disk')
  await settle()
  expect(raw.out.filter(({ method }) => method === 'notifications/message').map(({ params }) => params)).toEqual([
    { level: 'error', logger: 'disk', data: 'disk nearly full' },
  ])
})

test('secrets are removed, errors lose their stacks, and the hook runs last', async () => {
  proves('T-LOG-017', 'T-LOG-022', 'T-LOG-023', 'T-LOG-024', 'T-LOG-026', 'T-LOG-028')
  const server = createServer({
    name: 'x',
    version: '1',
    logging: {
      redact: (message) =>
        message.data === 'drop me'
          ? undefined
          : { ...message, data: JSON.parse(JSON.stringify(message.data).replaceAll('anna@example.com', '[email]')) },
    },
  })
  server.tool('log', {}, (_args, ctx) => {
    ctx.log.error({ password: 'hunter2', nested: { apiKey: 'abc', note: 'Authorization: Bearer abcdefghijklmnop' } })
    ctx.log.error(new Error('broken'))
    ctx.log.error('mail to anna@example.com')
    ctx.log.error('drop me')
    return 'x'
  })
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  await raw.ask('tools/call', { name: 'log' })
  const data = raw.out.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.data)
  expect(data).toEqual([
    { password: '[redacted]', nested: { apiKey: '[redacted]', note: 'Authorization: [redacted]' } },
    { name: 'Error', message: 'broken' },
    'mail to [email]',
  ])
})

test('a flood of messages is cut, and the next message tells how many were dropped', async () => {
  proves('T-LOG-014', 'T-LOG-025')
  const server = createServer({ name: 'x', version: '1', limits: { logMessages: { perSecond: 40, burst: 10 } } })
  server.tool('flood', {}, async (_args, ctx) => {
    for (let i = 0; i < 1000; i++) ctx.log.error(i)
    await new Promise((resolve) => setTimeout(resolve, 50))
    ctx.log.error('after')
    return 'x'
  })
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  await raw.ask('tools/call', { name: 'flood' })
  const messages = raw.out.filter(({ method }) => method === 'notifications/message').map(({ params }) => params)
  expect(messages.length).toBeGreaterThanOrEqual(11)
  expect(messages.length).toBeLessThan(500)
  expect(messages.at(-1)).toMatchObject({ data: 'after', _meta: { 'dev.portico/dropped': expect.any(Number) } })
})

test('a message is cut at its bound, and values that are not JSON are written as text', async () => {
  const server = createServer({ name: 'x', version: '1' })
  const circle: Record<string, unknown> = {}
  circle.self = circle
  server.tool('log', {}, (_args, ctx) => {
    ctx.log.error('x'.repeat(8190))
    ctx.log.error('x'.repeat(8191))
    ctx.log.error(circle)
    ctx.log.error(undefined)
    return 'x'
  })
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  await raw.ask('tools/call', { name: 'log' })
  const data = raw.out.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.data)
  expect(data[0]).toBe('x'.repeat(8190))
  expect(data[1]).toContain('(cut at 8192 characters)')
  expect(data[2]).toBe('(object that has no text)')
  expect(data[3]).toBeNull()
})

test('messages of a stateless request go only to the stream of its answer', async () => {
  proves('R-LOG-003', 'R-LOG-002')
  const server = newServer()
  const sender = { version: '2026-07-28', principal: undefined, account: 'a' }
  const send = (id: number, method: string, params: object, level?: string) => {
    const outlet = recordingOutlet()
    const _meta = envelope({}, level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level })
    server.answer({ kind: 'request', id, method, params: { ...params, _meta } }, outlet, sender)
    return outlet
  }
  const listening = send(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, 'debug')
  const asking = send(2, 'tools/call', { name: 'all' }, 'debug')
  const other = send(3, 'tools/call', { name: 'all' })
  server.log.emergency('belongs to no request')
  await settle()
  const levels = (outlet: ReturnType<typeof recordingOutlet>) =>
    outlet.pushed.filter(({ method }) => method === 'notifications/message').map(({ params }) => (params as { level: string }).level)
  expect(levels(asking)).toHaveLength(8)
  expect(levels(listening)).toEqual([])
  expect(levels(other)).toEqual([])
  expect(asking.answers).toHaveLength(1)
})
