import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { clientExtension, extensionMethod, serverExtension } from '../../src/extensions/index.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { type Pair, type PairOptions, pair } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel, settle } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'

const ID = 'com.example/shout'
const DECLARED = { extensions: { [ID]: { loud: true } } }

const shout = (more: Partial<Parameters<typeof serverExtension>[0]> = {}) =>
  serverExtension({
    id: ID,
    settings: { version: 2 },
    methods: {
      'com.example/shout': extensionMethod({
        params: z.object({ text: z.string() }),
        result: z.object({ text: z.string() }),
        handler: ({ text }, ctx) => {
          expectTypeOf(text).toEqualTypeOf<string>()
          return { text: `${text.toUpperCase()}${ctx.settings?.loud ? '!' : ''}` }
        },
      }),
      'com.example/broken': { result: z.object({ text: z.string() }), handler: () => ({ text: 5 }) },
      'com.example/nothing': { handler: () => {} },
    },
    sends: { 'notifications/com.example/shouted': {} },
    ...more,
  })

/** Rooms to hear of, but no secret ones. */
const ROOMS = {
  member: 'shouts',
  accept: (wanted: unknown) => (Array.isArray(wanted) ? wanted.filter((each) => each !== 'secret') : undefined),
  matches: (accepted: unknown, _method: string, params: Record<string, unknown>) => (accepted as unknown[]).includes(params.room),
}

const newServer = (extension = shout()) => {
  const server = createServer({ name: 'extended', version: '1', onError: () => {} })
  server.tool('hi', {}, () => 'hi')
  return { server, handle: server.extend(extension) }
}

describe('an extension of a server', () => {
  test('is declared with its settings, and its methods see what the client declared', async () => {
    proves('R-EXT-001')
    const { server } = newServer()
    const raw = rawChannel(server)
    const { result } = await raw.ask('server/discover', { _meta: envelope() })
    expect(result.capabilities.extensions).toEqual({ [ID]: { version: 2 } })
    const answer = await raw.ask('com.example/shout', { text: 'hey', _meta: envelope(DECLARED) })
    expect(answer.result).toMatchObject({ text: 'HEY!', resultType: 'complete' })
    expect((await raw.ask('com.example/nothing', { _meta: envelope(DECLARED) })).result.resultType).toBe('complete')
  })

  test('checks params and results against their schemas', async () => {
    const raw = rawChannel(newServer().server)
    const bad = await raw.ask('com.example/shout', { text: 5, _meta: envelope(DECLARED) })
    expect(bad.error.code).toBe(-32602)
    expect(bad.error.message).toContain('com.example/shout: text')
    const broken = await raw.ask('com.example/broken', { _meta: envelope(DECLARED) })
    expect(broken.error).toMatchObject({ code: -32603, message: expect.stringContaining('does not match its schema') })
  })

  test('is refused to a client that did not declare it, with the name of the extension', async () => {
    proves('R-EXT-003')
    const raw = rawChannel(newServer().server)
    for (const capabilities of [{}, { extensions: {} }, { extensions: { [ID]: true } }]) {
      const { error } = await raw.ask('com.example/shout', { text: 'hey', _meta: envelope(capabilities) })
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: { [ID]: {} } } } })
    }
  })

  test('does not exist in older revisions, unless its rule names them', async () => {
    const plain = rawChannel(newServer().server)
    await plain.initialize('2025-11-25', DECLARED)
    expect((await plain.ask('com.example/shout', { text: 'hey' })).error.code).toBe(-32601)

    const raw = rawChannel(newServer(shout({ revisions: ['2025-11-25'] })).server)
    await raw.initialize('2025-11-25')
    expect((await raw.ask('com.example/shout', { text: 'hey' })).result).toEqual({ text: 'HEY' })
    expect((await raw.ask('com.example/shout', { text: 'hey', _meta: envelope(DECLARED) })).error.code).toBe(-32601)
  })

  test('runs inside of the middleware', async () => {
    const { server } = newServer()
    const seen: string[] = []
    server.use((call, next) => {
      seen.push(call.method)
      return next()
    })
    await rawChannel(server).ask('com.example/shout', { text: 'hey', _meta: envelope(DECLARED) })
    expect(seen).toEqual(['com.example/shout'])
  })

  test('takes notifications that match their schema', async () => {
    const heard: unknown[] = []
    const notifications = {
      'notifications/com.example/heard': { params: z.object({ n: z.number() }), handler: (params: unknown) => heard.push(params) },
    }
    const raw = rawChannel(newServer(shout({ revisions: ['2025-11-25'], notifications })).server)
    await raw.initialize('2025-11-25')
    for (const n of [1, 'two', 3]) raw.send({ jsonrpc: '2.0', method: 'notifications/com.example/heard', params: { n } })
    await settle()
    expect(heard).toEqual([{ n: 1 }, { n: 3 }])
  })

  test('notifies sessions of its revisions, and no others', async () => {
    const { server, handle } = newServer(shout({ revisions: ['2025-11-25'] }))
    const [with_, without] = [rawChannel(server), rawChannel(server)]
    await with_.initialize('2025-11-25')
    await without.initialize('2025-06-18')
    await settle()
    handle.notify('notifications/com.example/shouted', { text: 'HEY' })
    await settle()
    expect(with_.out.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/com.example/shouted', params: { text: 'HEY' } })
    expect(without.out.some(({ method }) => method === 'notifications/com.example/shouted')).toBe(false)
  })

  test('adds a member to listen requests, and notifies those that asked for it', async () => {
    const { server, handle } = newServer(shout({ subscription: ROOMS }))
    const raw = rawChannel(server)
    const listen = (notifications: unknown, capabilities: unknown = DECLARED) =>
      void raw.send({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params: { notifications, _meta: envelope(capabilities) } })
    listen({ shouts: ['a', 'secret'], toolsListChanged: true })
    const { params } = await raw.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect(params.notifications).toEqual({ toolsListChanged: true, shouts: ['a'] })
    for (const room of ['a', 'secret', 'b']) handle.notify('notifications/com.example/shouted', { room })
    await settle()
    const got = raw.out.filter(({ method }) => method === 'notifications/com.example/shouted')
    expect(got.map((message) => message.params.room)).toEqual(['a'])
    expect(got[0]?.params._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'l' })

    const other = rawChannel(server)
    const refused = await other.ask('subscriptions/listen', { notifications: { shouts: ['a'] }, _meta: envelope() })
    expect(refused.error.code).toBe(-32021)
  })

  test('sends only notifications that it declares, with params that match their schema', async () => {
    const sends = { 'notifications/com.example/shouted': { params: z.object({ room: z.string() }) } }
    const { server, handle } = newServer(shout({ revisions: ['2025-11-25'], sends }))
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    expect(() => handle.notify('com.example/changed', {})).toThrow(
      'The extension com.example/shout does not declare com.example/changed; add it to "sends"',
    )
    expect(() => handle.notify('notifications/com.example/shouted', { room: 5 })).toThrow('the params do not match their schema: room')
    handle.notify('notifications/com.example/shouted', { room: 'a' })
    await settle()
    expect(raw.out.filter(({ id }) => id === undefined)).toMatchObject([{ params: { room: 'a' } }])

    const slow = z.object({ room: z.string().refine(async () => true) })
    const { handle: other } = newServer(shout({ sends: { 'notifications/com.example/shouted': { params: slow } } }))
    expect(() => other.notify('notifications/com.example/shouted', { room: 'a' })).toThrow()
  })

  test('tells the other clients, also if "matches" fails for what one of them asked for', async () => {
    const { server, handle } = newServer(shout({ subscription: { ...ROOMS, accept: (wanted) => wanted } }))
    const listening = async (shouts: unknown) => {
      const raw = rawChannel(server)
      raw.send({
        jsonrpc: '2.0',
        id: 'l',
        method: 'subscriptions/listen',
        params: { notifications: { shouts }, _meta: envelope(DECLARED) },
      })
      await raw.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
      return raw
    }
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => complaint.mockRestore())
    await listening({})
    const honest = await listening(['a'])
    handle.notify('notifications/com.example/shouted', { room: 'a' })
    await honest.until(({ method }) => method === 'notifications/com.example/shouted')
    expect(complaint).toHaveBeenCalledOnce()
  })

  test('survives handlers of notifications that reject', async () => {
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => complaint.mockRestore())
    const handler = async (): Promise<never> => {
      throw new Error('mine')
    }
    const revisions = ['2025-11-25']
    const { server, handle } = newServer(shout({ revisions, notifications: { 'notifications/com.example/heard': { handler } } }))
    const raw = rawChannel(server)
    await raw.initialize('2025-11-25')
    raw.send({ jsonrpc: '2.0', method: 'notifications/com.example/heard', params: {} })
    const listener = clientExtension({ id: ID, revisions, notifications: { 'notifications/com.example/shouted': { handler } } })
    await newPair(server, { revision: '2025-11-25', use: [listener] })
    await settle()
    handle.notify('notifications/com.example/shouted', {})
    await expect
      .poll(() => complaint.mock.calls.map(([text]) => text))
      .toEqual([
        expect.stringContaining('portico: the handler of notifications/com.example/heard failed:'),
        expect.stringContaining('portico: the listener for notifications/com.example/shouted failed:'),
      ])
  })

  test('needs handlers, and a member of its own for its subscription', () => {
    const method = { 'com.example/x': { params: {} } } as never
    const define = (more: object) => () => serverExtension({ id: ID, ...more })
    expect(define({ methods: method })).toThrow('The extension com.example/shout needs a function "handler" for com.example/x')
    expect(define({ notifications: method })).toThrow('needs a function "handler" for com.example/x')
    expect(() => clientExtension({ id: ID, notifications: method })).toThrow('needs a function "handler" for com.example/x')
    expect(define({ subscription: { ...ROOMS, member: 'toolsListChanged' } })).toThrow('not "toolsListChanged"')
    expect(define({ subscription: { member: 'rooms' } })).toThrow('needs a function "accept" for rooms')
  })

  test('is told from something else by server.extend and by use', async () => {
    const server = createServer({ name: 'a', version: '1' })
    expect(() => server.extend(Promise.resolve(shout()) as never)).toThrow('got a promise; await it first')
    expect(() => server.extend(clientExtension({ id: ID }) as never)).toThrow('expected an extension such as tasks()')
    const wrong = { code: 'ERR_DEFINITION', message: expect.stringContaining('use must be a list of extensions that clientExtension()') }
    await expect(pair(server, { use: clientExtension({ id: ID }) as never })).rejects.toMatchObject(wrong)
    await expect(pair(server, { use: [shout() as never] })).rejects.toMatchObject(wrong)
  })

  test('cannot be declared twice, replace a method of the protocol or have a name without a prefix', () => {
    const { server } = newServer()
    expect(() => server.extend(shout())).toThrow('The extension com.example/shout is already declared')
    const methods = { 'tools/call': { handler: () => ({}) } }
    expect(() => serverExtension({ id: ID, methods })).toThrow('cannot define tools/call: it is part of the protocol')
    expect(() => clientExtension({ id: ID, methods: { 'tools/call': {} } })).toThrow('cannot define tools/call: it is part of the protocol')
    expect(() => serverExtension({ id: ID, sends: { 'notifications/cancelled': {} } })).toThrow('it is part of the protocol')
    expect(() => serverExtension({ id: 'shout' })).toThrow('must look like "com.example/feature"')
  })
})

/** The published schemas do not know the methods of this extension, so nothing is checked against them. */
async function newPair(server: Server, options: PairOptions): Promise<Pair> {
  const connected = await pair(server, options)
  onTestFinished(() => connected.close())
  return connected
}

describe('an extension of a client', () => {
  test('sends the notifications that it names, in sessions, if their params match', async () => {
    const heard: unknown[] = []
    const params = z.object({ n: z.number() })
    const revisions = ['2025-11-25', '2026-07-28']
    const notifications = { 'notifications/com.example/heard': { params, handler: (given: unknown) => void heard.push(given) } }
    const { server } = newServer(shout({ revisions, notifications }))
    const use = [clientExtension({ id: ID, revisions, sends: { 'notifications/com.example/heard': { params } } })]
    const { client } = await newPair(server, { use, revision: '2025-11-25' })
    await client.notify('notifications/com.example/heard', { n: 1 })
    await until(() => heard.length === 1)
    expect(heard).toEqual([{ n: 1 }])
    await expect(client.notify('notifications/com.example/heard', { n: 'x' })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
    const unknown = { code: 'ERR_UNSUPPORTED', message: expect.stringContaining('name it in "sends"') }
    await expect(client.notify('notifications/com.example/other')).rejects.toMatchObject(unknown)
    await client.close()
    await expect(client.notify('notifications/com.example/heard', { n: 2 })).rejects.toMatchObject({ code: 'ERR_CLOSED' })

    const stateless = await newPair(server, { use, revision: '2026-07-28' })
    const none = { code: 'ERR_UNSUPPORTED', message: expect.stringContaining('Define a method instead') }
    await expect(stateless.client.notify('notifications/com.example/heard', { n: 3 })).rejects.toMatchObject(none)
    expect(heard).toEqual([{ n: 1 }])
  })

  test('sends no notification to a server or in a revision without it', async () => {
    const sends = { 'notifications/com.example/heard': {} }
    const bare = createServer({ name: 'bare', version: '1' })
    const modern = await newPair(bare, { use: [clientExtension({ id: ID, sends })], revision: '2026-07-28' })
    const missing = { code: 'ERR_CAPABILITY_MISSING', message: expect.stringContaining('which the server did not declare') }
    await expect(modern.client.notify('notifications/com.example/heard')).rejects.toMatchObject(missing)
    const older = await newPair(bare, { use: [clientExtension({ id: ID, sends })], revision: '2025-06-18' })
    await expect(older.client.notify('notifications/com.example/heard')).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED' })
  })

  const use = (more: Partial<Parameters<typeof clientExtension>[0]> = {}) => [
    clientExtension({
      id: ID,
      settings: { loud: true },
      methods: {
        'com.example/shout': { params: z.object({ text: z.string() }), result: z.object({ text: z.string() }) },
        'com.example/nothing': {},
      },
      ...more,
    }),
  ]

  test('is declared, and its methods are checked on the way out and back', async () => {
    const sent: string[] = []
    const { client } = await newPair(newServer().server, {
      revision: '2026-07-28',
      use: use(),
      onWire: ({ from, json }) => from === 'client' && sent.push(json),
    })
    expect(client.server.capabilities.extensions).toEqual({ [ID]: { version: 2 } })
    // Without the members that the protocol adds.
    expect(await client.request('com.example/shout', { text: 'hey' })).toEqual({ text: 'HEY!' })
    expect(await client.request('com.example/nothing')).toEqual({})
    const before = sent.length
    await expect(client.request('com.example/shout', { text: 5 })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
    expect(sent.length).toBe(before)
    expect((await client.call('hi')).content).toEqual([{ type: 'text', text: 'hi' }])
  })

  test('refuses results that do not match the schema', async () => {
    const methods = { 'com.example/shout': { result: z.object({ volume: z.number() }) } }
    const { client } = await newPair(newServer().server, { revision: '2026-07-28', use: use({ methods }) })
    await expect(client.request('com.example/shout', { text: 'hey' })).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
  })

  test('is not used with a server that lacks it, or in a revision that lacks it', async () => {
    const bare = createServer({ name: 'bare', version: '1' })
    bare.tool('hi', {}, () => 'hi')
    const { client } = await newPair(bare, { revision: '2026-07-28', use: use() })
    await expect(client.request('com.example/shout', { text: 'hey' })).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    const older = await newPair(newServer().server, { revision: '2025-11-25', use: use() })
    await expect(older.client.request('com.example/shout', { text: 'hey' })).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED' })
  })

  test('gets the notifications of the server that match their schema', async () => {
    const { server, handle } = newServer(shout({ revisions: ['2025-11-25'] }))
    const heard: unknown[] = []
    const notifications = {
      'notifications/com.example/shouted': { params: z.object({ n: z.number() }), handler: (params: unknown) => heard.push(params) },
    }
    await newPair(server, { revision: '2025-11-25', use: use({ revisions: ['2025-11-25'], notifications }) })
    await settle()
    for (const n of [1, 'two', 3]) handle.notify('notifications/com.example/shouted', { n })
    await settle()
    expect(heard).toEqual([{ n: 1 }, { n: 3 }])
  })

  test('asks for notifications with a member of the filter, until they are no longer wanted', async () => {
    const { server, handle } = newServer(shout({ subscription: ROOMS }))
    const heard: unknown[] = []
    const filters: unknown[] = []
    const notifications = { 'notifications/com.example/shouted': { handler: ({ room }: Record<string, unknown>) => heard.push(room) } }
    const { client } = await newPair(server, {
      revision: '2026-07-28',
      use: use({ notifications }),
      onWire: ({ json }) => {
        const { method, params } = JSON.parse(json)
        if (method === 'subscriptions/listen') filters.push(params.notifications)
      },
    })
    const shoutIn = async (...rooms: string[]): Promise<void> => {
      for (const room of rooms) handle.notify('notifications/com.example/shouted', { room })
      await settle()
    }
    const stop = await client.subscribe('shouts', ['a', 'b'])
    const stopOther = await client.subscribe('shouts', ['b', 'c'])
    await shoutIn('a', 'c', 'd')
    expect(heard).toEqual(['a', 'c'])
    stop()
    await expect.poll(() => filters).toEqual([{ shouts: ['a', 'b'] }, { shouts: ['a', 'b', 'c'] }, { shouts: ['b', 'c'] }])
    await settle()
    await shoutIn('a', 'b')
    expect(heard).toEqual(['a', 'c', 'b'])
    stopOther()
    await settle()
    await shoutIn('b')
    expect(heard).toEqual(['a', 'c', 'b'])
  })
})
