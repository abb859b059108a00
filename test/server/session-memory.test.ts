import { describe, expect, test } from 'vitest'
import type { Access } from '../../src/protocol/interfaces/access.ts'
import { createServer } from '../../src/server/index.ts'
import { memoryKeptBy } from '../support/memory.ts'
import { type Message, type RawChannel, rawChannel, settle } from '../support/raw-channel.ts'

const SESSIONS = 50

/** Objects whose names no other session has: the shapes of objects take memory, too. */
let names = 0
const strange = (count: number): Message => Object.fromEntries(Array.from({ length: count }, () => [`k${names++}`, {}]))

const initialize = (raw: RawChannel, capabilities: Message, clientInfo: Message = {}): Promise<Message> =>
  raw.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1', ...clientInfo } })

/** Each in a session of its own. */
const perSession = async (run: (raw: RawChannel) => Promise<unknown>, make: () => RawChannel): Promise<number> => {
  const kept = await memoryKeptBy(async () => {
    const all = Array.from({ length: SESSIONS }, make)
    for (const raw of all) {
      await run(raw)
      raw.out.length = 0
    }
    return all
  })
  return kept / SESSIONS
}

describe('what a client says of itself takes little memory as long as its session', () => {
  const make = (): RawChannel => rawChannel(createServer({ name: 'x', version: '1' }))

  test.each([
    ['many small capabilities', () => ({ experimental: strange(5_000) }), {}],
    ['the most capabilities that are accepted', () => ({ experimental: strange(98) }), {}],
    ['the longest capabilities that are accepted', () => ({ experimental: { x: { text: 'x'.repeat(8_000) } } }), {}],
    ['much about the client', () => ({}), () => strange(300)],
    ['the most about the client that is accepted', () => ({}), () => strange(20)],
  ])('%s', async (_what, capabilities, clientInfo) => {
    const usual = await perSession((raw) => initialize(raw, {}), make)
    const info = (): Message => (typeof clientInfo === 'function' ? clientInfo() : clientInfo)
    expect((await perSession((raw) => initialize(raw, capabilities(), info()), make)) - usual).toBeLessThan(32_000)
  })
})

test('large roots are not kept, although the client announces changes', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.tool('run', {}, async (_args, ctx) => String((await ctx.roots()).length))
  const kept = await perSession(
    async (raw) => {
      await raw.initialize('2025-11-25', { roots: { listChanged: true } })
      raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run' } })
      const { id } = await raw.until(({ method }) => method === 'roots/list')
      const roots = Array.from({ length: 1_000 }, (_, i) => ({ uri: `file:///${i}/${'x'.repeat(100)}` }))
      raw.send({ jsonrpc: '2.0', id, result: { roots } })
      expect((await raw.until((message) => message.id === 1 && message.method === undefined)).result.content[0].text).toBe('1000')
    },
    () => rawChannel(server),
  )
  expect(kept).toBeLessThan(32_000)
})

test('a subscription keeps the scopes of its subscriber, and no claims of a token', async () => {
  const server = createServer({ name: 'x', version: '1' })
  server.resource('note://{id}', { name: 'note' }, () => 'x')
  const subscribe = async (raw: RawChannel): Promise<void> => {
    await raw.initialize('2025-11-25')
    for (let i = 0; i < 100; i++) {
      // Each request brings a token of its own.
      raw.sender = {
        issuer: 'https://as.example',
        subject: 'me',
        clientId: 'c',
        scopes: Array.from({ length: 50 }, (_, at) => `scope-${at}`),
        claims: { long: 'x'.repeat(4_000), number: i },
        expiresAt: Number.POSITIVE_INFINITY,
      } satisfies Access
      expect((await raw.ask('resources/subscribe', { uri: `note://${i}` })).result).toEqual({})
    }
    raw.sender = undefined
  }
  expect(await perSession(subscribe, () => rawChannel(server, { principal: 'me' }))).toBeLessThan(48_000)
})

test('the reason of a cancellation is cut, and the rest of it is not kept while the handler runs on', async () => {
  const server = createServer({ name: 'x', version: '1' })
  const reasons: unknown[] = []
  server.tool('stubborn', {}, (_args, { signal }) => {
    signal.addEventListener('abort', () => reasons.push(signal.reason))
    return new Promise<string>(() => {})
  })
  const kept = await perSession(
    async (raw) => {
      await raw.initialize('2025-11-25')
      raw.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stubborn' } })
      await settle()
      raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: `${names++}${'x'.repeat(500_000)}` } })
    },
    () => rawChannel(server),
  )
  expect(reasons).toHaveLength(SESSIONS)
  for (const reason of reasons) expect((reason as Error).message).toHaveLength('The client cancelled the request: '.length + 1000)
  expect(kept).toBeLessThan(32_000)
})
