import { describe, expect, test } from 'vitest'
import { clientCredentials, enterprise, type OAuthOptions, oauth, workloadIdentity } from '../../../src/auth/client/index.ts'
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
  test('a client gets tokens for itself, and new ones when they are refused', async () => {
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
    const realm = await startMachineRealm()
    realm.needed.write = ['w']
    const connected = await login(realm, { grant: clientCredentials() })
    await connected.call('write')
    expect(realm.grants('client_credentials').map(({ form }) => form.get('scope'))).toEqual([null, 'w'])
  })

  test('a client must have been registered', async () => {
    const realm = await startMachineRealm()
    expect(await failureOf(open(realm.url, oauth({ grant: clientCredentials() })))).toMatchObject({ data: { reason: 'client' } })
  })

  test('a workload shows what its platform gave it, a new one each time and once', async () => {
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

describe('a company that decides', () => {
  const provider = (idp: Realm) => ({ issuer: idp.origin, clientId: 'at-idp', clientSecret: 'idp-secret', idToken: () => 'the-id-token' })
  const vouch = () => ({ json: { access_token: 'the-jag', issued_token_type: ID_JAG, token_type: 'N_A' } })

  test('vouches for the person to the authorization server', async () => {
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

  test('may say no, or something else', async () => {
    const realm = await startMachineRealm()
    for (const answer of [
      { status: 403, json: { error: 'access_denied' } },
      { json: { access_token: 'a-token', issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' } },
      { status: 500 },
    ]) {
      const idp = await startRealm()
      idp.answers.set('/token', () => answer)
      expect(await failureOf(login(realm, { grant: enterprise(provider(idp)) }))).toMatchObject({ data: { reason: 'token' } })
    }
    expect(realm.at('/token')).toEqual([])
  })

  test('is the one it says it is', async () => {
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
