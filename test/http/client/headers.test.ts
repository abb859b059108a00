import { describe, expect, test } from 'vitest'
import type { Authorizer } from '../../../src/http/client/index.ts'
import { httpTarget } from '../../../src/http/client/index.ts'
import { proves } from '../../support/proves.ts'
import { failureOf, open, openSession, sessionServer, statelessServer } from './scripted-http.ts'

describe('custom headers', () => {
  test('custom headers are sent with every request', async () => {
    const server = await sessionServer()
    const { client } = await openSession(server, { http: { headers: { 'X-Tenant': 'acme' } } })
    await client.ping()
    await client.close()
    expect(server.received.map(({ verb }) => verb)).toContain('DELETE')
    for (const { headers } of server.received) expect(headers['x-tenant']).toBe('acme')
  })

  test('custom headers may be computed for each request', async () => {
    let count = 0
    const server = await statelessServer()
    const { client } = await open(server, { http: { headers: async () => ({ 'x-count': String(++count) }) } })
    await client.tools().all()
    expect(server.received.map(({ headers }) => headers['x-count'])).toEqual(['1', '2'])
  })

  test.each(['Accept', 'content-type', 'Mcp-Session-Id', 'mcp-param-x', 'Host', 'MCP-Protocol-Version'])(
    'custom headers may not be one that the transport sets: %s',
    async (name) => {
      const target = httpTarget('http://localhost/', { headers: { [name]: 'x' } })
      await expect(target.open()).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED', message: expect.stringContaining(name) })
    },
  )

  test('custom headers that cannot be sent fail the request, not the program', async () => {
    const server = await statelessServer()
    expect(await failureOf(open(server, { http: { headers: { 'x-bad': 'a\nb' } } }))).toMatchObject({ code: 'ERR_NETWORK' })
    const failing = { headers: () => Promise.reject(new Error('the vault is closed')) }
    expect(await failureOf(open(server, { http: failing }))).toMatchObject({ message: expect.stringContaining('the vault is closed') })
    expect(server.received).toEqual([])
  })
})

describe('the Authorization header', () => {
  const keeper = (tokens: string[]): Authorizer & { asked: { status: number; challenge: unknown }[] } => {
    const asked: { status: number; challenge: unknown }[] = []
    return {
      asked,
      headers: async (): Promise<Record<string, string>> => (tokens[0] === undefined ? {} : { authorization: `Bearer ${tokens[0]}` }),
      onUnauthorized: async ({ status, headers }) => {
        asked.push({ status, challenge: headers['www-authenticate'] })
        tokens.shift()
        return tokens.length > 0
      },
    }
  }

  test('the Authorization header is on every POST, GET and DELETE', async () => {
    proves('T-AUTH-037')
    const server = await sessionServer()
    const { client } = await openSession(server, { http: { authorize: keeper(['good']) } })
    await client.ping()
    await client.close()
    expect(new Set(server.received.map(({ verb }) => verb))).toEqual(new Set(['POST', 'GET', 'DELETE']))
    for (const { headers } of server.received) expect(headers.authorization).toBe('Bearer good')
  })

  test.each([401, 403])('a token that is refused with %i is renewed once, and the request is sent again', async (status) => {
    const server = await statelessServer({
      'tools/list': ({ headers, message }, answer) => {
        if (headers.authorization !== 'Bearer new') return answer.status(status, { 'www-authenticate': 'Bearer scope="x"' })
        answer.json({ jsonrpc: '2.0', id: message.id, result: { tools: [] } })
      },
    })
    const authorize = keeper(['old', 'new'])
    const { client } = await open(server, { http: { authorize } })
    expect(await client.tools().all()).toEqual([])
    expect(authorize.asked).toEqual([{ status, challenge: 'Bearer scope="x"' }])
    expect(server.posts('tools/list').map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
  })

  test('a token that stays refused is an error after four more attempts', async () => {
    const server = await statelessServer({ 'tools/list': (_, answer) => answer.text('who are you?', 401) })
    const authorize = keeper(['a', 'b', 'c', 'd', 'e', 'f'])
    const { client } = await open(server, { http: { authorize } })
    expect(await failureOf(client.tools().all())).toMatchObject({
      code: 'ERR_AUTH',
      data: { reason: 'refused', status: 401 },
      message: expect.stringContaining('who are you?'),
    })
    expect(server.posts('tools/list')).toHaveLength(5)
  })

  test('an expired token of a login is no refused key', async () => {
    const challenge = 'Bearer error="invalid_token", error_description="The token has expired", resource_metadata="https://a.example/x"'
    const server = await statelessServer({ 'server/discover': (_, answer) => answer.status(401, { 'www-authenticate': challenge }) })
    const fault = await failureOf(open(server, { http: { headers: { authorization: 'Bearer old' } } }))
    expect(fault).toMatchObject({ code: 'ERR_AUTH', message: expect.stringContaining('Its tokens come from a login') })
    expect((fault as { data?: object }).data).not.toHaveProperty('isKeyRefused')
  })

  test('a missing token is an error with the message of the server', async () => {
    const server = await statelessServer({ 'server/discover': (_, answer) => answer.text('who are you?', 401) })
    const authorize = keeper([])
    expect(await failureOf(open(server, { http: { authorize } }))).toMatchObject({
      code: 'ERR_AUTH',
      data: { reason: 'refused', status: 401 },
    })
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([undefined])
    const failing: Authorizer = { ...keeper([]), onUnauthorized: () => Promise.reject(new Error('no browser')) }
    expect(await failureOf(open(server, { http: { authorize: failing } }))).toMatchObject({
      message: expect.stringContaining('no browser'),
    })
  })

  test('a token replaces a fixed Authorization header', async () => {
    const server = await statelessServer()
    await open(server, { http: { headers: { Authorization: 'Bearer fixed', 'x-a': 'b' }, authorize: keeper(['good']) } })
    expect(server.received[0]?.headers).toMatchObject({ authorization: 'Bearer good', 'x-a': 'b' })
  })
})
