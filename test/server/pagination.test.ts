import { describe, expect, test } from 'vitest'
import { createServer, type KeyRing } from '../../src/server/index.ts'
import { connectPair, REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel } from '../support/raw-channel.ts'

const newServer = (count: number, options = {}) => {
  const server = createServer({ name: 'pages', version: '1.0.0', pageSize: 3, ...options })
  for (let i = 0; i < count; i++) {
    server.tool(`tool-${i}`, {}, () => 'x')
    server.prompt(`prompt-${i}`, {}, () => 'x')
    server.resource(`a:${i}`, { name: `r${i}` }, () => 'x')
    server.resource(`t:${i}/{id}`, { name: `t${i}` }, () => 'x')
  }
  return server
}

describe.each(REVISIONS)('pages in %s', (revision) => {
  test('the pages of all four lists contain every item once, in order', async () => {
    proves('T-PAGE-001', 'T-PAGE-002', 'T-PAGE-004', 'T-PAGE-005', 'T-PAGE-006', 'T-PAGE-007', 'T-PAGE-008', 'T-PAGE-009')
    proves('T-PAGE-012', 'T-PAGE-013', 'T-PROM-039')
    proves('R-RES-001')
    const { client, sent } = await connectPair(newServer(7), { revision, cache: false })
    const numbers = Array.from({ length: 7 }, (_, i) => i)
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(numbers.map((i) => `tool-${i}`))
    expect((await client.prompts().all()).map(({ name }) => name)).toEqual(numbers.map((i) => `prompt-${i}`))
    expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(numbers.map((i) => `a:${i}`))
    expect((await client.resourceTemplates().all()).map(({ name }) => name)).toEqual(numbers.map((i) => `t${i}`))
    expect(sent('client', 'tools/list')).toHaveLength(3)
  })
})

test('a list of exactly one page has no cursor; one more item makes a second page', async () => {
  for (const [count, pages] of [
    [3, 1],
    [4, 2],
  ] as const) {
    const { client, sent } = await connectPair(newServer(count), { revision: '2025-11-25' })
    await client.tools().all()
    expect(sent('client', 'tools/list')).toHaveLength(pages)
  }
})

describe('cursors', () => {
  const firstCursor = async (raw: ReturnType<typeof rawChannel>, method = 'tools/list'): Promise<string> =>
    (await raw.ask(method, { _meta: envelope() })).result.nextCursor
  const page = (raw: ReturnType<typeof rawChannel>, cursor: unknown, method = 'tools/list') =>
    raw.ask(method, { cursor, _meta: envelope() })

  test('a value that is not a cursor of this list from this server is -32602', async () => {
    proves('T-PAGE-011', 'T-PAGE-017')
    const raw = rawChannel(newServer(7))
    const cursor = await firstCursor(raw)
    const other = await firstCursor(rawChannel(newServer(7)))
    const flipped = [...cursor].map((character, i) => cursor.slice(0, i) + (character === 'A' ? 'B' : 'A') + cursor.slice(i + 1))
    for (const wrong of [
      '',
      'abc',
      'k1.',
      'k1.AAAA',
      `${cursor}A`,
      cursor.slice(1),
      other,
      5,
      null,
      {},
      'x'.repeat(2000),
      await firstCursor(raw, 'prompts/list'),
      ...flipped,
    ]) {
      expect((await page(raw, wrong)).error, String(wrong)).toMatchObject({ code: -32602, message: 'Invalid cursor' })
    }
    expect((await page(raw, cursor)).result.tools).toHaveLength(3)
  })

  test('a cursor continues after its item, even if items were added or removed', async () => {
    proves('T-PAGE-010')
    const server = newServer(7)
    const raw = rawChannel(server)
    const cursor = await firstCursor(raw)
    server.tool('new', {}, () => 'x')
    const names = (answer: Message) => answer.result.tools.map(({ name }: { name: string }) => name)
    expect(names(await page(raw, cursor))).toEqual(['tool-3', 'tool-4', 'tool-5'])
    expect(names(await page(raw, cursor))).toEqual(['tool-3', 'tool-4', 'tool-5'])
  })

  test('a cursor whose item was removed restarts the list, so that nothing is skipped', async () => {
    const server = createServer({ name: 'x', version: '1', pageSize: 2 })
    const handles = ['a', 'b', 'c', 'd'].map((name) => server.tool(name, {}, () => 'x'))
    const raw = rawChannel(server)
    const cursor = await firstCursor(raw)
    handles[1]?.remove()
    expect((await page(raw, cursor)).result.tools.map(({ name }: { name: string }) => name)).toEqual(['a', 'c'])
  })

  test("replicas that share a key accept each other's cursors", async () => {
    const key = { id: 'shared', secret: new Uint8Array(32).fill(7) }
    const keys: KeyRing = { current: () => key, find: (id) => (id === key.id ? key : undefined) }
    const cursor = await firstCursor(rawChannel(newServer(7, { keys })))
    expect((await page(rawChannel(newServer(7, { keys })), cursor)).result.tools[0].name).toBe('tool-3')
  })

  test('all cursors have the same length, for items of any length', async () => {
    const server = createServer({ name: 'x', version: '1', pageSize: 1 })
    const uris = [3, 700, 800, 1100, 4000, 8192].map((length) => `a:${'x'.repeat(length - 2)}`).concat('a:\u{1F600}', 'b:last')
    for (const uri of uris) server.resource(uri, { name: 'x' }, () => 'x')
    for (const revision of REVISIONS) {
      const { client, sent } = await connectPair(server, { revision, cache: false })
      expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(uris)
      const cursors = sent('client', 'resources/list').slice(1)
      expect(cursors).toHaveLength(uris.length - 1)
      expect(new Set(cursors.map(({ params }) => params.cursor.length)).size).toBe(1)
    }
  })

  test('cursors and states are accepted if the id of their key is long and has dots', async () => {
    const key = { id: `keys.2026.${'k'.repeat(2000)}`, secret: new Uint8Array(32).fill(7) }
    const keys: KeyRing = { current: () => key, find: (id) => (id === key.id ? key : undefined) }
    const server = newServer(7, { keys })
    server.tool('ask', {}, async (_args, ctx) => String((await ctx.roots()).length))
    const raw = rawChannel(server)
    expect((await page(raw, await firstCursor(raw))).result.tools[0].name).toBe('tool-3')
    const params = { name: 'ask', _meta: envelope({ roots: {} }) }
    const { requestState } = (await raw.ask('tools/call', params)).result
    const again = await raw.ask('tools/call', { ...params, requestState, inputResponses: { roots: { roots: [] } } })
    expect(again.result.content).toEqual([{ type: 'text', text: '0' }])
  })

  test('a cursor finds its item when it has moved', async () => {
    const server = createServer({ name: 'x', version: '1', pageSize: 2 })
    const [a] = ['a', 'b', 'c', 'd'].map((name) => server.tool(name, {}, () => 'x'))
    const raw = rawChannel(server)
    const cursor = await firstCursor(raw)
    a?.remove()
    expect((await page(raw, cursor)).result.tools.map(({ name }: { name: string }) => name)).toEqual(['c', 'd'])
  })

  test('all pages of a list have the same scope', async () => {
    proves('R-CACHE-022')
    const raw = rawChannel(newServer(7, { listCache: { cacheScope: 'private' } }))
    const cursor = await firstCursor(raw)
    expect((await page(raw, cursor)).result.cacheScope).toBe('private')
  })
})
