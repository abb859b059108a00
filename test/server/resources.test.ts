import { describe, expect, expectTypeOf, test } from 'vitest'
import { type Annotations, createServer, McpError } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel, settle } from '../support/raw-channel.ts'

const newServer = (options = {}) => createServer({ name: 'resources', version: '1.0.0', onError: () => {}, ...options })
const notFoundCode = (revision: string) => (revision === '2026-07-28' ? -32602 : -32002)

describe.each(REVISIONS)('resources in %s', (revision) => {
  test('a server with resources declares the capability with subscribe and listChanged', async () => {
    proves('T-RES-001', 'T-RES-005', 'T-RES-006', 'T-RES-007', 'T-RES-008', 'T-ARCH-028', 'R-RES-002')
    const server = newServer()
    server.resource('config://app', { name: 'config' }, () => 'x')
    const { client } = await connectPair(server, { revision })
    expect(client.server.capabilities.resources).toEqual({ subscribe: true, listChanged: true })
  })

  test('resources are listed with the members of the revision', async () => {
    proves('T-RES-009', 'T-RES-010', 'T-RES-029', 'T-RES-030', 'T-RES-031', 'T-RES-032', 'T-RES-033', 'T-RES-034')
    proves('T-RES-035', 'T-RES-039', 'T-RES-040', 'T-RES-041')
    const server = newServer()
    const annotations = { audience: ['user' as const], priority: 0.8, lastModified: '2025-01-12T15:00:58Z' }
    server.resource(
      'file:///a.txt',
      { name: 'a.txt', title: 'The A', description: 'A file', mimeType: 'text/plain', size: 3, annotations },
      () => 'abc',
    )
    const { client } = await connectPair(server, { revision })
    const [resource] = await client.resources().all()
    expect(resource).toMatchObject({
      uri: 'file:///a.txt',
      description: 'A file',
      mimeType: 'text/plain',
      annotations: { audience: ['user'], priority: 0.8 },
    })
    // Before there were titles, the name was what people read.
    expect(resource?.name).toBe(revision < '2025-06-18' ? 'The A' : 'a.txt')
    expect(resource?.title).toBe(revision < '2025-06-18' ? undefined : 'The A')
    expect(resource?.annotations?.lastModified).toBe(revision < '2025-06-18' ? undefined : annotations.lastModified)
    expect(resource?.size).toBe(3)
  })

  test('text, bytes, values and whole results are read as text, blob, JSON and unchanged', async () => {
    proves('T-RES-011', 'T-RES-012', 'T-RES-036', 'T-RES-037', 'T-RES-038', 'T-RES-057', 'R-RES-005')
    const server = newServer()
    server.resource('a:text', { name: 'text' }, () => 'plain')
    server.resource('a:bytes', { name: 'bytes', mimeType: 'image/png' }, () => new Uint8Array([255, 0, 1]))
    server.resource('a:value', { name: 'value' }, () => ({ theme: 'dark' }))
    server.resource('a:list', { name: 'list' }, () => [
      { uri: 'a:list/1', text: 'one' },
      { uri: 'a:list/2', blob: 'Ag==' },
    ])
    server.resource('a:typed', { name: 'typed', mimeType: 'text/html' }, async () => '<p>')
    const { client } = await connectPair(server, { revision })
    expect((await client.read('a:text')).contents).toEqual([{ uri: 'a:text', mimeType: 'text/plain', text: 'plain' }])
    expect((await client.read('a:bytes')).contents).toEqual([{ uri: 'a:bytes', mimeType: 'image/png', blob: '/wAB' }])
    expect((await client.read('a:value')).contents).toEqual([{ uri: 'a:value', mimeType: 'application/json', text: '{"theme":"dark"}' }])
    expect((await client.read('a:list')).contents).toHaveLength(2)
    expect((await client.read('a:typed')).contents).toEqual([{ uri: 'a:typed', mimeType: 'text/html', text: '<p>' }])
  })

  test('templates are listed and read by matching URIs', async () => {
    proves('T-RES-013', 'T-RES-014', 'T-RES-015', 'T-RES-016', 'T-RES-017', 'T-RES-018', 'T-RES-019')
    const server = newServer()
    server.resource(
      'users://{id}/profile',
      { name: 'profile', title: 'Profile', description: 'Of a user', mimeType: 'text/plain' },
      ({ id }) => `user ${id}`,
    )
    server.resource('files:///{+path}', { name: 'files' }, ({ path }) => path)
    const { client } = await connectPair(server, { revision })
    const [profile] = await client.resourceTemplates().all()
    expect(profile).toMatchObject({ uriTemplate: 'users://{id}/profile', description: 'Of a user', mimeType: 'text/plain' })
    expect(await client.resources().all()).toEqual([])
    expect((await client.read('users://a%20b/profile')).contents).toEqual([
      { uri: 'users://a%20b/profile', mimeType: 'text/plain', text: 'user a b' },
    ])
    expect((await client.read('files:///a/b.txt')).contents[0]).toMatchObject({ text: 'a/b.txt' })
  })

  test('a missing resource is reported with the code of the revision and its URI', async () => {
    proves('T-RES-052', 'T-RES-053', 'T-BASE-035', 'R-RES-009', 'R-RES-011')
    const server = newServer()
    server.resource('a:here', { name: 'here' }, () => 'x')
    server.resource('a:off', { name: 'off' }, () => 'x').disable()
    server.resource('a:gone/{id}', { name: 'gone' }, () => undefined)
    server.resource('a:refused/{id}', { name: 'refused' }, ({ id }) => {
      throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: `a:refused/${id}` } })
    })
    const { client } = await connectPair(server, { revision })
    for (const uri of ['a:nowhere', 'a:off', 'a:gone/1', 'a:refused/1', 'constructor:x']) {
      await expect(client.read(uri)).rejects.toMatchObject({ code: notFoundCode(revision), message: 'Resource not found', data: { uri } })
    }
  })

  test('an internal error is -32603 without details', async () => {
    proves('T-RES-054', 'T-BASE-034')
    const server = newServer()
    server.resource('a:bad', { name: 'bad' }, () => {
      throw new Error('disk /dev/sda1 is full')
    })
    const { client } = await connectPair(server, { revision })
    await expect(client.read('a:bad')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error \(reference [\w-]{8}\)$/),
    })
  })

  test('a URI that is invalid, too long, or climbs out of its directory is refused', async () => {
    proves('T-RES-055', 'T-RES-058', 'T-RES-051', 'R-RES-012')
    const server = newServer()
    let reads = 0
    server.resource('file:///files/{+path}', { name: 'files' }, () => String(++reads))
    const { client } = await connectPair(server, { revision })
    for (const uri of ['no scheme', 'file:///files/a b', 'file:///files/\u0000', `file:///files/${'a'.repeat(8192)}`]) {
      await expect(client.read(uri)).rejects.toMatchObject({ code: -32602 })
    }
    for (const uri of [
      'file:///files/../etc/passwd',
      'file:///files/a/%2e%2e/%2e%2e/etc',
      'file:///files/..%2fetc',
      'file:///files/%252e%252e/x',
      'file:///files/..%5cx',
    ]) {
      await expect(client.read(uri)).rejects.toMatchObject({ message: 'Resource not found' })
    }
    expect(reads).toBe(0)
    await expect(client.read('file:///files/a/b..c')).resolves.toBeDefined()
  })

  test('annotations of resources reach the client', async () => {
    proves('T-RES-042', 'T-RES-043', 'T-RES-044')
    const server = newServer()
    const define = (name: string, annotations: Annotations) => server.resource(`a:${name}`, { name, annotations }, () => 'x')
    define('draft', { audience: ['assistant'], priority: 0.1, lastModified: '2025-03-01T00:00:00Z' })
    define('guide', { audience: ['user', 'assistant'], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' })
    define('rules', { audience: ['user'], priority: 1, lastModified: '2025-02-01T00:00:00Z' })
    const { client } = await connectPair(server, { revision })
    const listed = await client.resources().all()
    const names = (list: typeof listed) => list.map(({ name }) => name)
    expect(names(listed.filter(({ annotations }) => annotations?.audience?.includes('user')))).toEqual(['guide', 'rules'])
    const byPriority = listed.toSorted((a, b) => (b.annotations?.priority ?? 0) - (a.annotations?.priority ?? 0))
    expect(names(byPriority)).toEqual(['rules', 'guide', 'draft'])
    // Older revisions have no dates.
    if (revision < '2025-06-18') return
    const age = ({ annotations }: (typeof listed)[number]) => Date.parse(annotations?.lastModified ?? '')
    expect(names(listed.toSorted((a, b) => age(b) - age(a)))).toEqual(['draft', 'rules', 'guide'])
  })

  test('any URI scheme is accepted, with or without a file system, for directories as well', async () => {
    proves('T-RES-045', 'T-RES-048', 'T-RES-049', 'T-RES-050')
    const server = newServer()
    const uris = {
      'https://example.com/page': 'text/html',
      'file:///nowhere/on/this/machine.txt': 'text/plain',
      'file:///nowhere/on/this': 'inode/directory',
      'git://repository/main/README.md': 'text/markdown',
      'my-own.scheme+v2://x/y?z=1': 'application/json',
      'urn:isbn:0451450523': 'text/plain',
    }
    for (const [uri, mimeType] of Object.entries(uris)) server.resource(uri, { name: uri, mimeType }, () => `content of ${uri}`)
    const { client } = await connectPair(server, { revision })
    const listed = await client.resources().all()
    expect(Object.fromEntries(listed.map(({ uri, mimeType }) => [uri, mimeType]))).toEqual(uris)
    for (const [uri, mimeType] of Object.entries(uris))
      expect((await client.read(uri)).contents).toEqual([{ uri, mimeType, text: `content of ${uri}` }])
  })

  test('a change of the list is announced', async () => {
    proves('T-RES-021', 'T-RES-022')
    const server = newServer()
    const handle = server.resource('a:1', { name: 'one' }, () => 'x')
    const { client } = await connectPair(server, { revision, cache: false })
    let changes = 0
    await client.onChange('resources', () => changes++)
    server.resource('a:2', { name: 'two' }, () => 'x')
    await settle()
    handle.disable()
    await settle()
    expect(changes).toBe(2)
    expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(['a:2'])
  })

  test('a subscriber gets updates of its resource and of those below it, and no others', async () => {
    proves('T-RES-023', 'T-RES-025', 'T-RES-026', 'T-RES-027', 'R-RES-002')
    const server = newServer()
    const handle = server.resource('dir://a', { name: 'a' }, () => 'x')
    server.resource('dir://{+path}', { name: 'any' }, () => 'x')
    const { client, sent } = await connectPair(server, { revision })
    const seen: string[] = []
    const watching = (async () => {
      for await (const { uri } of client.watch('dir://a')) {
        seen.push(uri)
        if (seen.length === 2) break
      }
    })()
    await settle()
    server.resourceChanged('dir://b')
    server.resourceChanged('dir://ab')
    handle.changed()
    server.resourceChanged('dir://a/sub')
    await watching
    expect(seen).toEqual(['dir://a', 'dir://a/sub'])
    expect(sent('server', 'notifications/resources/updated').map(({ params }) => params.uri)).toEqual(seen)
  })
})

test.each(SESSION_REVISIONS)(
  'subscribe and unsubscribe return an empty result, and unsubscribe ends the updates, in %s',
  async (revision) => {
    proves('T-RES-024', 'T-BASE-037')
    const server = newServer()
    server.resource('a:1', { name: 'one' }, () => 'x')
    const raw = rawChannel(server)
    await raw.initialize(revision)
    expect((await raw.ask('resources/subscribe', { uri: 'a:1' })).result).toEqual({})
    server.resourceChanged('a:1')
    await raw.until(({ method }) => method === 'notifications/resources/updated')
    expect((await raw.ask('resources/unsubscribe', { uri: 'a:1' })).result).toEqual({})
    const before = raw.out.length
    server.resourceChanged('a:1')
    await settle()
    expect(raw.out.length).toBe(before)
    expect((await raw.ask('resources/subscribe', { uri: 'a:nowhere' })).error.code).toBe(-32002)
    expect((await raw.ask('resources/subscribe', {})).error.code).toBe(-32602)
  },
)

test('cache hints are sent where they are supported, with private and stale as defaults', async () => {
  const server = newServer({ listCache: { ttlMs: 5000, cacheScope: 'private' } })
  server.resource('a:kept', { name: 'kept', cache: { ttlMs: 60_000, cacheScope: 'public' } }, () => 'x')
  server.resource('a:plain', { name: 'plain' }, () => 'x')
  server.resource('a:own', { name: 'own' }, () => ({ contents: [], ttlMs: 7, cacheScope: 'public' }))
  const raw = rawChannel(server)
  const ask = async (method: string, params = {}) => (await raw.ask(method, { ...params, _meta: envelope() })).result
  expect(await ask('resources/read', { uri: 'a:kept' })).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
  expect(await ask('resources/read', { uri: 'a:plain' })).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  expect(await ask('resources/read', { uri: 'a:own' })).toMatchObject({ ttlMs: 7, cacheScope: 'public' })
  for (const method of ['resources/list', 'resources/templates/list', 'server/discover']) {
    expect(await ask(method)).toMatchObject({ ttlMs: 5000, cacheScope: 'private', resultType: 'complete' })
  }
})

test('a resource registered under a URI is read under exactly that URI', async () => {
  const server = newServer()
  server.resource('https://example.com', { name: 'web' }, () => 'x')
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  await expect(client.read('https://example.com')).resolves.toBeDefined()
  await expect(client.read('https://example.com/')).rejects.toMatchObject({ code: -32002 })
})

test('a fixed resource wins over a matching template', async () => {
  const server = newServer()
  server.resource('a:{id}', { name: 'any' }, () => 'template')
  server.resource('a:1', { name: 'one' }, () => 'fixed')
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  expect((await client.read('a:1')).contents[0]).toMatchObject({ text: 'fixed' })
})

test('a disabled template is neither listed nor read', async () => {
  const server = newServer()
  const handle = server.resource('a:{id}', { name: 'any' }, () => 'x')
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  handle.disable()
  expect(await client.resourceTemplates().all()).toEqual([])
  await expect(client.read('a:1')).rejects.toMatchObject({ code: -32002 })
})

test('an invalid time to live is never sent', async () => {
  proves('R-CACHE-006', 'R-CACHE-005', 'R-CACHE-013')
  const faults: unknown[] = []
  for (const ttlMs of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5']) {
    const cache = { ttlMs: ttlMs as number }
    expect(() => newServer({ listCache: cache })).toThrow('ttlMs must be a whole number of milliseconds, 0 or more')
    const server = newServer({ onError: (error: unknown) => faults.push(error) })
    expect(() => server.resource('a:1', { name: 'a', cache }, () => 'x')).toThrow('Resource a:1: ttlMs must be a whole number')
    server.resource('a:own', { name: 'own' }, () => ({ contents: [], ttlMs }))
    expect((await rawChannel(server).ask('resources/read', { uri: 'a:own', _meta: envelope() })).error).toMatchObject({ code: -32603 })
    expect(String(faults.at(-1))).toContain('The handler of a:own returned a result whose ttlMs must be')
  }
  const cacheScope = 'shared' as 'public'
  expect(() => newServer({ listCache: { cacheScope } })).toThrow('listCache: cacheScope must be "public" or "private", not "shared"')
  expect(() => newServer().resource('a:1', { name: 'a', cache: { cacheScope } }, () => 'x')).toThrow('cacheScope must be')
  for (const ttlMs of [0, 1, 2 ** 53 - 1]) newServer({ listCache: { ttlMs } })
})

test('invalid definitions are refused', () => {
  const server = newServer()
  server.resource('a:1', { name: 'one' }, () => 'x')
  expect(() => server.resource('a:1', { name: 'again' }, () => 'x')).toThrow('The resource "a:1" is already defined')
  expect(() => server.resource('no scheme', { name: 'x' }, () => 'x')).toThrow('The URI of a resource must have a scheme and no spaces')
  expect(() => server.resource(`a:${'x'.repeat(8191)}`, { name: 'x' }, () => 'x')).toThrow('at most 8192 characters; got 8193')
  expect(() => server.resource('a:{', { name: 'x' }, () => 'x')).toThrow()
  // @ts-expect-error -- the compiler finds it as well
  expect(() => server.resource('a:{id}', { name: 'x', complete: { other: () => [] } }, () => 'x')).toThrow(
    'has no variable "other" to complete',
  )
  expect(() => server.resource('b:{id}', { name: 'x' }, () => 'x').changed()).toThrow(
    'Expected the URI of a changed resource, got the template',
  )
})

test('variables are typed by the template', () => {
  const server = newServer()
  server.resource('a://{id}/{+rest}{?q}', { name: 'x' }, (variables) => {
    expectTypeOf(variables).toEqualTypeOf<{ id: string; rest: string; q?: string }>()
    return 'x'
  })
})
