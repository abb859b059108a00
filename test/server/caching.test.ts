import { expect, test } from 'vitest'
import { createServer } from '../../src/server/index.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel } from '../support/raw-channel.ts'

const newServer = (options = {}) => {
  const server = createServer({ name: 'cached', version: '1', pageSize: 2, ...options })
  for (const i of [1, 2, 3]) {
    server.tool(`t${i}`, {}, () => 'x')
    server.prompt(`p${i}`, {}, () => 'x')
    server.resource(`a:${i}`, { name: 'a' }, () => 'x')
    server.resource(`t${i}:{id}`, { name: 't' }, () => 'x')
  }
  return server
}
const CACHEABLE: [string, Message][] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'a:1' }],
]

test('the six cacheable results say for how long and for whom, by default only for the caller', async () => {
  proves('R-CACHE-001', 'R-CACHE-005', 'R-CACHE-013', 'R-CACHE-017', 'R-CACHE-023', 'R-PAGE-003')
  const raw = rawChannel(newServer())
  for (const [method, params] of CACHEABLE) {
    const { result } = await raw.ask(method, { ...params, _meta: envelope() })
    expect(result, method).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' })
    expect(Number.isInteger(result.ttlMs) && result.ttlMs >= 0, method).toBe(true)
  }
  const { capabilities } = (await raw.ask('server/discover', { _meta: envelope() })).result
  expect(capabilities).toMatchObject({ tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } })
})

test('other results do not say how long they may be cached', async () => {
  proves('R-CACHE-001')
  const raw = rawChannel(newServer())
  for (const [method, params] of [
    ['tools/call', { name: 't1' }],
    ['prompts/get', { name: 'p1' }],
  ] as const) {
    const { result } = await raw.ask(method, { ...params, _meta: envelope() })
    for (const member of ['ttlMs', 'cacheScope']) expect(result, method).not.toHaveProperty(member)
  }
})

test('every page of a list has the same cache scope, even if callers have different scopes', async () => {
  proves('R-CACHE-022')
  for (const cacheScope of ['public', 'private'] as const) {
    for (const isScoped of [false, true]) {
      const server = newServer({ listCache: { cacheScope } })
      if (isScoped) server.tool('admin', { scopes: ['admin'] }, () => 'x')
      const raw = rawChannel(server)
      const scopes = []
      let cursor: string | undefined
      do {
        const { result } = await raw.ask('tools/list', { ...(cursor === undefined ? {} : { cursor }), _meta: envelope() })
        scopes.push(result.cacheScope)
        cursor = result.nextCursor
      } while (cursor !== undefined)
      expect(scopes).toEqual([isScoped ? 'private' : cacheScope, isScoped ? 'private' : cacheScope])
    }
  }
})

test('lists do not depend on the connection or on its earlier requests', async () => {
  proves('R-TOOL-023', 'R-PROM-006', 'R-RES-004', 'R-TOOL-024', 'R-TOOL-032')
  const server = newServer()
  const lists = async (raw: ReturnType<typeof rawChannel>) => {
    const results = []
    for (const [method] of CACHEABLE.slice(1, 5)) results.push((await raw.ask(method, { _meta: envelope() })).result)
    return results
  }
  const first = rawChannel(server)
  const before = await lists(first)
  await first.ask('tools/call', { name: 't1', _meta: envelope({ sampling: {}, elicitation: {} }) })
  await first.ask('resources/read', {
    uri: 'a:2',
    _meta: envelope({}, { 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '2' } }),
  })
  const other = rawChannel(server)
  await other.initialize('2025-11-25')
  await other.ask('resources/subscribe', { uri: 'a:1' })
  // The cursors are sealed anew for nobody: the same page is the same object.
  expect(await lists(first)).toEqual(before)
  expect(await lists(other)).toEqual(before)
  expect(JSON.stringify(before)).not.toContain('execution')
})
