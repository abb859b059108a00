/** Our client, our server, and a real authorization server between them. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { clientCredentials } from '../../../src/auth/client/login/machine-grants.ts'
import { oauth } from '../../../src/auth/client/oauth.ts'
import type { OAuthOptions } from '../../../src/auth/client/options.ts'
import { fileTokenStore, sharedTokenStore, type TokenStore } from '../../../src/auth/index.ts'
import { type ResourceServerOptions, resourceServer } from '../../../src/auth/server/resource-server.ts'
import { memoryTokenStore } from '../../../src/auth/store/token-store.ts'
import { randomId } from '../../../src/base/bytes.ts'
import type { Client } from '../../../src/client/client.ts'
import { httpHandler } from '../../../src/http/index.ts'
import { memoryKeyRing } from '../../../src/protocol/interfaces/in-process-services.ts'
import { redis } from '../../../src/redis/index.ts'
import { createServer, keyRing } from '../../../src/server/index.ts'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  MACHINE,
  RESOURCE_SERVER,
  startAuthorizationServer,
} from '../../support/oidc.ts'
import { proves } from '../../support/proves.ts'
import { redisOfFile } from '../../support/redis-server.ts'
import { failureOf, open } from './support.ts'

const SCOPES = ['mcp', 'notes:write', 'notes:wipe']
const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function startIssuer(options?: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const as = await startAuthorizationServer(options)
  ended.push(() => as.stop())
  return as
}

interface World {
  as: AuthorizationServer
  url: string
  /** What the server was asked with, oldest first. */
  asked: IncomingMessage['headers'][]
  auth(options?: OAuthOptions): ReturnType<typeof oauth>
  login(options?: OAuthOptions): Promise<Client>
  /** Has tokens of another issuer taken from now on. */
  moveTo(as: AuthorizationServer): void
}

async function world(
  options: AuthorizationServerOptions & { tokens?: 'jwt' | 'opaque'; server?: Partial<ResourceServerOptions> } = {},
): Promise<World> {
  const { tokens = 'jwt', server = {}, ...rest } = options
  const as = await startIssuer(rest)
  const asked: IncomingMessage['headers'][] = []
  const http = createHttpServer((request, response) => {
    asked.push(request.headers)
    handler.node(request, response)
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  ended.push(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const protectedBy = (issuer: AuthorizationServer) => {
    issuer.protect(url, { scopes: SCOPES, tokens })
    const introspection = { clientId: RESOURCE_SERVER.client_id, clientSecret: RESOURCE_SERVER.client_secret }
    const how = tokens === 'opaque' ? { issuer: issuer.issuer, introspection } : issuer.issuer
    return httpHandler(notes(), { auth: resourceServer({ resource: url, issuer: how, scopes: ['mcp'], ...server }) })
  }
  let handler = protectedBy(as)
  const auth = (more: OAuthOptions = {}) => oauth({ openBrowser: (page) => as.open(page), ...more })
  return {
    as,
    url,
    asked,
    auth,
    login: (more) => open(url, auth(more)),
    moveTo: (next) => {
      handler = protectedBy(next)
    },
  }
}

function notes() {
  const server = createServer({ name: 'notes', version: '1' })
  server.tool('whoami', {}, (_, ctx) => String(ctx.caller.auth?.subject))
  server.tool('write', { scopes: ['notes:write'] }, () => 'written')
  server.tool('wipe', { scopes: ['notes:wipe'] }, () => 'wiped')
  return server
}

const said = async (client: Client, name: string): Promise<unknown> => (await client.call(name)).content

describe('with a real authorization server, a client', () => {
  test('a client logs in at a real authorization server', async () => {
    proves('T-AUTH-003', 'T-AUTH-007')
    const { as, login } = await world()
    const client = await login()
    expect(await said(client, 'whoami')).toMatchObject([{ text: 'alice' }])
    expect([as.count('registration'), as.count('authorization'), as.count('token')]).toEqual([1, 1, 1])
  })

  test('a client logs in at an issuer with a path', async () => {
    const { login } = await world({ path: '/tenant' })
    expect(await said(await login(), 'whoami')).toMatchObject([{ text: 'alice' }])
  })

  test('a client logs in with a metadata document', async () => {
    proves('R-AUTH-022')
    const { as, login } = await world()
    const clientDocument = 'https://app.example/client.json'
    as.clientDocuments.set(clientDocument, {
      client_id: clientDocument,
      client_name: 'Tester',
      redirect_uris: ['http://127.0.0.1/callback'],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    expect(await said(await login({ clientDocument }), 'whoami')).toMatchObject([{ text: 'alice' }])
    expect(as.count('registration')).toBe(0)
  })

  test('a client reports that the person denied the login, and asks once', async () => {
    const { as, login } = await world()
    const client = await login()
    await client.close()
    as.refuses = true
    expect(await failureOf(login())).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'denied', error: 'access_denied' } })
    expect(as.count('authorization')).toBe(2)
  })

  test('a client gets more scopes when an operation needs them', async () => {
    const { as, login } = await world()
    const client = await login()
    expect(await said(client, 'write')).toMatchObject([{ text: 'written' }])
    expect(await said(client, 'wipe')).toMatchObject([{ text: 'wiped' }])
    expect(await said(client, 'write')).toMatchObject([{ text: 'written' }])
    expect(as.count('authorization')).toBe(3)
  })

  test('a client renews expiring tokens without the person', async () => {
    proves('T-AUTH-051', 'T-AUTH-052')
    const { as, login } = await world()
    as.accessTokenSeconds = 2
    const client = await login()
    for (let i = 0; i < 3; i += 1) {
      await sleep(1100)
      await Promise.all([said(client, 'whoami'), said(client, 'whoami'), said(client, 'whoami')])
    }
    expect(as.count('token:refresh_token')).toBe(3)
    expect(as.count('authorization')).toBe(1)
  })

  test('a client renews revoked tokens once for fifty requests, and logs in again without a grant', async () => {
    const { as, login } = await world({ tokens: 'opaque', server: { limits: { introspectionCacheMs: 0 } } })
    const client = await login()
    await client.tools().all()
    as.revokeGrants()
    await Promise.all(Array.from({ length: 50 }, () => client.call('whoami')))
    expect(as.count('token:refresh_token')).toBe(1)
    expect(as.count('authorization')).toBe(2)
  })

  test('a client survives a restart of the authorization server, and registers again if it is forgotten', async () => {
    const { as, login } = await world()
    as.accessTokenSeconds = 2
    const client = await login()
    await as.restart()
    await sleep(1100)
    await said(client, 'whoami')
    expect([as.count('token:refresh_token'), as.count('authorization')]).toEqual([1, 1])
    await as.restart({ forget: true })
    await sleep(1100)
    await said(client, 'whoami')
    expect([as.count('registration'), as.count('authorization')]).toEqual([2, 2])
  })

  test('a client follows the server to another authorization server, and takes nothing along', async () => {
    const { as, login, moveTo } = await world()
    const store = memoryTokenStore()
    let current = as
    const client = await login({ store, openBrowser: (page) => current.open(page) })
    await said(client, 'whoami')
    const before = as.requests.length
    const next = await startIssuer()
    current = next
    moveTo(next)
    expect(await said(client, 'whoami')).toMatchObject([{ text: 'alice' }])
    expect([next.count('registration'), next.count('authorization'), next.count('token')]).toEqual([1, 1, 1])
    expect(as.requests.length).toBe(before)
  })

  test('a client revokes its tokens at the logout', async () => {
    const { as, url, auth } = await world()
    const store = memoryTokenStore()
    const warnings: string[] = []
    const own = auth({ store, onWarning: (message) => warnings.push(message) })
    await own.login(url)
    await own.logout(url)
    // An access token that is a JWT cannot be revoked; the grant behind it can.
    expect(as.requests.filter(({ route }) => route === 'revocation').map(({ status }) => status)).toEqual([200, 400])
    expect(warnings).toEqual([])
  })

  test('a client gets tokens for itself, without a person', async () => {
    const { as, login } = await world()
    const client = { id: MACHINE.client_id, secret: MACHINE.client_secret }
    const connected = await login({ client, grant: clientCredentials(), openBrowser: () => Promise.reject(new Error('a page')) })
    expect(await connected.tools().all()).not.toEqual([])
    expect([as.count('authorization'), as.count('token:client_credentials')]).toEqual([0, 1])
  })

  test('a client binds tokens to a key where the server wants that, with nonces of both servers', async () => {
    const { as, asked, login } = await world({ dpopNonce: true, server: { dpop: { required: true, nonces: memoryKeyRing() } } })
    as.accessTokenSeconds = 2
    const client = await login()
    await sleep(1100)
    expect(await said(client, 'whoami')).toMatchObject([{ text: 'alice' }])
    const permitted = asked.filter(({ authorization }) => authorization !== undefined)
    expect(permitted.length).toBeGreaterThan(2)
    for (const { authorization } of permitted) expect(authorization).toMatch(/^DPoP /)
    const proofs = permitted.map(({ dpop }) => dpop)
    expect(new Set(proofs).size).toBe(proofs.length)
    expect(as.requests.filter(({ route, status }) => route === 'token' && status === 200)).toHaveLength(2)
  })
})

describe('several processes', () => {
  const fixture = fileURLToPath(new URL('./fixtures/refreshing.mjs', import.meta.url))

  const server = redisOfFile()
  const STORES: [string, () => Promise<{ args: string[]; store: TokenStore }>][] = [
    [
      'in files',
      async () => {
        const folder = join(mkdtempSync(join(tmpdir(), 'portico-tokens-')), 'store')
        return { args: [folder], store: fileTokenStore({ folder, keychain: false, onWarning: () => {} }) }
      },
    ],
    [
      'in Redis',
      async () => {
        const { url } = await server()
        const replicas = redis(url)
        ended.push(() => replicas.close())
        const secret = randomId() + randomId()
        return { args: [url, secret], store: sharedTokenStore(replicas, { keys: keyRing(secret) }) }
      },
    ],
  ]

  test.each(STORES)('several processes with a store %s that refresh at the same time send one request', async (_name, make) => {
    const { as, url, login } = await world()
    const { args, store } = await make()
    as.accessTokenSeconds = 2
    await login({ store })
    await sleep(1200)
    as.accessTokenSeconds = 3600
    as.delayMs.token = 500
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, [fixture, url, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    const outputs = await Promise.all(
      children.map(async (child) => {
        let output = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
        const [code] = (await once(child, 'close')) as [number]
        return `${code} ${output.trim()}`
      }),
    )
    expect(outputs).toEqual(['0 alice', '0 alice', '0 alice'])
    expect(as.count('token:refresh_token')).toBe(1)
    expect(as.count('authorization')).toBe(1)
  })
})
