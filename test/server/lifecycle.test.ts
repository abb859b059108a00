import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { envelope, rawChannel, settle } from '../support/raw-channel.ts'

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

describe.each(SESSION_REVISIONS)('the handshake of %s', (revision) => {
  test('initialize is answered with the same version, capabilities, server info and instructions [T-LIFE-001] [T-LIFE-002] [T-LIFE-003] [T-LIFE-004] [T-LIFE-005] [T-LIFE-007] [T-LIFE-008] [T-VER-005] [T-VER-007] [T-VER-009] [T-ARCH-023] [T-ARCH-024]', async () => {
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

  test('a second initialize is refused and the session lives on', async () => {
    const raw = rawChannel(newServer())
    await raw.initialize(revision)
    const second = await raw.ask('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo })
    expect(second.error).toMatchObject({ code: -32600 })
    expect((await raw.ask('tools/call', { name: 't' })).result).toBeDefined()
  })

  test('malformed initialize requests are -32602 and a good one still works [T-LIFE-041] [T-VER-010]', async () => {
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

  test('capabilities that the revision does not know are not believed [T-LIFE-027] [T-LIFE-028] [T-ARCH-026]', async () => {
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

  test('methods of other revisions do not exist [T-VER-016] [T-BASE-032]', async () => {
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

  test('a batch is accepted only where the revision has batches [T-BASE-036] [T-VER-014] [T-STDIO-004]', async () => {
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

test('a version that is not spoken is answered with the newest that has a handshake [T-VER-011] [T-VER-004]', async () => {
  for (const asked of ['2023-01-01', '2026-07-28', '2099-01-01', 'nonsense']) {
    const raw = rawChannel(newServer())
    expect((await raw.initialize(asked)).result.protocolVersion).toBe('2025-11-25')
  }
  const old = rawChannel(newServer({ revisions: ['2024-11-05', '2025-03-26'] }))
  expect((await old.initialize('2025-11-25')).result.protocolVersion).toBe('2025-03-26')
})

test('a server that speaks only the stateless revision says so to an initialize', async () => {
  const raw = rawChannel(newServer({ revisions: ['2026-07-28'] }))
  const { error } = await raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  expect(error).toMatchObject({
    code: -32601,
    message: 'This server has no initialize; it speaks 2026-07-28',
    data: { supported: ['2026-07-28'] },
  })
})

test('a revision nobody knows cannot be asked for', () => {
  expect(() => newServer({ revisions: ['2023-01-01'] })).toThrow(
    'Portico speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28, not "2023-01-01"',
  )
  expect(() => newServer({ revisions: [] })).toThrow('Portico speaks')
})

test('before the handshake only ping is answered [T-PING-014] [T-LIFE-011]', async () => {
  const raw = rawChannel(newServer())
  expect((await raw.ask('ping')).result).toEqual({})
  for (const method of ['tools/list', 'tools/call', 'logging/setLevel']) {
    expect((await raw.ask(method, { name: 't' })).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('send initialize first'),
    })
  }
})

test('initialize cannot be part of a batch, nor come without a channel of its own', async () => {
  const raw = rawChannel(newServer())
  raw.send([{ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo } }])
  expect(raw.out).toEqual([{ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'initialize cannot be part of a batch' } }])
})

test('until the client has said initialized, nothing is sent to it unasked [T-LIFE-010]', async () => {
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

  test('discover tells versions, capabilities, instructions and who answers', async () => {
    const raw = rawChannel(newServer())
    const { result } = await discover(raw, envelope())
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [...REVISIONS].reverse(),
      capabilities: { tools: { listChanged: true } },
      instructions: 'Be kind',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
    })
    expect(result._meta['io.modelcontextprotocol/serverInfo']).toMatchObject({
      name: 'life',
      version: '2.0.0',
      icons: [{ theme: 'dark' }],
    })
  })

  test('a request without the metadata it must have is -32602', async () => {
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

  test('a version that is not spoken is -32022 with those that are', async () => {
    const raw = rawChannel(newServer())
    const { error } = await discover(raw, envelope({}, { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' }))
    expect(error).toMatchObject({ code: -32022, data: { supported: REVISIONS, requested: '1900-01-01' } })
    const only = rawChannel(newServer({ revisions: ['2025-11-25'] }))
    expect((await discover(only, envelope())).error).toMatchObject({ code: -32022, data: { supported: ['2025-11-25'] } })
  })

  test('methods of sessions do not exist', async () => {
    const raw = rawChannel(newServer())
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'unknown/method']) {
      expect((await raw.ask(method, { _meta: envelope() })).error.code).toBe(-32601)
    }
  })

  test('one channel serves both dialects at once', async () => {
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

test('a closed server finishes what is in hand, refuses what comes after, and ends', async () => {
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
