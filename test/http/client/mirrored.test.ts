import { describe, expect, test } from 'vitest'
import { decodeHeaderValue } from '../../../src/http/header-value.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { failureOf, type HttpScript, open, openSession, SAID, type Script, sessionServer, statelessServer } from './scripted-http.ts'

const annotated = (properties: Message): Message => ({ name: 'query', inputSchema: { type: 'object', properties } })

const REGION = annotated({
  region: { type: 'string', 'x-mcp-header': 'Region' },
  count: { type: 'integer', 'x-mcp-header': 'Count' },
  isDry: { type: 'boolean', 'x-mcp-header': 'Is-Dry' },
  place: { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
  query: { type: 'string' },
})

const listing = (...tools: Message[]): Script => ({
  'tools/list': (_, answer) => answer.result({ resultType: 'complete', tools, ttlMs: 60_000, cacheScope: 'private' }),
})

const paramsOf = (server: HttpScript): Record<string, unknown>[] =>
  server
    .posts('tools/call')
    .map(({ headers }) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => (name.startsWith('mcp-param-') ? [[name.slice(10), value]] : [])),
      ),
    )

const BOTH: [string, (script: Script) => Promise<HttpScript>][] = [
  ['in a session', sessionServer],
  ['without a session', statelessServer],
]

describe.each(BOTH)('parameters that a tool wants in headers, %s', (_, serve) => {
  test('mirrored parameters are sent as header text if they are given', async () => {
    proves('T-HDR-020', 'T-HDR-021', 'T-HDR-022', 'T-HDR-032', 'T-HDR-033', 'T-HDR-038', 'T-HDR-043', 'R-HDR-018', 'R-HDR-022', 'R-HDR-031')
    const server = await serve(listing(REGION))
    const { client } = await open(server)
    await client.tools().all()
    await client.call('query', { region: 'us-west1', count: 42, isDry: true, place: { city: 'Bern' }, query: 'SELECT 1' })
    await client.call('query', { region: '', count: -7, isDry: false })
    await client.call('query', { region: null, place: {}, query: 'x' })
    await client.call('query', { region: ' Größe\r\nX: y', count: Number.MAX_SAFE_INTEGER })
    expect(paramsOf(server)).toEqual([
      { region: 'us-west1', count: '42', 'is-dry': 'true', city: 'Bern' },
      { region: '', count: '-7', 'is-dry': 'false' },
      {},
      { region: expect.stringMatching(/^=\?base64\?/), count: '9007199254740991' },
    ])
    expect(decodeHeaderValue(String(paramsOf(server)[3]?.region))).toBe(' Größe\r\nX: y')
    const written = server.posts('tools/call')[0]?.rawHeaders.filter((name) => /^mcp-param-region$/i.test(name))
    expect(written).toHaveLength(1)
  })

  test.each([
    ['too large', 2 ** 53, /from -9007199254740991 to 9007199254740991, not 9007199254740992/],
    ['too small', -(2 ** 53), /not -9007199254740992/],
    ['far too large', 1e21, /not 1e\+21/],
    ['a fraction', 1.5, /"count" is sent in a header and must be an integer .*, not 1\.5/],
    ['no number', '7', /not "7"/],
    ['infinite', Number.POSITIVE_INFINITY, /cannot represent the number Infinity at arguments\.count/],
  ] as [string, unknown, RegExp][])('a call is not made when a mirrored integer is %s', async (_, count, message) => {
    proves('R-HDR-015')
    const server = await serve(listing(REGION))
    const { client } = await open(server)
    expect(await failureOf(client.call('query', { region: 'eu', count }))).toMatchObject({
      code: 'ERR_INVALID_PARAMS',
      message: expect.stringMatching(message),
    })
    expect(server.posts('tools/call')).toEqual([])
    await client.call('query', { region: 'eu', count: -(2 ** 53 - 1) })
    expect(paramsOf(server)).toEqual([{ region: 'eu', count: '-9007199254740991' }])
  })

  test('mirrored parameters are known before the first call, by listing the tools once', async () => {
    proves('T-HDR-038')
    const server = await serve(listing(REGION))
    const { client } = await open(server)
    await Promise.all([1, 2, 3].map((count) => client.call('query', { region: 'eu', count })))
    expect(paramsOf(server)).toEqual([1, 2, 3].map((count) => ({ region: 'eu', count: String(count) })))
    expect(server.posts('tools/list')).toHaveLength(1)
  })

  test('invalid header annotations disable only their own tool, with a warning', async () => {
    proves('T-HDR-027', 'T-HDR-028', 'T-HDR-029', 'R-HDR-019')
    const bad = { ...annotated({ region: { type: 'string', 'x-mcp-header': 'My Region' } }), name: 'bad' }
    const server = await serve(listing(bad, REGION))
    const { client, warnings } = await open(server)
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['query'])
    expect(warnings).toEqual([expect.stringMatching(/Tool "bad" is ignored: .*My Region/)])
    expect(await failureOf(client.call('bad', { region: 'x' }))).toMatchObject({
      code: 'ERR_UNSUPPORTED',
      message: expect.stringContaining('My Region'),
    })
    expect(server.posts('tools/call')).toEqual([])
  })

  test('tools that cannot be listed do not block calls', async () => {
    const server = await serve({ 'tools/list': (_, answer) => answer.error(-32603, 'not today') })
    const { client, warnings } = await open(server)
    expect(await client.call('query', {})).toMatchObject(SAID)
    expect(warnings).toEqual([expect.stringContaining('not today')])
  })
})

describe('a refusal because of headers', () => {
  const moving = (code: number, serve: (script: Script) => Promise<HttpScript>): Promise<HttpScript> => {
    let isNew = false
    const other = annotated({ region: { type: 'string', 'x-mcp-header': 'Zone' } })
    return serve({
      'tools/list': (_, answer) =>
        answer.result({ resultType: 'complete', tools: [isNew ? other : REGION], ttlMs: 60_000, cacheScope: 'private' }),
      'tools/call': ({ headers }, answer) => {
        isNew = true
        if (headers['mcp-param-zone'] === undefined) return answer.error(code, 'Header mismatch: Mcp-Param-Zone is missing', 400)
        answer.result({ resultType: 'complete', ...SAID })
      },
    })
  }

  test.each([
    ['without a session', -32020, statelessServer],
    ['in a session', -32001, sessionServer],
  ] as const)('a refusal because of headers reloads the tools and retries once, %s', async (_, code, serve) => {
    proves('R-HDR-026')
    const server = await moving(code, serve)
    const { client } = await open(server)
    expect(await client.call('query', { region: 'eu' })).toMatchObject(SAID)
    expect(server.posts('tools/call').map(({ headers }) => headers['mcp-param-zone'])).toEqual([undefined, 'eu'])
    expect(server.posts('tools/list')).toHaveLength(2)
    const [first, second] = server.posts('tools/call')
    expect(second?.message.id).not.toBe(first?.message.id)
  })

  test.each(Array.from({ length: 20 }, (_, i) => -32019 + i))('%i without a session does not reload the tools', async (code) => {
    proves('R-BASE-047')
    const server = await moving(code, statelessServer)
    const { client } = await open(server)
    expect(await failureOf(client.call('query', { region: 'eu' }))).toMatchObject({ name: 'RemoteError', code })
    expect(server.posts('tools/call')).toHaveLength(1)
    expect(server.posts('tools/list')).toHaveLength(1)
  })

  test('a refusal because of headers is final when the tools are the same', async () => {
    const server = await sessionServer({ ...listing(REGION), 'tools/call': (_, answer) => answer.error(-32001, 'took too long') })
    const { client } = await openSession(server)
    expect(await failureOf(client.call('query', { region: 'eu' }))).toMatchObject({ name: 'RemoteError', code: -32001 })
    expect(server.posts('tools/call')).toHaveLength(1)
  })
})
