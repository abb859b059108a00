/** Secrets stay where they belong: a run over everything that can go well or wrong, and a look at all that came out of it. */

import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { clientCredentials, enterprise, workloadIdentity } from '../../src/auth/client/login/machine-grants.ts'
import { oauth } from '../../src/auth/client/oauth.ts'
import type { OAuthOptions } from '../../src/auth/client/options.ts'
import { fileTokenStore } from '../../src/auth/index.ts'
import { resourceServer } from '../../src/auth/server/resource-server.ts'
import type { TokenStore } from '../../src/auth/store/token-store.ts'
import { listen } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { CanaryRun } from '../support/canary-run.ts'
import { temporaryFolders } from '../support/folders.ts'
import { freePort } from '../support/listening-process.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../support/oidc.ts'
import { proves } from '../support/proves.ts'

const newFolder = temporaryFolders()
const REDIRECT = 'http://127.0.0.1:9/callback'

test('30 secrets in successful and failed flows are in no output, error, warning or file', async () => {
  proves('T-AUTH-050', 'R-AUTH-079')
  const run = new CanaryRun()
  const secret = run.plant('client secret')
  const passphrase = run.plant('passphrase')
  const as = await startAuthorizationServer({ clients: clientsWith(secret) })
  overhear(as, run)
  const introspection = { clientId: 'asking', clientSecret: secret }
  const { url, server } = await protectedServer(as, run, { introspection })
  const folder = newFolder()
  const say = (where: string) => (message: string) => void run.hear(`a warning of ${where}`, message)
  const options = (more: OAuthOptions = {}): OAuthOptions => ({
    client: { id: 'confidential', secret, redirectUri: REDIRECT },
    redirect: { uri: REDIRECT, visit: (at) => as.visit(at) },
    onWarning: say('the login'),
    ...more,
  })
  const use = async (where: string, auth: OAuthOptions, revisions?: string[]) => {
    const permission = oauth(options(auth))
    const connecting = connect(url, {
      auth: permission,
      onWarning: say('the client'),
      onLog: (message) => void run.hear('a log message', message),
      http: { headers: { 'x-api-key': run.plant('header') } },
      ...(revisions && { revisions }),
    })
    const client = await run.hear(`${where}: connecting`, connecting)
    if (!client) return 'not connected'
    const read = await run.hear(`${where}: a call`, client.call('read', {}))
    const written = await run.hear(`${where}: a call with more scopes`, client.call('write', {}))
    await run.hear(`${where}: a call that fails`, client.call('fail', {}))
    await run.hear(`${where}: the permission`, permission)
    await run.hear(`${where}: out`, permission.logout(url))
    await client.close()
    return read && written ? 'done' : 'failed'
  }

  // Good ways.
  const store = fileTokenStore({ folder, passphrase, onWarning: say('the store') })
  expect(await use('a store of files', { store })).toBe('done')
  expect(await use('a session', {}, ['2025-11-25'])).toBe('done')
  expect(await use('the oldest revision', {}, ['2024-11-05'])).toBe('done')
  const pair = await generateKeyPair('ES256', { extractable: true })
  run.plant('DPoP key', (await exportJWK(pair.privateKey)).d)
  expect(await use('DPoP', { dpop: pair as never })).toBe('done')
  expect(await use('a client that registers itself', { client: undefined as never })).toBe('done')
  expect(
    await use('client credentials', {
      grant: clientCredentials(),
      client: { id: 'machine', secret: 'machine-secret-0123456789abcdef0123' },
    }),
  ).toBe('done')
  as.accessTokenSeconds = 1
  expect(await use('tokens that end at once', { store })).toBe('done')
  as.accessTokenSeconds = 3600

  // Bad ways: refusals that repeat what they were sent, endpoints that are gone, stores that fail.
  await run.hear('logging in again, to be kept', oauth(options({ store })).login(url))
  as.tamper = (route, body) =>
    route === 'token' ? { error: 'invalid_grant', error_description: `no: ${JSON.stringify(as.requests.at(-1))} ${secret}` } : body
  await use('a token endpoint that repeats everything', {})
  as.tamper = (route, body) => (route === 'token' ? `<html>${JSON.stringify(as.requests.at(-1))}${secret}</html>` : body)
  await use('a token endpoint that answers with a page', {})
  as.tamper = undefined
  const pem = (await exportPKCS8(pair.privateKey)).replace('PRIVATE KEY-----', 'PRIVATE KEY-----!')
  run.plant('private key', pem.split('\n')[1])
  await use('a private key that is none', { client: { id: 'confidential', privateKey: { pem }, redirectUri: REDIRECT } })
  await use('a wrong secret', { client: { id: 'confidential', secret: run.plant('wrong client secret'), redirectUri: REDIRECT } })
  await use('a workload', { grant: workloadIdentity(run.plant('assertion of a workload')) })
  await use('an enterprise', {
    grant: enterprise({ issuer: as.issuer, clientId: 'c', clientSecret: run.plant('enterprise secret'), idToken: run.plant('ID token') }),
  })
  await use('a store that fails', { store: failing() })
  await use('a redirect that is not ours', {
    redirect: { uri: REDIRECT, visit: async () => `${REDIRECT}?code=${run.plant('stray code')}&state=${run.plant('stray state')}` },
  })
  as.refuses = true
  await use('a user who refuses', {})
  as.refuses = false
  as.revokeGrants()
  await use('a grant that was withdrawn', { store })
  await as.stop()
  await use('an authorization server that is gone', { store })

  // What others send to the server.
  for (const [where, request] of Object.entries(strangers(run))) {
    const response = await fetch(url + (request.query ?? ''), {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', ...request.headers },
    })
    await run.hear(`the answer to ${where}`, { status: response.status, headers: [...response.headers], body: await response.text() })
  }
  const [user, query, env] = ['password in a URL', 'query of a URL', 'environment'].map((what) => run.plant(what)) as [
    string,
    string,
    string,
  ]
  await run.hear('a URL that nobody serves', connect(`http://name:${user}@127.0.0.1:9/mcp?key=${query}`))
  await run.hear('a program that is none', connect({ command: '/nowhere/to/be/found', args: ['x'], env: { API_KEY: env } }))
  await run.hear('a program that ends', connect({ command: process.execPath, args: ['-e', 'process.exit(3)'], env: { API_KEY: env } }))
  await server.close()
  run.hearFiles(folder)

  const { hits, heard, kinds } = run.end()
  expect(hits).toEqual([])
  expect(run.secrets.size).toBeGreaterThanOrEqual(30)
  expect([...kinds].sort()).toEqual(
    expect.arrayContaining(['access_token', 'code', 'code_verifier', 'refresh_token', 'mcp-session-id on the way', 'dpop on the way']),
  )
  expect(heard).toBeGreaterThan(60)
}, 60_000)

test('the search finds a secret that is printed', async () => {
  const run = new CanaryRun()
  const secret = run.plant('of the test')
  process.stderr.write(`it is ${encodeURIComponent(secret)}`)
  await run.hear('an error', Promise.reject(new Error('outer', { cause: new Error(`inner ${btoa(secret)}`) })))
  expect(run.end().hits).toEqual(['of the test in standard error', 'of the test in an error, failing'])
})

async function protectedServer(as: AuthorizationServer, run: CanaryRun, more: object) {
  const server = createServer({ name: 'protected', version: '1.0.0' })
  server.tool('read', {}, () => 'read')
  server.tool('write', { scopes: ['write'] }, () => 'written')
  server.tool('fail', {}, () => {
    throw new Error('as it should')
  })
  const port = await freePort()
  const resource = as.protect(`http://127.0.0.1:${port}/mcp`, { scopes: ['read', 'write'] })
  const auth = resourceServer({ issuer: { issuer: as.issuer, ...more }, resource, scopes: ['read'] })
  const listening = await listen(server, { port, auth, onRefused: (what) => void run.hear('a refusal', what), handleSignals: false })
  return { url: listening.url, server: listening }
}

/** Everything secret that the authorization server is sent or sends. */
function overhear(as: AuthorizationServer, run: CanaryRun): void {
  as.onAnswer = (seen, body) => {
    for (const from of [seen.params, body]) {
      for (const name of [
        'code',
        'code_verifier',
        'refresh_token',
        'access_token',
        'client_secret',
        'registration_access_token',
        'state',
        'assertion',
      ]) {
        const value = (from as Record<string, unknown> | undefined)?.[name]
        if (typeof value === 'string') run.plant(name, value)
      }
    }
  }
}

const clientsWith = (secret: string) => [
  {
    client_id: 'confidential',
    client_secret: secret,
    redirect_uris: [REDIRECT],
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
  },
  { client_id: 'asking', client_secret: secret, redirect_uris: [], grant_types: [], response_types: [] },
]

const failing = (): TokenStore => {
  const fails = () => Promise.reject(new Error('The disk is full'))
  return { get: async () => undefined, set: fails, delete: fails, withLock: (_key, act) => act() }
}

function strangers(run: CanaryRun): Record<string, { headers?: Record<string, string>; query?: string }> {
  const token = run.plant('opaque token of a stranger')
  const jwt = `eyJhbGciOiJub25lIn0.${btoa(JSON.stringify({ iss: 'x', sub: run.plant('claim of a stranger') })).replace(/=/g, '')}.${run.plant('signature of a stranger')}`
  return {
    'an unknown token': { headers: { authorization: `Bearer ${token}` } },
    'a JWT of nobody': { headers: { authorization: `Bearer ${run.plant('JWT of a stranger', jwt)}` } },
    'a name and password': { headers: { authorization: `Basic ${btoa(`name:${run.plant('password of a stranger')}`)}` } },
    'a broken header': { headers: { authorization: `Bearer ${token} ${run.plant('more of a stranger')}` } },
    'a token in the query': { query: `?access_token=${run.plant('token in a query')}` },
    'a proof': { headers: { authorization: `DPoP ${token}`, dpop: run.plant('proof of a stranger') } },
    'a session': { headers: { 'mcp-session-id': run.plant('session of a stranger') } },
  }
}
