import { describe, expect, test } from 'vitest'
import type { ResourceServerOptions } from '../../../src/auth/server/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { pair } from '../../../src/testing/index.ts'
import { type HttpAnswer, http, httpStream } from '../../support/http-requests.ts'
import {
  type Asked,
  askModern,
  byHeader,
  callTool,
  modern,
  openSession,
  STREAMABLE,
  serve,
  testServer,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { startIssuer } from '../../support/token-issuer.ts'

function notes() {
  const server = testServer({ listCache: { cacheScope: 'public' }, pageSize: 2 })
  const runs: string[] = []
  const run = (name: string) => () => {
    runs.push(name)
    return name
  }
  server.tool('read', { scopes: ['notes:read'] }, run('read'))
  server.tool('write', { scopes: ['notes:read', 'notes:write'] }, run('write'))
  server.tool('wipe', { scopes: ['notes:admin'] }, run('wipe'))
  server.resource('notes://open', { name: 'open' }, run('open'))
  server.resource('notes://secret', { name: 'secret', scopes: ['notes:admin'] }, run('secret'))
  server.resource('notes://open/diary', { name: 'diary', scopes: ['notes:admin'] }, run('diary'))
  server.resource('vault://{id}', { name: 'vault', scopes: ['notes:admin'], complete: { id: () => ['gold'] } }, run('vault'))
  server.prompt('plain', {}, run('plain'))
  const input = { type: 'object', properties: { of: { type: 'string' } } } as const
  server.prompt('plan', { scopes: ['notes:write'], input, complete: { of: () => ['coup'] } }, run('plan'))
  return { server, runs }
}

async function served(options: Partial<ResourceServerOptions> = {}) {
  const issuer = await startIssuer()
  const { server, runs } = notes()
  const { url } = await serve(server, { auth: issuer.protect({ scopes: ['mcp'], ...options }) })
  const having = (scope: string) => issuer.bearer({ scope })
  return { issuer, server, runs, url, having }
}

const DENIED: [string, Asked, string][] = [
  ['a tool', callTool('write'), 'mcp notes:read notes:write'],
  ['a resource', { method: 'resources/read', params: { uri: 'notes://secret' } }, 'mcp notes:admin'],
  ['a resource of a template', { method: 'resources/read', params: { uri: 'vault://1' } }, 'mcp notes:admin'],
  ['a prompt', { method: 'prompts/get', params: { name: 'plan' } }, 'mcp notes:write'],
  [
    'suggestions for a prompt',
    { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'plan' }, argument: { name: 'of', value: '' } } },
    'mcp notes:write',
  ],
  [
    'suggestions for a template',
    { method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: 'vault://{id}' }, argument: { name: 'id', value: '' } } },
    'mcp notes:admin',
  ],
]

function expectForbidden(answer: HttpAnswer, scopes: string): void {
  expect(answer.status).toBe(403)
  expect(answer.headers['www-authenticate']).toBe(
    `Bearer error="insufficient_scope", error_description="The access token lacks a required scope", scope="${scopes}", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`,
  )
}

describe('a caller that lacks a scope', () => {
  test.each(DENIED)('a caller that lacks a scope is refused %s with all the scopes it needs, stateless', async (_what, asked, scopes) => {
    proves('T-AUTH-047', 'R-AUTH-053', 'R-AUTH-054', 'R-AUTH-084')
    const { url, runs, having } = await served()
    const answer = await askModern(url, asked, await having('mcp notes:read'))
    expectForbidden(answer, scopes)
    expect(answer.message).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: -32600 } })
    expect(runs).toEqual([])
  })

  test.each(STREAMABLE)('a caller that lacks a scope is refused in the same way in a session of %s', async (revision) => {
    proves('T-AUTH-047', 'R-AUTH-033', 'R-AUTH-053', 'R-AUTH-055')
    const { url, runs, having } = await served()
    const session = await openSession(url, revision, { headers: await having('mcp notes:read') })
    for (const [, asked, scopes] of DENIED) expectForbidden(await session.ask(asked), scopes)
    expectForbidden(await session.ask({ method: 'resources/subscribe', params: { uri: 'notes://secret' } }), 'mcp notes:admin')
    expect(runs).toEqual([])
    // The next token may do more, in the same session.
    expect((await session.ask(callTool('write'), await having('mcp notes:read notes:write'))).status).toBe(200)
    expect((await session.ask(callTool('write'))).status).toBe(403)
    expect(runs).toEqual(['write'])
  })

  test('a caller that lacks a scope is refused a whole batch for one part of it', async () => {
    const { url, runs, having } = await served()
    const session = await openSession(url, '2025-03-26', { headers: await having('mcp') })
    const part = (id: number, name: string): Message => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })
    expectForbidden(await session.post([part(1, 'hi'), part(2, 'wipe'), part(3, 'read')]), 'mcp notes:admin notes:read')
    expect(runs).toEqual([])
  })

  test('a caller that lacks a scope is refused on the two endpoints as well', async () => {
    const { url, runs, having } = await served()
    const headers = await having('mcp')
    const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers })
    const place = (await stream.next())?.data
    const post = (message: Message) => http(new URL(place as string, url).href, { headers, body: message })
    expectForbidden(await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wipe' } }), 'mcp notes:admin')
    stream.destroy()
    expect(runs).toEqual([])
  })

  test('a caller that lacks the base scopes is refused everything', async () => {
    proves('T-AUTH-047')
    const { url, having } = await served()
    expectForbidden(await askModern(url, callTool('hi'), await having('notes:read')), 'mcp')
    expectForbidden(await askModern(url, callTool('hi'), await having('')), 'mcp')
  })

  test('a broader scope includes what it contains', async () => {
    proves('R-AUTH-086')
    const implies = { 'notes:all': ['notes:write', 'mcp'], 'notes:write': ['notes:read'] }
    const { url, runs, having } = await served({ implies })
    expect((await askModern(url, callTool('write'), await having('notes:all'))).status).toBe(200)
    expect((await askModern(url, callTool('wipe'), await having('notes:all'))).status).toBe(403)
    expect(runs).toEqual(['write'])
  })

  test('middleware that calls another tool does not bypass a missing scope', async () => {
    proves('R-CACHE-024')
    const { server, url, runs, having } = await served()
    server.use((call, next) => next({ params: { ...call.params, name: 'wipe' } }))
    const answer = await askModern(url, callTool('hi'), await having('mcp'))
    expect(answer.message.error).toMatchObject({ code: -32600, data: { reason: 'insufficient_scope', scopes: ['notes:admin'] } })
    expect(runs).toEqual([])
  })
})

describe('lists', () => {
  const listed = async (url: string, method: string, headers: Record<string, string>): Promise<{ names: string[]; scope: unknown }> => {
    const names: string[] = []
    let cursor: unknown
    let scope: unknown
    do {
      const { result } = (await askModern(url, { method, params: cursor === undefined ? {} : { cursor } }, headers)).message as {
        result: Message
      }
      const items = (result.tools ?? result.resources ?? result.resourceTemplates ?? result.prompts) as { name: string }[]
      names.push(...items.map(({ name }) => name))
      cursor = result.nextCursor
      scope = result.cacheScope
    } while (cursor !== undefined)
    return { names, scope }
  }

  test('lists show a caller only what it may use, page by page, and are private', async () => {
    proves('R-CACHE-024', 'R-CACHE-025')
    const { url, having } = await served()
    const all = await having('mcp notes:read notes:write notes:admin')
    const some = await having('mcp notes:read')
    const none = await having('mcp')
    expect(await listed(url, 'tools/list', all)).toEqual({ names: ['hi', 'read', 'write', 'wipe'], scope: 'private' })
    expect(await listed(url, 'tools/list', some)).toEqual({ names: ['hi', 'read'], scope: 'private' })
    expect(await listed(url, 'tools/list', none)).toEqual({ names: ['hi'], scope: 'private' })
    expect((await listed(url, 'resources/list', all)).names).toEqual(['open', 'secret', 'diary'])
    expect((await listed(url, 'resources/list', none)).names).toEqual(['open'])
    expect((await listed(url, 'resources/templates/list', none)).names).toEqual([])
    expect((await listed(url, 'prompts/list', none)).names).toEqual(['plain'])
    expect((await listed(url, 'prompts/list', all)).names).toEqual(['plain', 'plan'])
  })

  test('lists do not reveal scopes to the client', async () => {
    const { url, having } = await served()
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])
      expect((await askModern(url, { method }, await having('mcp notes:read notes:write notes:admin'))).text).not.toContain('"scopes"')
  })

  test('lists are announced as changed when the token of a session gets more scopes', async () => {
    const { url, having } = await served()
    const session = await openSession(url, '2025-11-25', { headers: await having('mcp') })
    const stream = await session.listen()
    await session.ask({ method: 'ping' }, await having('mcp'))
    await session.ask({ method: 'ping' }, await having('mcp notes:read'))
    const methods = [await stream.message(), await stream.message(), await stream.message()].map(({ method }) => method)
    expect(methods.sort()).toEqual(['prompts', 'resources', 'tools'].map((kind) => `notifications/${kind}/list_changed`))
    stream.destroy()
  })

  test('lists are right for more combinations of scopes than are cached', async () => {
    const server = testServer()
    for (let i = 0; i < 70; i++) server.tool(`t${i}`, { scopes: [`s${i}`] }, () => '')
    const issuer = await startIssuer()
    const { url } = await serve(server, { auth: issuer.protect() })
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 70; i++)
        expect((await listed(url, 'tools/list', await issuer.bearer({ scope: `s${i}` }))).names).toEqual(['hi', `t${i}`])
    }
  })
})

describe('changes of what a caller may not read', () => {
  test('changes that a caller may not read are not sent to its listener', async () => {
    const { server, url, having } = await served()
    const listen = (uri: string): Asked => ({ method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: [uri] } } })
    const headers = await having('mcp')
    expectForbidden(await askModern(url, listen('notes://secret'), headers), 'mcp notes:admin')
    const stream = await httpStream(url, modern(listen('notes://open'), headers))
    await stream.message()
    server.resourceChanged('notes://open/diary')
    server.resourceChanged('notes://open')
    expect((await stream.message()).params).toMatchObject({ uri: 'notes://open' })
    stream.destroy()
  })

  test('changes that a caller may not read are not sent in its session', async () => {
    const { server, url, having } = await served()
    const session = await openSession(url, '2025-11-25', { headers: await having('mcp') })
    const stream = await session.listen()
    expect((await session.ask({ method: 'resources/subscribe', params: { uri: 'notes://open' } })).status).toBe(200)
    server.resourceChanged('notes://open/diary')
    server.resourceChanged('notes://open')
    expect((await stream.message()).params).toMatchObject({ uri: 'notes://open' })
    stream.destroy()
  })
})

describe('where nobody asks for credentials', () => {
  test('a local caller may use everything', async () => {
    proves('T-AUTH-001', 'T-AUTH-004')
    const { server } = notes()
    const { client } = await pair(server)
    expect(await client.call('wipe', {})).toMatchObject({ content: [{ text: 'wipe' }] })
    await client.close()
  })

  test('a caller over HTTP without credentials may use nothing that needs a scope', async () => {
    for (const options of [{}, { authenticate: byHeader }]) {
      const { server, runs } = notes()
      const { url } = await serve(server, options)
      const headers = { 'x-user': 'alice' }
      const { message } = await askModern(url, callTool('wipe'), headers)
      expect(message.error).toMatchObject({ code: -32600, data: { scopes: ['notes:admin'] } })
      expect((await askModern(url, callTool('hi'), headers)).message.result).toBeDefined()
      expect(runs).toEqual([])
    }
  })

  test('a definition without scopes is open to every caller', async () => {
    const server = createServer({ name: 'a', version: '1' })
    server.tool('x', { scopes: [] }, () => 'x')
    const { url } = await serve(server)
    expect((await askModern(url, callTool('x'))).message.result).toBeDefined()
  })
})
