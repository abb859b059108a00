import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Client } from '../../src/client/index.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel, settle } from '../support/raw-channel.ts'

const newServer = (options = {}) => {
  const server = createServer({
    name: 'life',
    version: '2.0.0',
    title: 'Life',
    description: 'Lives',
    websiteUrl: 'https://example.com',
    icons: [{ src: 'https://example.com/i.png', theme: 'dark' }],
    instructions: 'Be kind',
    ...options,
  })
  server.tool('t', {}, () => 'x')
  return server
}
const clientInfo = { name: 'raw', version: '1' }

test.each(REVISIONS)('a declared list stays when its last item is removed: it is empty, not unknown, in %s', async (revision) => {
  proves('R-TOOL-021', 'R-PROM-005', 'R-RES-003', 'R-TOOL-022')
  const server = createServer({ name: 'x', version: '1', listCache: { ttlMs: 0 } })
  const handles = [
    server.tool('t', {}, () => 'x'),
    server.prompt('p', { input: z.object({ a: z.string() }), complete: { a: () => ['b'] } }, () => 'x'),
    server.resource('a:1', { name: 'a' }, () => 'x'),
    server.resource('a:{id}', { name: 'a', complete: { id: () => ['1'] } }, () => 'x'),
  ]
  const raw = rawChannel(server)
  const isStateless = revision === '2026-07-28'
  if (!isStateless) await raw.initialize(revision)
  const ask = (method: string, params: Message = {}) => raw.ask(method, isStateless ? { ...params, _meta: envelope() } : params)
  const declared = async () => (isStateless ? (await ask('server/discover')).result.capabilities : undefined)
  const before = await declared()
  for (const handle of handles) handle.remove()
  for (const [method, member] of [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ] as const) {
    expect((await ask(method)).result[member]).toEqual([])
  }
  expect((await ask('tools/call', { name: 't' })).error.code).toBe(-32602)
  expect((await ask('prompts/get', { name: 'p' })).error.code).toBe(-32602)
  const argument = { name: 'a', value: '' }
  expect((await ask('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument })).error.code).toBe(-32602)
  expect(await declared()).toEqual(before)
})

describe.each(SESSION_REVISIONS)('the handshake of %s', (revision) => {
  test('initialize is answered with the same version, capabilities, server info and instructions', async () => {
    proves('T-LIFE-001', 'T-LIFE-002', 'T-LIFE-003', 'T-LIFE-004', 'T-LIFE-005', 'T-LIFE-007', 'T-LIFE-008', 'T-VER-005')
    proves('T-VER-007', 'T-VER-009', 'T-ARCH-023', 'T-ARCH-024')
    proves('R-LIFE-002', 'R-VER-001', 'R-VER-006')
    const raw = rawChannel(newServer())
    const { result } = await raw.initialize(revision)
    expect(result).toMatchObject({
      protocolVersion: revision,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'life', version: '2.0.0' },
      instructions: 'Be kind',
    })
    expect(result.serverInfo.title).toBe(revision >= '2025-06-18' ? 'Life' : undefined)
    for (const member of ['icons', 'description', 'websiteUrl']) expect(member in result.serverInfo).toBe(revision >= '2025-11-25')
  })

  test('a second initialize is refused and the session continues', async () => {
    const raw = rawChannel(newServer())
    await raw.initialize(revision)
    const second = await raw.ask('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo })
    expect(second.error).toMatchObject({ code: -32600 })
    expect((await raw.ask('tools/call', { name: 't' })).result).toBeDefined()
  })

  test('on a shared pipe a second initialize starts a new session, and open requests are answered', async () => {
    const server = newServer()
    const finish: (() => void)[] = []
    server.tool('slow', {}, () => new Promise<string>((resolve) => finish.push(() => resolve('slow'))))
    server.tool('who', {}, (_args, ctx) => `${ctx.caller.client?.name} ${ctx.caller.revision}`)
    server.resource('a:{id}', { name: 'a' }, () => 'x')
    const raw = rawChannel(server, { beginsAnew: true })
    await raw.initialize('2025-06-18')
    await raw.ask('resources/subscribe', { uri: 'a:1' })
    const slow = raw.ask('tools/call', { name: 'slow' })

    const refused = await raw.ask('initialize', { protocolVersion: revision, capabilities: [], clientInfo })
    expect(refused.error).toMatchObject({ code: -32602 })
    expect((await raw.ask('tools/call', { name: 'who' })).result.content[0].text).toBe('raw 2025-06-18')

    const second = await raw.ask('initialize', { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'other', version: '1' } })
    expect(second.result.protocolVersion).toBe(revision)
    raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect((await raw.ask('tools/call', { name: 'who' })).result.content[0].text).toBe(`other ${revision}`)
    server.resourceChanged('a:1')
    server.tool('new', {}, () => 'x')
    await raw.until(({ method }) => method === 'notifications/tools/list_changed')
    await settle()
    expect(raw.out.filter(({ method }) => method === 'notifications/tools/list_changed')).toHaveLength(1)
    expect(raw.out.some(({ method }) => method === 'notifications/resources/updated')).toBe(false)
    for (const each of finish) each()
    expect((await slow).result.content[0].text).toBe('slow')
  })

  test('malformed initialize requests are -32602 and a good one still works', async () => {
    proves('T-LIFE-041', 'T-VER-010')
    const raw = rawChannel(newServer())
    for (const params of [
      {},
      { protocolVersion: revision },
      { protocolVersion: 5, capabilities: {}, clientInfo },
      { protocolVersion: '', capabilities: {}, clientInfo },
      { protocolVersion: revision, capabilities: [], clientInfo },
      { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'x' } },
    ]) {
      expect((await raw.ask('initialize', params)).error).toMatchObject({ code: -32602 })
    }
    const { error } = await raw.ask('initialize', { protocolVersion: '', capabilities: {}, clientInfo })
    expect(error.data).toEqual({ supported: SESSION_REVISIONS, requested: '' })
    expect((await raw.initialize(revision)).result.protocolVersion).toBe(revision)
  })

  test('capabilities that the revision does not know are ignored', async () => {
    proves('T-LIFE-027', 'T-LIFE-028', 'T-ARCH-026', 'R-VER-004')
    const server = newServer()
    server.tool('caps', {}, (_args, ctx) => JSON.stringify(ctx.caller.capabilities))
    const raw = rawChannel(server)
    await raw.initialize(revision, {
      roots: { listChanged: true },
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
      extensions: { 'com.example/x': {} },
      experimental: { y: {} },
    })
    const text = (await raw.ask('tools/call', { name: 'caps' })).result.content[0].text
    expect(JSON.parse(text)).toEqual({
      roots: { listChanged: true },
      experimental: { y: {} },
      sampling: revision >= '2025-11-25' ? { tools: {} } : {},
      ...(revision < '2025-06-18' ? {} : { elicitation: revision >= '2025-11-25' ? { form: {}, url: {} } : { form: {} } }),
    })
  })

  test('methods of other revisions do not exist', async () => {
    proves('T-VER-016', 'T-BASE-032', 'R-VER-004')
    const raw = rawChannel(newServer())
    await raw.initialize(revision)
    for (const method of [
      'server/discover',
      'subscriptions/listen',
      'tasks/get',
      'unknown/method',
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
      'Tools/list',
      'constructor',
    ]) {
      expect((await raw.ask(method)).error).toEqual({ code: -32601, message: `Method not found: ${method}` })
    }
  })

  test('a batch is accepted only where the revision has batches', async () => {
    proves('T-BASE-036', 'T-VER-014', 'T-STDIO-004', 'R-BASE-002', 'R-BASE-003')
    const raw = rawChannel(newServer())
    await raw.initialize(revision)
    raw.send([
      { jsonrpc: '2.0', id: 'a', method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'z' } },
      { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 't' } },
      { jsonrpc: '1.0', id: 'c', method: 'ping' },
      5,
    ])
    await settle()
    const answer = raw.out.at(-1)
    if (revision !== '2025-03-26') {
      expect(answer).toEqual({
        jsonrpc: '2.0',
        ...(revision >= '2025-11-25' ? {} : { id: null }),
        error: { code: -32600, message: 'Batches are not part of this protocol revision' },
      })
      return
    }
    expect(answer).toHaveLength(4)
    expect((answer as unknown as { id: string; error?: { code: number } }[]).map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        ['a', undefined],
        ['b', undefined],
        ['c', -32600],
        [null, -32600],
      ]),
    )
  })
})

describe.each(REVISIONS)('the capabilities that a server of %s declares', (revision) => {
  const FEATURES: Record<string, { declared: object; define(server: Server): unknown; list(client: Client): Promise<unknown[]> }> = {
    tools: {
      declared: { listChanged: true },
      define: (server) => server.tool('t', {}, () => 'x'),
      list: (client) => client.tools().all(),
    },
    resources: {
      declared: { subscribe: true, listChanged: true },
      define: (server) => server.resource('a:1', { name: 'a' }, () => 'x'),
      list: (client) => client.resources().all(),
    },
    prompts: {
      declared: { listChanged: true },
      define: (server) => server.prompt('p', {}, () => 'x'),
      list: (client) => client.prompts().all(),
    },
  }
  const names = Object.keys(FEATURES)
  const subsets = [[], ...names.map((name) => [name]), ['tools', 'prompts'], names]

  test.each(subsets.map((offered) => ({ offered })))('the capabilities match the offering: $offered', async ({ offered }) => {
    proves('T-BASE-005', 'T-LIFE-018', 'T-LIFE-019', 'T-LIFE-020', 'T-ARCH-009', 'T-ARCH-031')
    const server = createServer({ name: 'some', version: '1.0.0', logging: false })
    for (const name of offered) FEATURES[name]?.define(server)
    const { client } = await connectPair(server, { revision })
    expect(client.server.capabilities).toEqual(Object.fromEntries(offered.map((name) => [name, FEATURES[name]?.declared])))
    for (const name of names) {
      const listed = FEATURES[name]?.list(client)
      if (offered.includes(name)) await expect(listed).resolves.toHaveLength(1)
      else await expect(listed).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    }
    await expect(client.ping()).resolves.toBeUndefined()
  })

  test('experimental capabilities reach the client unchanged', async () => {
    proves('T-LIFE-023')
    const experimental = { 'com.example/a': {}, b: { deep: { deeper: {} }, 'with space': {} } }
    const { client } = await connectPair(newServer({ experimental }), { revision })
    expect(client.server.capabilities.experimental).toEqual(experimental)
  })
})

test.each(SESSION_REVISIONS)('an unknown capability is kept and breaks nothing, in %s', async (revision) => {
  proves('T-ARCH-022')
  const server = newServer()
  server.tool('caps', {}, (_args, ctx) => JSON.stringify(ctx.caller.capabilities))
  const raw = rawChannel(server)
  await raw.initialize(revision, { telepathy: { range: 3 }, experimental: { mine: { x: 1 } } })
  expect(JSON.parse((await raw.ask('tools/call', { name: 'caps' })).result.content[0].text)).toEqual({
    telepathy: { range: 3 },
    experimental: { mine: { x: 1 } },
  })
})

test.each(SESSION_REVISIONS)('a subscription is refused if subscriptions were not declared, in %s', async (revision) => {
  proves('T-LIFE-025')
  const raw = rawChannel(newServer())
  expect((await raw.initialize(revision)).result.capabilities).not.toHaveProperty('resources')
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    expect((await raw.ask(method, { uri: 'a:1' })).error).toMatchObject({ code: -32601 })
})

test.each(SESSION_REVISIONS)('a session of %s keeps the negotiated state and later settings', async (revision) => {
  proves('T-BASE-007')
  const server = newServer()
  server.resource('a:1', { name: 'a' }, () => 'x')
  server.tool('state', {}, (_args, ctx) => {
    ctx.log.notice('not wanted')
    const { client, capabilities, revision: spoken } = ctx.caller
    return JSON.stringify({ client: client?.name, capabilities, spoken })
  })
  const raw = rawChannel(server)
  await raw.initialize(revision, { roots: {} })
  await raw.ask('logging/setLevel', { level: 'error' })
  await raw.ask('resources/subscribe', { uri: 'a:1' })
  // Nothing of that is said again.
  for (let i = 0; i < 2; i++)
    expect(JSON.parse((await raw.ask('tools/call', { name: 'state' })).result.content[0].text)).toEqual({
      client: 'raw',
      capabilities: { roots: {} },
      spoken: revision,
    })
  expect(raw.out.some(({ method }) => method === 'notifications/message')).toBe(false)
  server.resourceChanged('a:1')
  expect((await raw.until(({ method }) => method === 'notifications/resources/updated')).params.uri).toBe('a:1')
})

test('every request of the oldest revision gets a result of the right type', async () => {
  proves('T-BASE-044')
  const server = newServer()
  server.resource('a:1', { name: 'a' }, () => 'x')
  server.resource('b:{id}', { name: 'b', complete: { id: () => ['1'] } }, () => 'x')
  server.prompt('p', {}, () => 'x')
  // The pair is judged: a result that is not of the published kind fails the test.
  const { client, sent } = await connectPair(server, { revision: '2024-11-05', cache: false })
  const results = {
    ping: [{}, {}],
    'completion/complete': [
      { ref: { type: 'ref/resource', uri: 'b:{id}' }, argument: { name: 'id', value: '' } },
      { completion: { values: ['1'], total: 1, hasMore: false } },
    ],
    'logging/setLevel': [{ level: 'info' }, {}],
    'prompts/get': [{ name: 'p' }, { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] }],
    'prompts/list': [{}, { prompts: [{ name: 'p' }] }],
    'resources/list': [{}, { resources: [{ uri: 'a:1', name: 'a' }] }],
    'resources/templates/list': [{}, { resourceTemplates: [{ uriTemplate: 'b:{id}', name: 'b' }] }],
    'resources/read': [{ uri: 'a:1' }, { contents: [{ uri: 'a:1', mimeType: 'text/plain', text: 'x' }] }],
    'resources/subscribe': [{ uri: 'a:1' }, {}],
    'resources/unsubscribe': [{ uri: 'a:1' }, {}],
    'tools/call': [{ name: 't' }, { content: [{ type: 'text', text: 'x' }] }],
    'tools/list': [{}, { tools: [{ name: 't', inputSchema: { type: 'object' } }] }],
  } as const
  for (const [method, [params, result]] of Object.entries(results))
    expect(await client.request(method, params), method).toMatchObject(result)
  const asked = new Set(sent('client').flatMap(({ id, method }) => (id === undefined ? [] : [method])))
  expect([...asked].sort()).toEqual(['initialize', ...Object.keys(results)].sort())
})

test.each(SESSION_REVISIONS)('a reserved metadata name has an effect only in its own place, in %s', async (revision) => {
  proves('T-META-004')
  const server = newServer()
  server.tool('work', { input: { type: 'object' } }, async (_args, ctx) => {
    await ctx.progress(1, 2)
    return 'done'
  })
  const raw = rawChannel(server)
  await raw.initialize(revision)
  const progress = () => raw.out.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params.progressToken)
  raw.send({ jsonrpc: '2.0', method: 'notifications/initialized', params: { _meta: { progressToken: 'of a notification' } } })
  for (const misplaced of [
    { progressToken: 'beside it' },
    { arguments: { _meta: { progressToken: 'in the arguments' } } },
    { _meta: { 'com.example/progressToken': 'of another owner' } },
  ])
    expect((await raw.ask('tools/call', { name: 'work', ...misplaced })).result.content[0].text).toBe('done')
  expect(progress()).toEqual([])
  await raw.ask('tools/call', { name: 'work', _meta: { progressToken: 'of a request' } })
  expect(progress()).toEqual(['of a request'])
})

test.each(SESSION_REVISIONS)('the handler gets the reason of a cancellation and may log it, in %s', async (revision) => {
  proves('T-CANC-004')
  const server = newServer()
  server.tool('wait', {}, async (_args, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    server.log.warning({ gaveUp: (ctx.signal.reason as Error).message })
  })
  const raw = rawChannel(server)
  await raw.initialize(revision)
  raw.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait' } })
  await settle()
  raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'Stop was pressed' } })
  const { params } = await raw.until(({ method }) => method === 'notifications/message')
  expect(params.data.gaveUp).toContain('Stop was pressed')
})

test.each(REVISIONS)(
  'the caller is the identity that the transport proved, not the name that the client gives, in %s',
  async (revision) => {
    proves('T-ELIC-096')
    const server = newServer()
    server.tool('who', { input: { type: 'object' } }, (_args, ctx) => String(ctx.caller.principal))
    const claims = { principal: 'admin', userId: 'admin', sub: 'admin' }
    const meta = { ...(revision === '2026-07-28' ? envelope(claims) : {}), ...claims }
    for (const principal of ['alice', undefined]) {
      const raw = rawChannel(server, principal === undefined ? {} : { principal })
      if (revision !== '2026-07-28') {
        await raw.ask('initialize', {
          protocolVersion: revision,
          capabilities: { experimental: claims },
          clientInfo: { name: 'admin', version: '1', ...claims },
          ...claims,
        })
        raw.send({ jsonrpc: '2.0', method: 'notifications/initialized', params: claims })
      }
      const { result } = await raw.ask('tools/call', { name: 'who', arguments: claims, ...claims, _meta: meta })
      expect(result.content[0].text).toBe(String(principal))
    }
  },
)

test('an unsupported version is answered with the newest version that has a handshake', async () => {
  proves('T-VER-011', 'T-VER-004')
  for (const asked of ['2023-01-01', '2026-07-28', '2099-01-01', 'nonsense']) {
    const raw = rawChannel(newServer())
    expect((await raw.initialize(asked)).result.protocolVersion).toBe('2025-11-25')
  }
  const old = rawChannel(newServer({ revisions: ['2024-11-05', '2025-03-26'] }))
  expect((await old.initialize('2025-11-25')).result.protocolVersion).toBe('2025-03-26')
})

test('a server that speaks only the stateless revision says so in its answer to initialize', async () => {
  proves('R-DISC-018', 'R-DISC-020')
  const raw = rawChannel(newServer({ revisions: ['2026-07-28'] }))
  const { error } = await raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  expect(error).toMatchObject({
    code: -32601,
    message: 'This server has no initialize; it supports 2026-07-28',
    data: { supported: ['2026-07-28'] },
  })
})

test('an unknown revision cannot be configured', () => {
  expect(() => newServer({ revisions: ['2023-01-01'] })).toThrow(
    'Unknown revision "2023-01-01"; supported: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28',
  )
  expect(() => newServer({ revisions: [] })).toThrow('Unknown revision')
})

test('before the handshake the server answers only ping', async () => {
  proves('T-PING-014', 'T-LIFE-011')
  const raw = rawChannel(newServer())
  expect((await raw.ask('ping')).result).toEqual({})
  for (const method of ['tools/list', 'tools/call', 'logging/setLevel']) {
    expect((await raw.ask(method, { name: 't' })).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('send initialize first'),
    })
  }
})

test('initialize is refused in a batch, and without its own channel', async () => {
  proves('R-LIFE-001')
  const raw = rawChannel(newServer())
  raw.send([{ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo } }])
  expect(raw.out).toEqual([{ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'initialize cannot be part of a batch' } }])
})

test('before the client sends initialized, the server sends nothing except answers', async () => {
  proves('T-LIFE-010')
  const server = newServer()
  server.resource('a:1', { name: 'a' }, () => 'x')
  const raw = rawChannel(server)
  await raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo })
  server.tool('late', {}, () => 'x')
  await settle()
  expect(raw.out).toHaveLength(1)
  raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  server.tool('later', {}, () => 'x')
  await settle()
  expect(raw.out.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
})

describe('the stateless revision', () => {
  const discover = (raw: ReturnType<typeof rawChannel>, meta: unknown) =>
    raw.ask('server/discover', meta === undefined ? undefined : { _meta: meta })

  test('discover returns versions, capabilities, instructions and the server info', async () => {
    proves('R-DISC-006', 'R-DISC-009', 'R-DISC-010', 'R-DISC-013')
    const raw = rawChannel(newServer())
    const { result } = await discover(raw, envelope())
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [...REVISIONS].reverse(),
      capabilities: { tools: { listChanged: true } },
      instructions: 'Be kind',
      ttlMs: expect.any(Number),
      cacheScope: 'private',
    })
    expect(result._meta['io.modelcontextprotocol/serverInfo']).toMatchObject({
      name: 'life',
      version: '2.0.0',
      icons: [{ theme: 'dark' }],
    })
  })

  test('a request without its required metadata is -32602', async () => {
    proves('R-META-005', 'R-META-016', 'R-PAGE-003')
    const raw = rawChannel(newServer())
    const { 'io.modelcontextprotocol/clientCapabilities': _caps, ...noCapabilities } = envelope()
    const { 'io.modelcontextprotocol/protocolVersion': _version, ...noVersion } = envelope()
    for (const meta of [
      undefined,
      {},
      noCapabilities,
      noVersion,
      envelope(5),
      envelope({}, { 'io.modelcontextprotocol/clientInfo': 'me' }),
    ]) {
      expect((await discover(raw, meta)).error).toMatchObject({ code: -32602 })
    }
    const { 'io.modelcontextprotocol/clientInfo': _info, ...anonymous } = envelope()
    expect((await discover(raw, anonymous)).result).toBeDefined()
  })

  test('an unsupported version is -32022 with the supported versions', async () => {
    proves('R-DISC-003', 'R-DISC-004')
    const raw = rawChannel(newServer())
    const { error } = await discover(raw, envelope({}, { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' }))
    expect(error).toMatchObject({ code: -32022, data: { supported: REVISIONS, requested: '1900-01-01' } })
    const only = rawChannel(newServer({ revisions: ['2025-11-25'] }))
    expect((await discover(only, envelope())).error).toMatchObject({ code: -32022, data: { supported: ['2025-11-25'] } })
  })

  test('methods of sessions do not exist', async () => {
    proves('R-BASE-070', 'R-RES-008')
    const raw = rawChannel(newServer())
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'unknown/method']) {
      expect((await raw.ask(method, { _meta: envelope() })).error.code).toBe(-32601)
    }
  })

  test('one channel serves both dialects at once', async () => {
    proves('R-DISC-002', 'R-DISC-014', 'R-DISC-021', 'R-DISC-022')
    const raw = rawChannel(newServer())
    await raw.initialize('2024-11-05')
    expect((await raw.ask('tools/call', { name: 't', _meta: envelope() })).result).toHaveProperty('resultType', 'complete')
    expect((await raw.ask('tools/call', { name: 't' })).result).toEqual({ content: [{ type: 'text', text: 'x' }] })
  })

  test('every result names the server and its type, and keeps the metadata of the handler', async () => {
    const server = newServer()
    server.tool('meta', {}, () => ({ content: [], _meta: { 'com.example/a': 1 } }))
    const raw = rawChannel(server)
    expect((await raw.ask('tools/call', { name: 'meta', _meta: envelope() })).result).toEqual({
      resultType: 'complete',
      content: [],
      _meta: { 'com.example/a': 1, 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'life' }) },
    })
  })
})

test('a closed server finishes open requests, refuses new ones, and ends', async () => {
  const server = newServer()
  let finish: (value: string) => void = () => {}
  server.tool(
    'slow',
    {},
    () =>
      new Promise<string>((resolve) => {
        finish = resolve
      }),
  )
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  const running = client.call('slow')
  await settle()
  const closed = server.close()
  await expect(client.call('t')).rejects.toMatchObject({ code: -32603, message: 'The connection is closing' })
  finish('done')
  await expect(running).resolves.toMatchObject({ content: [{ text: 'done' }] })
  await closed
})
