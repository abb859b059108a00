import { describe, expect, test } from 'vitest'
import { ChangeListeners } from '../../src/server/change-listeners.ts'
import { type Bus, type Change, createServer } from '../../src/server/index.ts'
import { expectLinear } from '../support/linear.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel, settle } from '../support/raw-channel.ts'
import { recordingOutlet } from '../support/recording-outlet.ts'

const ID = 'io.modelcontextprotocol/subscriptionId'

const newServer = (options = {}) => {
  const server = createServer({ name: 'listen', version: '1.0.0', ...options })
  server.tool('t', {}, () => 'x')
  server.resource('a:{+path}', { name: 'a' }, () => 'x')
  return server
}
const listen = async (raw: ReturnType<typeof rawChannel>, id: string | number, notifications: unknown): Promise<Message> => {
  raw.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications, _meta: envelope() } })
  return raw.until(
    ({ method, params, id: answered, error }) =>
      (method === 'notifications/subscriptions/acknowledged' && params._meta[ID] === id) || (answered === id && error !== undefined),
  )
}

describe('subscriptions/listen', () => {
  test('subscriptions/listen is first acknowledged with the supported part of the request', async () => {
    proves('R-LISTEN-001', 'R-LISTEN-002', 'R-LISTEN-004', 'R-LISTEN-007', 'R-LISTEN-009', 'R-TOOL-037')
    const raw = rawChannel(newServer())
    const acknowledged = await listen(raw, 'sub-1', {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['a:1'],
      future: true,
    })
    expect(raw.out[0]).toBe(acknowledged)
    expect(acknowledged.params).toEqual({
      _meta: { [ID]: 'sub-1' },
      notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['a:1'] },
    })
  })

  test('subscriptions/listen delivers the requested changes, each with the id of the request', async () => {
    proves('R-META-012', 'R-LISTEN-002', 'R-LISTEN-003', 'R-LISTEN-009', 'R-LISTEN-011', 'R-LISTEN-018')
    const server = newServer()
    const raw = rawChannel(server)
    await listen(raw, 1, { resourceSubscriptions: ['a:1'] })
    await listen(raw, 2, { toolsListChanged: true })
    server.tool('new', {}, () => 'x')
    server.resourceChanged('a:1')
    server.resourceChanged('a:1/below')
    server.resourceChanged('a:2')
    server.prompt('p', {}, () => 'x')
    await settle()
    const notices = raw.out.slice(2).map(({ method, params }) => [method, params._meta[ID], params.uri])
    expect(notices).toEqual(
      expect.arrayContaining([
        ['notifications/tools/list_changed', 2, undefined],
        ['notifications/resources/updated', 1, 'a:1'],
        ['notifications/resources/updated', 1, 'a:1/below'],
      ]),
    )
    expect(notices).toHaveLength(3)
  })

  test('a change is sent to each subscriber under its own id, which may be of any type', async () => {
    proves('R-LISTEN-021', 'R-LISTEN-009', 'R-META-012', 'R-LISTEN-011')
    const server = newServer()
    await settle()
    const [raw, other] = [rawChannel(server), rawChannel(server)]
    await listen(raw, 1, { toolsListChanged: true })
    await listen(raw, '1', { toolsListChanged: true, resourcesListChanged: true })
    await listen(other, 1, { toolsListChanged: true })
    server.tool('new', {}, () => 'x')
    await settle()
    const heard = (channel: typeof raw) =>
      channel.out.flatMap(({ method, params }) => (method === 'notifications/tools/list_changed' ? [params._meta[ID]] : []))
    expect(heard(raw)).toHaveLength(2)
    expect(heard(raw)).toEqual(expect.arrayContaining([1, '1']))
    expect(heard(other)).toEqual([1])
  })

  test('subscriptions/listen sends nothing about a subscription before its acknowledgement', async () => {
    proves('R-LISTEN-004', 'R-LISTEN-005', 'R-LISTEN-006')
    const server = newServer()
    await settle()
    const raw = rawChannel(server)
    await listen(raw, 'first', { toolsListChanged: true })
    server.tool('before', {}, () => 'x')
    const second = listen(raw, 'second', { toolsListChanged: true })
    server.tool('after', {}, () => 'x')
    await second
    await settle()
    const about = (id: string) => raw.out.flatMap(({ method, params }) => (params._meta[ID] === id ? [method] : []))
    for (const id of ['first', 'second']) expect(about(id)[0]).toBe('notifications/subscriptions/acknowledged')
    expect(about('first')).toContain('notifications/tools/list_changed')
    expect(about('second')).toContain('notifications/tools/list_changed')
  })

  test('subscriptions/listen ends when the client cancels it, without an answer and without leftovers', async () => {
    proves('R-LISTEN-012')
    const server = newServer()
    await settle()
    const raw = rawChannel(server)
    await listen(raw, 1, { toolsListChanged: true })
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await settle()
    server.tool('new', {}, () => 'x')
    await settle()
    expect(raw.out.slice(1)).toEqual([])
    expect(raw.dropped).toBe(1)
    await listen(raw, 1, { toolsListChanged: true })
  })

  const ended = (id: number) => ({
    jsonrpc: '2.0',
    id,
    result: { resultType: 'complete', _meta: { [ID]: id, 'io.modelcontextprotocol/serverInfo': { name: 'listen', version: '1.0.0' } } },
  })

  test('subscriptions/listen ends with a cancellation and a result on a shared connection', async () => {
    proves('R-CANC-004', 'R-LISTEN-013', 'R-LISTEN-014')
    const server = newServer()
    await settle()
    const raw = rawChannel(server)
    await listen(raw, 7, { toolsListChanged: true })
    await listen(raw, 8, { toolsListChanged: true })
    await server.close()
    const cancelled = (id: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'The server ended the subscription', _meta: { [ID]: id } },
    })
    const told = raw.out.slice(2)
    expect(told).toHaveLength(4)
    for (const id of [7, 8]) {
      const about = told.filter((message) => message.id === id || message.params?.requestId === id)
      expect(about).toEqual([cancelled(id), ended(id)])
    }
  })

  test('subscriptions/listen ends with only a result where it has its own stream', async () => {
    proves('R-LISTEN-013')
    const server = newServer()
    await settle()
    const outlet = recordingOutlet()
    const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
    const sender = { version: '2026-07-28', principal: undefined, account: 'a' }
    const answering = server.answer({ kind: 'request', id: 7, method: 'subscriptions/listen', params }, outlet, sender)
    await settle()
    answering.finish()
    await settle()
    expect(outlet.pushed.map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged'])
    expect(outlet.answers).toEqual([ended(7)])
  })

  test('subscriptions/listen sends nothing about its end once the client has cancelled it', async () => {
    const server = newServer()
    await settle()
    const raw = rawChannel(server)
    await listen(raw, 7, { toolsListChanged: true })
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    await settle()
    await server.close()
    expect(raw.out).toHaveLength(1)
  })

  test('subscriptions/listen refuses a filter that is invalid or over the limits', async () => {
    proves('R-LISTEN-001')
    const raw = rawChannel(newServer({ limits: { maxSubscriptions: 3 } }))
    for (const notifications of [undefined, 5, [], { resourceSubscriptions: 'a:1' }, { resourceSubscriptions: [5] }])
      expect((await listen(raw, 'x', notifications)).error).toMatchObject({ code: -32602 })
    expect((await listen(raw, 'y', { resourceSubscriptions: ['a:1', 'a:2', 'a:3', 'a:4'] })).error).toMatchObject({
      code: -32603,
      message: 'Too many subscriptions: at most 3 (limits.maxSubscriptions)',
      data: { limit: 'maxSubscriptions', max: 3 },
    })
    expect((await listen(raw, 1, { resourceSubscriptions: ['a:1', 'a:2', 'a:3'] })).method).toBeDefined()
    for (let id = 2; id <= 16; id++) expect((await listen(raw, id, { toolsListChanged: true })).method).toBeDefined()
    expect((await listen(raw, 17, { toolsListChanged: true })).error).toMatchObject({
      message: 'Too many open listen requests: at most 16',
      data: { limit: 'maxListens', max: 16 },
    })
  })
})

describe('the URIs of subscriptions', () => {
  const uri = (length: number, name = 'x'): string => `a:${name.repeat(length - 2)}`
  const full = {
    code: -32603,
    message: 'The URIs of all subscriptions are too long together: at most 65536 characters',
    data: { limit: 'maxSubscriptionBytes', max: 65_536 },
  }

  test('the URIs of one listen request have at most 64 KiB together', async () => {
    const raw = rawChannel(newServer())
    expect((await listen(raw, 1, { resourceSubscriptions: Array(8).fill(uri(8192)) })).method).toBeDefined()
    expect((await listen(raw, 2, { resourceSubscriptions: [...Array(8).fill(uri(8192)), uri(3)] })).error).toMatchObject(full)
  })

  test('the URIs of one listen request may be longer together where more subscriptions are allowed', async () => {
    const raw = rawChannel(newServer({ limits: { maxSubscriptions: 2048 } }))
    expect((await listen(raw, 1, { resourceSubscriptions: Array(16).fill(uri(8192)) })).method).toBeDefined()
    expect((await listen(raw, 2, { resourceSubscriptions: [...Array(16).fill(uri(8192)), uri(3)] })).error).toMatchObject({
      data: { max: 131_072 },
    })
  })

  test('a URI of a listen request may have 8,192 characters', async () => {
    const raw = rawChannel(newServer())
    expect((await listen(raw, 1, { resourceSubscriptions: [uri(8192)] })).method).toBeDefined()
    expect((await listen(raw, 2, { resourceSubscriptions: [uri(8193)] })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('has 8193 characters; at most 8192 are accepted'),
    })
  })

  test('the URIs of one session have at most 64 KiB together, until it unsubscribes', async () => {
    const raw = rawChannel(newServer())
    await raw.initialize('2025-11-25')
    for (const name of ['p', ...'abcdefg', 'g']) expect((await raw.ask('resources/subscribe', { uri: uri(8192, name) })).result).toEqual({})
    expect((await raw.ask('resources/subscribe', { uri: uri(3, 'r') })).error).toMatchObject(full)
    await raw.ask('resources/unsubscribe', { uri: uri(8192, 'p') })
    await raw.ask('resources/unsubscribe', { uri: uri(8192, 'p') })
    expect((await raw.ask('resources/subscribe', { uri: uri(8192, 'r') })).result).toEqual({})
    expect((await raw.ask('resources/subscribe', { uri: uri(3, 's') })).error).toMatchObject(full)
  })
})

test('a session may be subscribed to maxSubscriptions resources', async () => {
  const raw = rawChannel(newServer({ limits: { maxSubscriptions: 2 } }))
  await raw.initialize('2025-11-25')
  for (const uri of ['a:1', 'a:2', 'a:2']) expect((await raw.ask('resources/subscribe', { uri })).result).toEqual({})
  expect((await raw.ask('resources/subscribe', { uri: 'a:3' })).error).toMatchObject({
    message: 'Too many subscriptions: at most 2 (limits.maxSubscriptions)',
  })
  await raw.ask('resources/unsubscribe', { uri: 'a:1' })
  expect((await raw.ask('resources/subscribe', { uri: 'a:3' })).result).toEqual({})
})

describe('the subscriptions of one caller, and of all callers', () => {
  const uriOf = (i: number): string => `a:${String(i).padEnd(8190, 'x')}`
  /** A session whose URIs have 64 KiB, which count as 1,024. */
  async function fullSession(server: ReturnType<typeof newServer>, principal: string): Promise<ReturnType<typeof rawChannel>> {
    const raw = rawChannel(server, { principal })
    await raw.initialize('2025-11-25')
    for (let i = 0; i < 8; i++) expect((await raw.ask('resources/subscribe', { uri: uriOf(i) })).result).toEqual({})
    return raw
  }
  const refusal = (limit: string, max: number) => ({ message: expect.stringContaining('limits.maxSubscriptions'), data: { limit, max } })

  test('one caller fills 32 sessions, with listen requests counted, and has room again when one ends', async () => {
    const server = newServer({ limits: { maxSubscriptions: 10, toolCalls: false } })
    const full = []
    for (let i = 0; i < 31; i++) full.push(await fullSession(server, 'ada'))
    const listening = rawChannel(server, { principal: 'ada' })
    expect((await listen(listening, 1, { resourceSubscriptions: Array.from({ length: 8 }, (_, i) => uriOf(i)) })).method).toBeDefined()
    const more = rawChannel(server, { principal: 'ada' })
    await more.initialize('2025-11-25')
    const subscribe = async (raw = more) => (await raw.ask('resources/subscribe', { uri: 'a:1' })).error
    expect(await subscribe()).toMatchObject(refusal('maxSubscriptionsPerCaller', 32_768))
    expect((await listen(rawChannel(server, { principal: 'ada' }), 1, { resourceSubscriptions: ['a:1'] })).error).toMatchObject(
      refusal('maxSubscriptionsPerCaller', 32_768),
    )
    const other = rawChannel(server, { principal: 'bob' })
    await other.initialize('2025-11-25')
    expect(await subscribe(other)).toBeUndefined()
    listening.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await settle()
    expect(await subscribe()).toBeUndefined()
    full[0]?.channel.close('gone')
    await fullSession(server, 'ada')
    for (let i = 0; i < 7; i++) expect((await more.ask('resources/subscribe', { uri: uriOf(i) })).error).toBeUndefined()
    const last = rawChannel(server, { principal: 'ada' })
    await last.initialize('2025-11-25')
    expect((await last.ask('resources/subscribe', { uri: uriOf(7) })).error).toMatchObject(refusal('maxSubscriptionsPerCaller', 32_768))
    // What was taken back counts no more.
    await more.ask('resources/unsubscribe', { uri: 'a:1' })
    expect((await last.ask('resources/subscribe', { uri: uriOf(7) })).error).toBeUndefined()
  })

  test('a limit that is set later holds for callers, too', async () => {
    const server = newServer()
    server.useLimits?.({ maxSubscriptions: 2048 })
    for (let i = 0; i < 33; i++) await fullSession(server, 'ada')
  })

  test('all callers fill 256 sessions or listen requests', async () => {
    const server = newServer()
    const resourceSubscriptions = Array.from({ length: 8 }, (_, i) => uriOf(i))
    const channels = Array.from({ length: 16 }, (_, i) => rawChannel(server, { principal: `caller ${i % 8}` }))
    for (const raw of channels)
      for (let id = 0; id < 16; id++) expect((await listen(raw, id, { resourceSubscriptions })).method).toBeDefined()
    const more = rawChannel(server, { principal: 'ada' })
    await more.initialize('2025-11-25')
    expect((await more.ask('resources/subscribe', { uri: 'a:1' })).error).toMatchObject(refusal('maxSubscriptionsInAll', 262_144))
  })
})

test('resources/unsubscribe needs a URI, even without a subscription', async () => {
  const raw = rawChannel(newServer())
  await raw.initialize('2025-11-25')
  const refused = async () => {
    for (const params of [undefined, {}, { uri: 5 }, { uri: 'no uri' }])
      expect((await raw.ask('resources/unsubscribe', params)).error).toMatchObject({ code: -32602 })
  }
  await refused()
  expect((await raw.ask('resources/unsubscribe', { uri: 'a:1' })).result).toEqual({})
  await raw.ask('resources/subscribe', { uri: 'a:1' })
  await refused()
})

test('a closed session gets no more notifications', async () => {
  const server = newServer()
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  raw.channel.close('gone')
  server.tool('new', {}, () => 'x')
  await settle()
  expect(raw.out).toHaveLength(1)
})

test('changes travel over a bus that replicas share', async () => {
  const listeners = new Set<(change: Change) => void>()
  const bus: Bus = {
    publish: (change) => {
      for (const listener of listeners) listener(change)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const [one, two] = [newServer({ bus }), newServer({ bus })]
  const raw = rawChannel(two)
  await listen(raw, 1, { resourceSubscriptions: ['a:1'] })
  one.resourceChanged('a:1')
  await raw.until(({ method }) => method === 'notifications/resources/updated')
})

test('clients are told of everything that they listen to when a bus says that changes are missing', async () => {
  let miss = (): void => {}
  const bus: Bus = {
    publish: () => {},
    subscribe: (_listener, onMissed = () => {}) => {
      miss = onMissed
      return () => {}
    },
  }
  const server = newServer({ bus })
  const [listening, session] = [rawChannel(server), rawChannel(server)]
  await listen(listening, 1, { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:1', 'a:2'] })
  await session.initialize('2025-11-25')
  await session.ask('resources/subscribe', { uri: 'a:3' })
  const told = ({ out }: typeof listening) =>
    out
      .filter(({ method }) => method?.endsWith('changed') || method?.endsWith('updated'))
      .map(({ method, params }) => params?.uri ?? method)
  miss()
  await settle()
  expect(told(listening)).toEqual(['notifications/tools/list_changed', 'a:1', 'a:2'])
  expect(told(session)).toEqual(['notifications/tools/list_changed', 'notifications/resources/list_changed', 'a:3'])
})

test('a slow client is told of everything once more at most, however often changes are missing', async () => {
  const listeners = new ChangeListeners({ publish: () => {}, subscribe: () => () => {} })
  const told: string[] = []
  const reads: (() => void)[] = []
  listeners.add({
    tell: ({ kind }) => {
      told.push(kind)
      return new Promise((resolve) => reads.push(resolve))
    },
    wanted: () => [{ kind: 'tools' }, { kind: 'prompts' }],
  })
  for (let i = 0; i < 10; i++) listeners.tellAll()
  expect(told).toEqual(['tools'])
  for (let i = 0; i < 10; i++) {
    reads.shift()?.()
    await settle()
  }
  expect(told).toEqual(['tools', 'prompts', 'tools', 'prompts'])
})

test('however many listeners are told of everything, one turn of the event loop has few notices', async () => {
  const listeners = new ChangeListeners({ publish: () => {}, subscribe: () => () => {} })
  const changes: Change[] = Array.from({ length: 100 }, (_, i) => ({ kind: 'resource', uri: `a:${i}` }))
  let [inThisTurn, most] = [0, 0]
  const told = Array.from({ length: 60 }, () => {
    const own: Change[] = []
    listeners.add({
      tell: (change) => {
        own.push(change)
        most = Math.max(most, ++inThisTurn)
        return undefined
      },
      wanted: () => changes,
    })
    return own
  })
  listeners.tellAll()
  listeners.tellAll()
  while (told.some(({ length }) => length < 200)) {
    await new Promise((resolve) => setImmediate(resolve))
    inThisTurn = 0
  }
  // The first notices and those of the next timer may come in one turn.
  expect(most).toBeLessThanOrEqual(64)
  for (const own of told) expect(own).toEqual([...changes, ...changes])
})

test('telling a listener of everything takes time in proportion to its resources', async () => {
  let change = (_change: Change): void => {}
  const bus: Bus = {
    publish: () => {},
    subscribe: (listener) => {
      change = listener
      return () => {}
    },
  }
  const runs = new Map<number, () => void>()
  for (const size of [500, 1000, 2000, 4000]) {
    const uris = Array.from({ length: size }, (_, i) => `a:${i}`)
    await listen(rawChannel(newServer({ bus, limits: { maxSubscriptions: 4000 } })), 1, { resourceSubscriptions: uris })
    const tell = change
    runs.set(size, () => {
      for (const uri of uris) tell({ kind: 'resource', uri })
    })
  }
  expectLinear(500, (size) => runs.get(size) as () => void)
})

test('without a listen request no change is sent in 2026-07-28', async () => {
  proves('R-RES-013', 'R-TOOL-025', 'R-PROM-008', 'R-ARCH-001')
  const server = newServer()
  server.prompt('p', {}, () => 'x')
  await settle()
  const [silent, toolsOnly, all] = [rawChannel(server), rawChannel(server), rawChannel(server)]
  await silent.ask('resources/list', { _meta: envelope() })
  await listen(toolsOnly, 1, { toolsListChanged: true })
  await listen(all, 1, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true })
  server.tool('new', {}, () => 'x')
  server.prompt('new', {}, () => 'x')
  server.resource('b:new', { name: 'b' }, () => 'x')
  await settle()
  const told = (raw: ReturnType<typeof rawChannel>) => raw.out.slice(1).map(({ method }) => method)
  expect(told(silent)).toEqual([])
  expect(told(toolsOnly)).toEqual(['notifications/tools/list_changed'])
  expect(told(all).toSorted()).toEqual(['prompts', 'resources', 'tools'].map((kind) => `notifications/${kind}/list_changed`))
})
