import { describe, expect, test } from 'vitest'
import { resourceServer } from '../../../src/auth/server/index.ts'
import { httpHandler } from '../../../src/http/index.ts'
import { http, rawHttp } from '../../support/http-requests.ts'
import { askModern, callTool, initializeMessage, modern, STREAMABLE, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { protectedServer, RESOURCE } from '../../support/token-issuer.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

describe('the metadata of a protected server', () => {
  test('the resource metadata is public, at its path and at the root', async () => {
    proves('T-AUTH-017', 'T-AUTH-019', 'R-AUTH-026', 'R-AUTH-027')
    const { issuer, port } = await protectedServer({ scopes: ['mcp'], scopesSupported: ['mcp', 'notes:read'], name: 'Notes' })
    for (const path of [`${WELL_KNOWN}/mcp`, WELL_KNOWN]) {
      const answer = await http(`http://127.0.0.1:${port}${path}`, {
        method: 'GET',
        isBare: true,
        headers: { origin: 'https://anywhere.example' },
      })
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json')
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.message).toEqual({
        resource: RESOURCE,
        authorization_servers: [issuer.url],
        scopes_supported: ['mcp', 'notes:read'],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        resource_name: 'Notes',
      })
    }
  })

  test('the resource metadata lists the base scopes, and a challenge may ask for others', async () => {
    proves('R-AUTH-030', 'R-AUTH-052')
    const documentOf = async (port: number) =>
      (await http(`http://127.0.0.1:${port}${WELL_KNOWN}`, { method: 'GET', isBare: true })).message as Record<string, unknown>
    const usual = await protectedServer({ scopes: ['mcp'] })
    usual.server.tool('wipe', { scopes: ['admin'] }, () => 'wiped')
    expect((await documentOf(usual.port)).scopes_supported).toEqual(['mcp'])
    const more = await askModern(usual.url, callTool('wipe'), await usual.issuer.bearer())
    expect(more.headers['www-authenticate']).toContain('scope="mcp admin"')
    const other = await protectedServer({ scopes: ['mcp'], scopesSupported: ['basic'] })
    expect((await documentOf(other.port)).scopes_supported).toEqual(['basic'])
    expect((await askModern(other.url, callTool('note'))).headers['www-authenticate']).toContain('scope="mcp"')
  })

  test('the resource metadata is read-only, and nothing else is there', async () => {
    const { port } = await protectedServer()
    const at = (path: string, method: string) => http(`http://127.0.0.1:${port}${path}`, { method, isBare: true })
    expect((await at(WELL_KNOWN, 'POST')).status).toBe(405)
    expect((await at(WELL_KNOWN, 'DELETE')).status).toBe(405)
    expect(await at(WELL_KNOWN, 'OPTIONS')).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': '*' } })
    expect((await at(`${WELL_KNOWN}/other`, 'GET')).status).toBe(404)
    expect((await at('/.well-known/openid-configuration', 'GET')).status).toBe(404)
    expect((await at(`${WELL_KNOWN}?x=1`, 'GET')).status).toBe(200)
  })

  test('the resource metadata is refused under a false host name, and is the only page open to CORS', async () => {
    const { issuer, port, url } = await protectedServer()
    const answer = await http(`http://127.0.0.1:${port}${WELL_KNOWN}`, { method: 'GET', isBare: true, headers: { host: 'evil.example' } })
    expect(answer.status).toBe(403)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    const foreign = await askModern(url, callTool('note'), { ...(await issuer.bearer()), origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined()
    // The name that the resource goes by is one it is served under.
    const named = await http(`http://127.0.0.1:${port}${WELL_KNOWN}`, { method: 'GET', isBare: true, headers: { host: 'mcp.example.com' } })
    expect(named.status).toBe(200)
  })

  test('the resource metadata is served by the fetch handler too', async () => {
    const auth = resourceServer({ resource: RESOURCE, issuer: 'https://login.example.com' })
    const handler = httpHandler(testServer(), { auth })
    const answer = await handler.fetch(new Request(`https://mcp.example.com${WELL_KNOWN}/mcp`))
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ resource: RESOURCE })
    expect((await handler.fetch(new Request(RESOURCE, { method: 'POST' }))).status).toBe(401)
  })

  test('the resource metadata has the canonical form of the resource', async () => {
    proves('T-AUTH-030', 'T-AUTH-033')
    const named = (resource: string): unknown => {
      const auth = resourceServer({ resource, issuer: 'https://login.example.com' })
      return JSON.parse(auth.document('GET', WELL_KNOWN)?.body ?? '').resource
    }
    expect(named('HTTPS://MCP.Example.COM')).toBe('https://mcp.example.com')
    expect(named('https://mcp.example.com/')).toBe('https://mcp.example.com')
    expect(named('https://mcp.example.com:443/MCP')).toBe('https://mcp.example.com/MCP')
    expect(named('https://mcp.example.com/mcp/')).toBe('https://mcp.example.com/mcp/')
  })

  test('an invalid configuration is refused at once, such as an issuer without encryption', () => {
    proves('T-AUTH-053', 'R-AUTH-083')
    const define = (options: Partial<Parameters<typeof resourceServer>[0]>) => () =>
      resourceServer({ resource: RESOURCE, issuer: 'https://login.example.com', ...options })
    expect(define({ resource: 'http://mcp.example.com/mcp' })).toThrow('must be https')
    expect(define({ resource: 'mcp.example.com' })).toThrow('not a URL')
    expect(define({ resource: `${RESOURCE}#part` })).toThrow('fragment')
    expect(define({ resource: 'https://user@mcp.example.com/' })).toThrow('user')
    expect(define({ issuer: 'http://login.example.com' })).toThrow('must be https')
    expect(() => resourceServer({ resource: RESOURCE })).toThrow('Expected at least one issuer')
    expect(define({ scopes: ['a b'] })).toThrow('Not a valid scope')
    expect(define({ scopes: ['say "hi"'] })).toThrow('Not a valid scope')
    expect(define({ scopesSupported: ['offline_access'] })).toThrow('offline_access')
    expect(define({ scopes: ['mcp', 'offline_access'] })).toThrow('offline_access')
    expect(() => testServer().tool('x', { scopes: ['offline_access'] }, () => '')).toThrow('offline_access')
    expect(define({ issuer: { issuer: 'https://login.example.com', algorithms: ['HS256'] } })).toThrow('HS256')
    const introspection = { clientId: 'a', clientSecret: 'b' }
    expect(define({ issuers: ['https://a.example', 'https://b.example'].map((issuer) => ({ issuer, introspection })) })).toThrow('Only one')
    expect(() => testServer().tool('x', { scopes: ['a b'] }, () => '')).toThrow('not a scope')
  })
})

describe('a caller without good credentials', () => {
  test('a caller without credentials is told where to get some, without an error code', async () => {
    proves('T-AUTH-021', 'T-AUTH-046', 'T-SEC-008', 'T-SEC-009', 'R-AUTH-026', 'R-AUTH-029')
    const { issuer, calls, url } = await protectedServer({ scopes: ['mcp', 'notes:read'] })
    const session = await http(url, { body: initializeMessage('2025-06-18'), headers: await issuer.bearer({ scope: 'mcp notes:read' }) })
    const stolen = { 'mcp-session-id': String(session.headers['mcp-session-id']) }
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { body: { jsonrpc: '2.0', id: 1, method: 'ping' } } : {}
      const answer = await http(url, { method, headers: stolen, ...body })
      expect(answer.status).toBe(401)
      const challenge = String(answer.headers['www-authenticate'])
      expect(challenge).toMatch(
        /^Bearer scope="mcp notes:read", resource_metadata="https:\/\/mcp\.example\.com\/\.well-known\/oauth-protected-resource\/mcp"/,
      )
      expect(challenge).not.toContain('error')
    }
    expect((await http(url, { body: initializeMessage('2025-06-18') })).status).toBe(401)
    expect((await askModern(url, callTool('note'))).status).toBe(401)
    expect((await askModern(url, callTool('note'), { authorization: 'Basic YWxpY2U6c2VjcmV0' })).status).toBe(401)
    expect(calls).toEqual([])
  })

  test('a caller with a bad token is told that it is invalid', async () => {
    proves('T-AUTH-041', 'R-AUTH-013')
    const { issuer, url } = await protectedServer({ scopes: ['mcp'] })
    const { status, headers } = await askModern(url, callTool('note'), await issuer.bearer({ exp: 1 }))
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toBe(
      'Bearer error="invalid_token", error_description="The token has expired", scope="mcp", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
    )
  })

  test('a malformed Authorization header is a bad request', async () => {
    proves('T-AUTH-048')
    const { issuer, calls, url, port } = await protectedServer()
    const token = await issuer.token()
    for (const authorization of [
      'Bearer',
      'Bearer ',
      'Bearer a b',
      `Bearer ${token}, Bearer ${token}`,
      'Bearer "x"',
      ':',
      'Bearer \u00e9\u00e8',
    ])
      expect((await askModern(url, callTool('note'), { authorization })).status, authorization).toBe(400)
    // Twice the same header: which of the two counts is not for us to guess.
    const { headers, body } = modern(callTool('note'))
    const text = JSON.stringify(body)
    const twice = rawHttp(
      port,
      [
        'POST /mcp HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${token}`,
        `Authorization: Bearer ${token}`,
        ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(text)}`,
        'Connection: close',
        '',
        text,
      ].join('\r\n'),
    )
    expect(await twice.status()).toBe(400)
    expect(calls).toEqual([])
  })

  test('a token in the URL or in a form is a bad request, also beside a good one', async () => {
    const { issuer, calls, url } = await protectedServer()
    const token = await issuer.token()
    expect((await http(`${url}?access_token=${token}`, modern(callTool('note')))).status).toBe(400)
    expect((await http(`${url}?x=1&access_token=${token}`, modern(callTool('note'), await issuer.bearer()))).status).toBe(400)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await http(url, { headers: form, body: `access_token=${token}` })
    expect(answer.status).toBe(400)
    expect(answer.headers['www-authenticate']).toContain('error="invalid_request"')
    expect(calls).toEqual([])
  })

  test.each(STREAMABLE)('a caller without good credentials is refused with 401 at the first request of %s', async (revision) => {
    proves('R-AUTH-007')
    const { url } = await protectedServer()
    const answer = await http(url, { body: initializeMessage(revision) })
    expect(answer.status).toBe(401)
    expect(answer.headers['mcp-session-id']).toBeUndefined()
  })

  test('a server without authorization asks for nothing', async () => {
    const { url } = await serve(testServer())
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
  })
})
