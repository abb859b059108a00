/** The configurations of docs/authorization-recipes.md, with a real authorization server whose tokens look like those of each service. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { type Context, Provider } from 'oidc-provider'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../../scripts/setup.mjs'
import { type ResourceServerOptions, resourceServer } from '../../../src/auth/index.ts'
import { listen } from '../../../src/http/index.ts'
import { connect } from '../../../src/index.ts'
import { createServer } from '../../../src/server/index.ts'

const page = readFileSync(`${root}/docs/authorization-recipes.md`, 'utf8')
const RESOURCE = 'https://mcp.example.com/mcp'

/** The options in the section of a service, as readers copy them. */
function optionsOf(service: string): ResourceServerOptions & { issuer: string | { issuer: string } } {
  const section = page.split('\n## ').find((each) => each.startsWith(`${service}\n`)) ?? expect.unreachable(service)
  const [, literal] = /const auth = resourceServer\((\{[\s\S]*?\n\})\)/.exec(section) ?? []
  return new Function(`return ${literal}`)() as ReturnType<typeof optionsOf>
}

/** What a service writes into a token. `undefined` leaves a member out. */
interface Shape {
  header: Record<string, unknown>
  claims: Record<string, unknown>
}

interface Parts {
  header: Record<string, unknown> | undefined
  payload: Record<string, unknown>
}

let key: JWK
beforeAll(async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }
})

/** An authorization server at the path of the service's issuer. Returns its origin, and a function that gets a token of a shape. */
async function startService(path: string): Promise<{ origin: string; token(shape: Shape): Promise<string> }> {
  const http = createHttpServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const mount = path.replace(/\/$/, '')
  let shape: Shape | undefined
  const client = { client_id: 'robot', client_secret: 'known to the robot' }
  const provider = new Provider(origin + path, {
    clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    jwks: { keys: [key] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'any', audience: RESOURCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
      },
    },
    ttl: { ClientCredentials: 600 },
    formats: {
      customizers: {
        jwt: (_ctx: Context, _token: unknown, parts: Parts) => {
          parts.header = shape?.header
          Object.assign(parts.payload, { scope: undefined, client_id: undefined }, shape?.claims)
        },
      },
    },
  }).callback()
  http.on('request', (request, response) => {
    const url = request.url ?? '/'
    // As at these services, only the form of OpenID Connect exists: the path of the issuer, then the well-known name.
    if (!url.startsWith(`${mount}/`)) return void response.writeHead(404).end()
    Object.assign(request, { originalUrl: url, url: url.slice(mount.length) })
    provider(request, response)
  })
  return {
    origin,
    token: async (wanted) => {
      shape = wanted
      const response = await fetch(`${origin}${mount}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.client_id}:${encodeURIComponent(client.client_secret)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: RESOURCE }),
      })
      return ((await response.json()) as { access_token: string }).access_token
    },
  }
}

interface Recipe {
  service: string
  path: string
  good: Shape
  /** Tokens that must be refused, with the reason. */
  bad: Record<string, [Shape, string]>
}

const OTHER = 'The token is for another resource'
const TENANT = '11111111-2222-3333-4444-555555555555'
const API = '66666666-7777-8888-9999-000000000000'
const rfc9068 = { typ: 'at+jwt' }
const plain = { typ: 'JWT' }

const auth0 = {
  sub: 'auth0|1',
  client_id: 'app',
  scope: 'openid profile notes:read',
  aud: [RESOURCE, 'https://example.eu.auth0.com/userinfo'],
}
const keycloak = { sub: 'b7f1', azp: 'app', typ: 'Bearer', scope: 'openid notes:read', aud: [RESOURCE, 'account'] }
const entra = { sub: 'pairwise', azp: 'app', scp: 'Notes.Read', aud: API, ver: '2.0', oid: 'o', tid: TENANT }
const clerk = { sub: 'user_1', client_id: 'app', scope: 'profile email', aud: RESOURCE }
const workos = { sub: 'user_1', client_id: 'app', scope: 'openid profile', aud: RESOURCE, sid: 'consent_1', org_id: 'org_1' }

const RECIPES: Recipe[] = [
  {
    service: 'Auth0',
    path: '/',
    good: { header: rfc9068, claims: auth0 },
    bad: {
      'for the default audience': [{ header: rfc9068, claims: { ...auth0, aud: 'https://api.example.com' } }, OTHER],
      'of the profile Auth0': [{ header: plain, claims: { ...auth0, client_id: undefined, azp: 'app' } }, 'not an access token'],
    },
  },
  {
    service: 'Keycloak',
    path: '/realms/acme',
    good: { header: plain, claims: keycloak },
    bad: { 'without the audience mapper': [{ header: plain, claims: { ...keycloak, aud: 'account' } }, OTHER] },
  },
  {
    service: 'Microsoft Entra ID',
    path: `/${TENANT}/v2.0`,
    good: { header: plain, claims: entra },
    bad: {
      'for Microsoft Graph': [{ header: plain, claims: { ...entra, aud: '00000003-0000-0000-c000-000000000000' } }, OTHER],
      'of version 1': [
        { header: plain, claims: { ...entra, iss: `https://sts.windows.net/${TENANT}/`, azp: undefined, appid: 'app' } },
        'from another issuer',
      ],
      'without the scope': [{ header: plain, claims: { ...entra, scp: 'User.Read' } }, 'insufficient_scope'],
    },
  },
  {
    service: 'Clerk',
    path: '',
    good: { header: rfc9068, claims: clerk },
    bad: {
      'that names no audience': [{ header: rfc9068, claims: { ...clerk, aud: [] } }, OTHER],
      'of a web session': [{ header: plain, claims: clerk }, 'not an access token'],
    },
  },
  {
    service: 'WorkOS AuthKit',
    path: '',
    good: { header: { typ: undefined }, claims: workos },
    bad: { 'for the environment': [{ header: { typ: undefined }, claims: { ...workos, aud: 'client_01' } }, OTHER] },
  },
]

describe('the recipes for authorization', () => {
  test.each(RECIPES)('the recipe for $service accepts its tokens, and no others', async ({ service, path, good, bad }) => {
    const { origin, token } = await startService(path)
    const options = optionsOf(service)
    const about = typeof options.issuer === 'string' ? { issuer: options.issuer } : options.issuer
    const documented = new URL(about.issuer)
    // The page has the issuer that the service uses, at this path.
    expect(about.issuer).toBe(documented.origin + path)
    expect(options.resource).toBe(RESOURCE)

    const server = createServer({ name: 'notes', version: '1.0.0' })
    server.tool('whoami', (_args, { caller }) => `${caller.auth?.subject} with ${caller.auth?.clientId}`)
    const auth = resourceServer({ ...options, issuer: { ...about, issuer: origin + path } })
    const { url, close } = await listen(server, { auth, handleSignals: false })
    onTestFinished(() => close())

    const client = await connect(url, { http: { headers: { authorization: `Bearer ${await token(good)}` } } })
    expect((await client.call('whoami')).content).toEqual([{ type: 'text', text: `${good.claims.sub} with app` }])
    await client.close()

    for (const [which, [shape, reason]] of Object.entries(bad)) {
      const { status, headers } = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${await token(shape)}` } })
      expect([401, 403], which).toContain(status)
      expect(headers.get('www-authenticate'), which).toContain(reason)
    }
  })
})
