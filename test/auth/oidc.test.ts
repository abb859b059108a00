/** The authorization server that the tests of authorization use does what they rely on. */

import { createHash, randomBytes } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  MACHINE,
  RESOURCE_SERVER,
  startAuthorizationServer,
} from '../support/oidc.ts'

const RESOURCE = 'http://127.0.0.1:1/mcp'
const REDIRECT = 'http://127.0.0.1:9/callback'

let running: AuthorizationServer[] = []
afterEach(async () => {
  for (const as of running) await as.stop()
  running = []
})

async function start(options?: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const as = await startAuthorizationServer(options)
  running.push(as)
  return as
}

type Json = Record<string, unknown>

async function post(
  url: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Json }> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), headers })
  const text = await response.text()
  return { status: response.status, body: text ? (JSON.parse(text) as Json) : {} }
}

async function register(as: AuthorizationServer): Promise<string> {
  const response = await fetch(`${as.issuer}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }),
  })
  expect(response.status).toBe(201)
  return ((await response.json()) as { client_id: string }).client_id
}

async function login(as: AuthorizationServer, client: string, more: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const query = {
    response_type: 'code',
    client_id: client,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  const came = await as.visit(`${as.issuer}/auth?${new URLSearchParams({ ...query, state: 'xyz', resource: RESOURCE, ...more })}`)
  const code = came.searchParams.get('code') ?? ''
  const token = {
    grant_type: 'authorization_code',
    code,
    client_id: client,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    resource: RESOURCE,
  }
  return { came, token }
}

describe('the authorization server of the tests', () => {
  test('the test authorization server registers, logs in, issues a JWT and rotates refresh tokens', async () => {
    const as = await start()
    as.protect(RESOURCE, { scopes: ['mcp', 'more'] })
    const metadata = (await (await fetch(`${as.issuer}/.well-known/oauth-authorization-server`)).json()) as Json
    expect(metadata).toMatchObject({
      issuer: as.issuer,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    })
    const client = await register(as)
    const { came, token } = await login(as, client, { scope: 'mcp', login_hint: 'bob' })
    expect(came.searchParams.get('iss')).toBe(as.issuer)
    expect(came.searchParams.get('state')).toBe('xyz')
    const issued = await post(`${as.issuer}/token`, token)
    expect(issued.status).toBe(200)
    const { payload, protectedHeader } = await jwtVerify(String(issued.body.access_token), createRemoteJWKSet(new URL(`${as.issuer}/jwks`)))
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(payload).toMatchObject({ iss: as.issuer, aud: RESOURCE, sub: 'bob', client_id: client, scope: 'mcp' })

    const refresh = {
      grant_type: 'refresh_token',
      client_id: client,
      refresh_token: String(issued.body.refresh_token),
      resource: RESOURCE,
    }
    const second = await post(`${as.issuer}/token`, refresh)
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(issued.body.refresh_token)
    expect(as.count('token:refresh_token')).toBe(1)
    // Who uses an old refresh token ends the whole family.
    expect(await post(`${as.issuer}/token`, refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const newest = { ...refresh, refresh_token: String(second.body.refresh_token) }
    expect(await post(`${as.issuer}/token`, newest)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(as.count('token')).toBe(4)
  })

  test('the test authorization server keeps its state over a restart, and forgets a withdrawn grant', async () => {
    const as = await start()
    as.protect(RESOURCE)
    as.accessTokenSeconds = 7
    const client = await register(as)
    const { token } = await login(as, client, { scope: 'mcp' })
    const issued = await post(`${as.issuer}/token`, token)
    expect(issued.body.expires_in).toBe(7)
    const { origin } = as
    await as.restart()
    expect(as.origin).toBe(origin)
    await jwtVerify(String(issued.body.access_token), createRemoteJWKSet(new URL(`${as.issuer}/jwks`)))
    const refresh = { grant_type: 'refresh_token', client_id: client, resource: RESOURCE }
    const second = await post(`${as.issuer}/token`, { ...refresh, refresh_token: String(issued.body.refresh_token) })
    expect(second.status).toBe(200)
    as.revokeGrants()
    const third = await post(`${as.issuer}/token`, { ...refresh, refresh_token: String(second.body.refresh_token) })
    expect(third.body.error).toBe('invalid_grant')
  })

  test('the test authorization server issues opaque tokens with introspection, and client credentials', async () => {
    const as = await start()
    as.protect(RESOURCE, { tokens: 'opaque' })
    const basic = (client: typeof MACHINE) => ({ authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` })
    const issued = await post(`${as.issuer}/token`, { grant_type: 'client_credentials', resource: RESOURCE, scope: 'mcp' }, basic(MACHINE))
    expect(issued.status).toBe(200)
    const token = String(issued.body.access_token)
    expect(token).not.toContain('.')
    const seen = await post(`${as.issuer}/token/introspection`, { token }, basic(RESOURCE_SERVER))
    expect(seen.body).toMatchObject({ active: true, aud: RESOURCE, client_id: 'machine', scope: 'mcp' })
    const revoked = await fetch(`${as.issuer}/token/revocation`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      headers: basic(MACHINE),
    })
    expect(revoked.status).toBe(200)
    const gone = await post(`${as.issuer}/token/introspection`, { token }, basic(RESOURCE_SERVER))
    expect(gone.body).toEqual({ active: false })
    expect([as.count('introspection'), as.count('revocation')]).toEqual([2, 1])
  })

  test('the test authorization server accepts client documents, has a path, and its user can refuse', async () => {
    const as = await start({ path: '/tenant' })
    as.protect(RESOURCE)
    const metadata = (await (await fetch(`${as.origin}/.well-known/oauth-authorization-server/tenant`)).json()) as Json
    expect(metadata.issuer).toBe(`${as.origin}/tenant`)
    expect(metadata.token_endpoint).toBe(`${as.origin}/tenant/token`)
    expect((await fetch(`${as.origin}/.well-known/openid-configuration`)).status).toBe(404)
    expect((await fetch(`${as.issuer}/.well-known/openid-configuration`)).status).toBe(200)
    const id = 'https://client.example/id.json'
    as.clientDocuments.set(id, { client_id: id, redirect_uris: [REDIRECT], application_type: 'native', token_endpoint_auth_method: 'none' })
    const { came, token } = await login(as, id, { scope: 'mcp' })
    expect(came.searchParams.get('error')).toBeNull()
    expect((await post(`${as.issuer}/token`, token)).status).toBe(200)
    as.refuses = true
    expect((await login(as, id, { scope: 'mcp' })).came.searchParams.get('error')).toBe('access_denied')
    as.refuses = false
    const elsewhere = await login(as, id, { scope: 'mcp', resource: 'http://other.example/mcp' })
    expect(elsewhere.came.searchParams.get('error')).toBe('invalid_target')
  })
})
