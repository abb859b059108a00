import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { clientCredentials, enterprise, type OAuthOptions, oauth, workloadIdentity } from '../../../src/auth/client/index.ts'
import { fileTokenStore } from '../../../src/auth/index.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const client = { id: 'machine', secret: 'the-secret' }
const login = (realm: Realm, options: OAuthOptions) => open(realm.url, oauth({ client, ...options }))

async function startMachineRealm(): Promise<Realm> {
  const realm = await startRealm()
  realm.serverMetadata.token_endpoint_auth_methods_supported = ['client_secret_post', 'none']
  // No person, no pages.
  delete realm.serverMetadata.authorization_endpoint
  delete realm.serverMetadata.code_challenge_methods_supported
  return realm
}

describe('without a person', () => {
  test('a client without a person gets tokens for itself, and new ones when they are refused', async () => {
    proves('R-AUTHX-003')
    const realm = await startMachineRealm()
    realm.challenge += ', scope="a"'
    const connected = await login(realm, { grant: clientCredentials() })
    expect(Object.fromEntries(realm.at('/token')[0]!.form)).toEqual({
      grant_type: 'client_credentials',
      scope: 'a',
      resource: realm.url,
      client_id: 'machine',
      client_secret: 'the-secret',
    })
    realm.taken.clear()
    await connected.call('read')
    expect(realm.grants('client_credentials')).toHaveLength(2)
    expect(realm.grants('refresh_token')).toEqual([])
  })

  test('a client gets more scopes when an operation needs them', async () => {
    proves('R-AUTH-057')
    const realm = await startMachineRealm()
    realm.needed.write = ['w']
    const connected = await login(realm, { grant: clientCredentials() })
    await connected.call('write')
    expect(realm.grants('client_credentials').map(({ form }) => form.get('scope'))).toEqual([null, 'w'])
  })

  test('a client says which extension it uses, where the revision has extensions', async () => {
    proves('R-AUTHX-001')
    const realm = await startMachineRealm()
    const connected = await login(realm, { grant: clientCredentials() })
    await connected.call('read')
    const messages = realm.at('/mcp').map(({ body }) => JSON.parse(body))
    const last = messages.at(-1).params._meta['io.modelcontextprotocol/clientCapabilities']
    expect(last.extensions).toMatchObject({ 'io.modelcontextprotocol/oauth-client-credentials': {} })
    // Nobody is registered on the way: the extension has no dynamic registration.
    expect(realm.at('/register')).toEqual([])
    const person = await startRealm()
    const plain = await open(person.url, oauth({ redirect: person.redirect }))
    await plain.call('read')
    expect(JSON.stringify(person.at('/mcp').map(({ body }) => body))).not.toContain('oauth-client-credentials')
  })

  test.each(['http://as.example/token', 'http://10.0.0.1/token'])('a workload sends its JWT to no endpoint like %s', async (endpoint) => {
    proves('R-AUTHX-044')
    const realm = await startMachineRealm()
    realm.serverMetadata.token_endpoint = endpoint
    const supplied: string[] = []
    const grant = workloadIdentity(() => {
      supplied.push('jwt')
      return 'jwt'
    })
    expect(await failureOf(login(realm, { grant }))).toMatchObject({ data: { reason: 'server-metadata' } })
    expect(supplied).toEqual([])
  })

  test('a client without a person must be registered', async () => {
    const realm = await startMachineRealm()
    expect(await failureOf(open(realm.url, oauth({ grant: clientCredentials() })))).toMatchObject({ data: { reason: 'client' } })
  })

  test('a workload sends a new token of its platform each time, and each once', async () => {
    const realm = await startMachineRealm()
    let count = 0
    const grant = workloadIdentity(async () => `jwt-${++count}`)
    const connected = await login(realm, { grant, client: { id: 'workload' } })
    realm.taken.clear()
    await connected.call('read')
    expect(realm.at('/token').map(({ form }) => form.get('assertion'))).toEqual(['jwt-1', 'jwt-2'])
    expect(Object.fromEntries(realm.at('/token')[0]!.form)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'jwt-1',
      client_id: 'workload',
      resource: realm.url,
    })
    realm.answers.set('/token', () => ({ status: 400, json: { error: 'invalid_grant' } }))
    const before = realm.at('/token').length
    expect(await failureOf(login(realm, { grant, client: { id: 'workload' } }))).toMatchObject({ data: { error: 'invalid_grant' } })
    expect(realm.at('/token').length).toBe(before + 1)
  })
})

describe('an identity provider of a company', () => {
  const provider = (idp: Realm) => ({ issuer: idp.origin, clientId: 'at-idp', clientSecret: 'idp-secret', idToken: () => 'the-id-token' })
  const vouch = () => ({ json: { access_token: 'the-jag', issued_token_type: ID_JAG, token_type: 'N_A' } })

  test('an identity provider vouches for the person to the authorization server', async () => {
    proves('R-AUTHX-008', 'R-AUTHX-009', 'R-AUTHX-010', 'R-AUTHX-013')
    const realm = await startMachineRealm()
    const idp = await startRealm()
    idp.answers.set('/token', vouch)
    await login(realm, { grant: enterprise(provider(idp)) })
    expect(Object.fromEntries(idp.at('/token')[0]!.form)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: ID_JAG,
      audience: realm.origin,
      resource: realm.url,
      subject_token: 'the-id-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    })
    expect(idp.at('/token')[0]?.headers.authorization).toBe(`Basic ${btoa('at-idp:idp-secret')}`)
    expect(Object.fromEntries(realm.at('/token')[0]!.form)).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'the-jag',
      client_id: 'machine',
      client_secret: 'the-secret',
    })
    // What was said about the person stays with the company, and each secret with whom it is shared.
    expect(realm.seen.map(({ body }) => body).join()).not.toMatch(/the-id-token|idp-secret/)
    expect(idp.seen.map(({ body }) => body).join()).not.toMatch(/the-secret/)
  })

  test('an identity provider is declared as an extension, and may accept a refresh token after SAML', async () => {
    proves('R-AUTHX-007', 'R-AUTHX-009')
    const realm = await startMachineRealm()
    const idp = await startRealm()
    idp.answers.set('/token', vouch)
    const { idToken: _, ...known } = provider(idp)
    const connected = await login(realm, { grant: enterprise({ ...known, refreshToken: 'the-refresh-token' }) })
    await connected.call('read')
    expect(Object.fromEntries(idp.at('/token')[0]!.form)).toMatchObject({
      requested_token_type: ID_JAG,
      subject_token: 'the-refresh-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
    })
    const { body } = realm.at('/mcp').at(-1)!
    const capabilities = JSON.parse(body).params._meta['io.modelcontextprotocol/clientCapabilities']
    expect(capabilities.extensions).toMatchObject({ 'io.modelcontextprotocol/enterprise-managed-authorization': {} })
  })

  test.each([
    ['lists the profile', ['urn:ietf:params:oauth:grant-profile:id-jag', 'other'], true],
    ['lists others only', ['other'], false],
    ['says nothing of profiles', undefined, true],
  ])('an identity provider is used only where the authorization server %s', async (_, profiles, isAsked) => {
    proves('R-AUTHX-015')
    const realm = await startMachineRealm()
    if (profiles) realm.serverMetadata.authorization_grant_profiles_supported = profiles
    const idp = await startRealm()
    idp.answers.set('/token', vouch)
    const outcome = await login(realm, { grant: enterprise(provider(idp)) }).catch((error: Error) => error)
    if (!isAsked) expect(outcome).toMatchObject({ data: { reason: 'server-metadata' }, message: expect.stringContaining('grant_profiles') })
    expect(idp.at('/token')).toHaveLength(isAsked ? 1 : 0)
  })

  test('the answers of an identity provider are in no URL, error or file', async () => {
    proves('R-AUTHX-018', 'R-AUTHX-024')
    const realm = await startMachineRealm()
    const idp = await startRealm()
    idp.answers.set('/token', vouch)
    const folder = join(mkdtempSync(join(tmpdir(), 'portico-company-')), 'store')
    const store = fileTokenStore({ folder, keychain: false, onWarning: () => {} })
    const connected = await login(realm, { grant: enterprise(provider(idp)), store })
    await connected.call('read')
    realm.taken.clear()
    realm.answers.set('/token', ({ body }) => ({ status: 400, json: { error: 'invalid_grant', error_description: body } }))
    const fault = await failureOf(connected.call('read'))
    const urls = [...realm.seen, ...idp.seen].map(({ path, query }) => `${path}?${query}`)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    expect(files.length).toBeGreaterThan(1)
    for (const text of [...urls, ...files, inspect(fault, { depth: 20, showHidden: true })])
      expect(text).not.toMatch(/the-jag|the-id-token|access-1/)
  })

  test('an identity provider may refuse, or answer with something else', async () => {
    const realm = await startMachineRealm()
    for (const [answer, reason] of [
      [{ status: 403, json: { error: 'access_denied' } }, 'access_denied'],
      [{ json: { access_token: 'a-token', issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' } }, 'unexpected token type'],
      [{ status: 500 }, 'HTTP 500'],
    ] as const) {
      const idp = await startRealm()
      idp.answers.set('/token', () => answer)
      expect(await failureOf(login(realm, { grant: enterprise(provider(idp)) }))).toMatchObject({
        message: expect.stringContaining(`did not issue an identity assertion (id-jag) for the person: ${reason}`),
        data: { reason: 'token' },
      })
    }
    expect(realm.at('/token')).toEqual([])
  })

  test('an identity provider must have the configured issuer', async () => {
    proves('R-AUTHX-017')
    const realm = await startMachineRealm()
    const idp = await startRealm()
    idp.serverMetadata.issuer = 'https://other.example'
    expect(await failureOf(login(realm, { grant: enterprise(provider(idp)) }))).toMatchObject({ data: { reason: 'issuer-mismatch' } })
    const tokenEndpoint = 'http://idp.example/token'
    expect(await failureOf(login(realm, { grant: enterprise({ ...provider(idp), tokenEndpoint }) }))).toMatchObject({
      data: { reason: 'server-metadata' },
    })
  })
})
