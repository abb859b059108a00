import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { proves } from '../support/proves.ts'
import type { Message } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const endless =
  (pages: number, perPage: number, cursorOf = (page: number) => `c${page}`) =>
  (params: Message) => {
    const page = params.cursor === undefined ? 0 : Number(String(params.cursor).slice(1))
    return {
      tools: Array.from({ length: perPage }, (_, i) => tool(`t${page}-${i}`)),
      ...(page + 1 < pages ? { nextCursor: cursorOf(page + 1) } : {}),
    }
  }

describe('a list', () => {
  test('a list is read page by page on demand, with the cursor of the server unchanged', async () => {
    proves('T-PAGE-003', 'T-PAGE-006', 'T-PAGE-014', 'T-PAGE-015', 'T-PAGE-016')
    const odd = 'ä "quoted" \\ \u2028 cursor=='
    const server = cannedServer({
      results: {
        'tools/list': ({ cursor }) => (cursor === undefined ? { tools: [tool('a'), tool('b')], nextCursor: odd } : { tools: [tool('c')] }),
      },
    })
    const client = await Client.connect(server.target)
    const names: string[] = []
    for await (const { name } of client.tools()) {
      names.push(name)
      if (name === 'a') expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1)
    }
    expect(names).toEqual(['a', 'b', 'c'])
    expect(server.received.filter(({ method }) => method === 'tools/list').map(({ params }) => params?.cursor)).toEqual([undefined, odd])
  })

  test('a list that stops in the middle asks for no further page', async () => {
    const server = cannedServer({ results: { 'tools/list': endless(10, 2) } })
    const client = await Client.connect(server.target)
    for await (const { name } of client.tools()) if (name === 't1-0') break
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(2)
  })

  test('a loop over a list that is returned does not wait for the page that was asked for', async () => {
    const client = await Client.connect(cannedServer({ results: { 'tools/list': () => undefined } }).target)
    const loop = client.tools()[Symbol.asyncIterator]()
    const next = loop.next()
    expect(await loop.return?.()).toMatchObject({ done: true })
    expect(await next).toMatchObject({ done: true })
  })

  test.each([
    ['its last page', {}, 1],
    ['a page that leads nowhere', { nextCursor: 'x' }, 1],
    ['a page before the last', { nextCursor: 'y' }, 2],
  ])('a list that was read to %s says which tools there are', async (_where, end, lists) => {
    const server = cannedServer({
      results: {
        'tools/list': ({ cursor }) => {
          if (cursor === undefined) return { tools: [tool('a')], nextCursor: 'x' }
          return cursor === 'y' ? { tools: 'not a list' } : { tools: [tool('b')], ...end }
        },
        'tools/call': { content: [], structuredContent: {} },
      },
    })
    const client = await Client.connect(server.target)
    const count = () => server.received.filter(({ method, params }) => method === 'tools/list' && params?.cursor === undefined).length
    await client
      .tools()
      .all()
      .catch(() => {})
    await client.call('not listed').catch(() => {})
    expect(count()).toBe(lists)
  })

  test('a list may have an empty page in the middle', async () => {
    proves('T-PAGE-008')
    const server = cannedServer({
      results: { 'tools/list': ({ cursor }) => (cursor === undefined ? { tools: [], nextCursor: 'x' } : { tools: [tool('a')] }) },
    })
    const client = await Client.connect(server.target)
    expect(await client.tools().all()).toEqual([tool('a')])
  })

  test('a list may have 64 pages and maxItems items, and no more', async () => {
    const all = async (pages: number, perPage: number, limits: object) =>
      (await Client.connect(cannedServer({ results: { 'tools/list': endless(pages, perPage) } }).target, { limits })).tools().all()
    expect(await all(64, 1, {})).toHaveLength(64)
    await expect(all(65, 1, {})).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'tools/list has more than 64 pages',
    })
    // More items may come in more pages.
    expect(await all(128, 1, { maxItems: 20_000 })).toHaveLength(128)
    await expect(all(129, 1, { maxItems: 20_000 })).rejects.toMatchObject({ message: 'tools/list has more than 128 pages' })
    expect(await all(2, 5, { maxItems: 10 })).toHaveLength(10)
    await expect(all(2, 5, { maxItems: 9 })).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'tools/list has more than 9 items (limits.maxItems)',
    })
  })

  test.each(['same', ''])('a list whose cursor %j comes again in answer to it ends there, with a warning', async (cursor) => {
    proves('R-PAGE-001')
    const warnings: string[] = []
    const onWarning = (message: string) => void warnings.push(message)
    const sent: unknown[] = []
    const stuck = cannedServer({
      results: {
        'tools/list': (params: { cursor?: string }) => {
          sent.push(params.cursor)
          return { tools: [tool('a')], nextCursor: cursor }
        },
      },
    })
    const client = await Client.connect(stuck.target, { onWarning })
    expect(await client.tools().all()).toEqual([tool('a')])
    expect(sent).toEqual([undefined, cursor])
    expect(warnings).toEqual([`tools/list returned the cursor ${JSON.stringify(cursor)} that it was called with; the list ends there`])
  })

  test('a list whose last page gives its own cursor again is read to that page', async () => {
    const paged = cannedServer({
      results: { 'tools/list': (params: { cursor?: string }) => ({ tools: [tool(params.cursor ?? 'a')], nextCursor: 'b' }) },
    })
    const client = await Client.connect(paged.target)
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['a', 'b'])
  })

  test('a list whose cursors go in a circle ends', async () => {
    const circle = cannedServer({
      results: {
        'tools/list': (params: { cursor?: string }) => ({ tools: [tool('a')], nextCursor: params.cursor === 'x' ? 'y' : 'x' }),
      },
    })
    const client = await Client.connect(circle.target)
    await expect(client.tools().all()).rejects.toMatchObject({ code: 'ERR_LIMIT', message: 'tools/list returned the same cursor twice' })
  })

  test('a page without its list is an error, and items that are not objects are left out', async () => {
    const client = await Client.connect(
      cannedServer({ results: { 'tools/list': {}, 'prompts/list': { prompts: [5, null, { name: 'p' }] } } }).target,
    )
    await expect(client.tools().all()).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID', message: 'A page of a list has no "tools"' })
    expect(await client.prompts().all()).toEqual([{ name: 'p' }])
  })

  test('a list leaves out tools without a name or a schema, with a warning', async () => {
    const warnings: string[] = []
    const client = await Client.connect(
      cannedServer({ results: { 'tools/list': { tools: [{ name: 'a' }, { inputSchema: {} }, tool('ok')] } } }).target,
      { onWarning: (message) => warnings.push(message) },
    )
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['ok'])
    expect(warnings).toHaveLength(2)
  })
})

test('tools with invalid header annotations are left out, only where parameters become headers', async () => {
  proves('R-HDR-019', 'R-HDR-020')
  const tools = [
    tool('plain'),
    { name: 'good', inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } },
    { name: 'bad', inputSchema: { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } } },
  ]
  const warnings: string[] = []
  const names = async (mirrorsHeaders: boolean) => {
    const client = await Client.connect(cannedServer({ results: { 'tools/list': { tools } } }, { mirrorsHeaders }).target, {
      onWarning: (message) => warnings.push(message),
    })
    return (await client.tools().all()).map(({ name }) => name)
  }
  expect(await names(true)).toEqual(['plain', 'good'])
  expect(warnings).toEqual(['Tool "bad" is ignored: property "n": only a string, an integer or a boolean can be mirrored, not "number"'])
  expect(await names(false)).toEqual(['plain', 'good', 'bad'])
})

test('an empty cursor is a cursor: the list goes on with it', async () => {
  proves('R-PAGE-001')
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const server = cannedServer({
      revision,
      results: { 'tools/list': ({ cursor }) => (cursor === '' ? { tools: [tool('b')] } : { tools: [tool('a')], nextCursor: '' }) },
    })
    const client = await Client.connect(server.target)
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['a', 'b'])
    const asked = server.received.filter(({ method }) => method === 'tools/list')
    expect(asked.map(({ params }) => params?.cursor)).toEqual([undefined, ''])
  }
})
