import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { clientCredentials, memoryTokenStore, type OAuthOptions, oauth } from '../../../src/auth/client/index.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const login = (realm: Realm, options: OAuthOptions = {}) => open(realm.url, oauth({ redirect: realm.redirect, ...options }))
const DOCUMENT = 'https://app.example/client.json'

describe('a client', () => {
  test('a client that is registered already does not register again', async () => {
    proves('T-AUTH-014', 'R-AUTH-037', 'R-AUTH-038')
    const realm = await startRealm()
    realm.serverMetadata.client_id_metadata_document_supported = true
    await login(realm, { client: { id: 'known', issuer: realm.origin }, clientDocument: DOCUMENT })
    expect(realm.at('/register')).toEqual([])
    expect(realm.at('/authorize')[0]?.query.get('client_id')).toBe('known')
  })

  test('a client with a metadata document uses it where that is supported', async () => {
    proves('R-AUTH-022', 'R-AUTH-023', 'R-AUTH-037', 'R-AUTH-039', 'R-AUTH-040', 'R-AUTH-041', 'R-AUTH-069')
    const realm = await startRealm()
    await login(realm, { clientDocument: DOCUMENT })
    realm.serverMetadata.client_id_metadata_document_supported = true
    await login(realm, { clientDocument: DOCUMENT })
    expect(realm.at('/authorize').map(({ query }) => query.get('client_id'))).toEqual(['client-1', DOCUMENT])
  })

  test.each([
    'http://app.example/client.json',
    'https://app.example',
    'https://app.example/',
    'https://app.example/a/../client.json',
    'https://app.example/%2e%2e/client.json',
    'https://u@app.example/client.json',
    'https://app.example/client.json#x',
    'client.json',
  ])('a client cannot have its document at %s', async (clientDocument) => {
    proves('R-AUTH-042')
    const realm = await startRealm()
    expect(await failureOf(login(realm, { clientDocument }))).toMatchObject({ data: { reason: 'client' } })
  })

  test('a client registers itself with the one redirect address', async () => {
    proves('T-AUTH-012', 'T-AUTH-057', 'R-AUTH-023', 'R-AUTH-080', 'R-AUTH-091', 'R-AUTH-092')
    const realm = await startRealm()
    await login(realm, { about: { name: 'Tester', uri: 'https://tester.example' } })
    expect(JSON.parse(realm.at('/register')[0]!.body)).toEqual({
      client_name: 'Tester',
      client_uri: 'https://tester.example',
      redirect_uris: [realm.redirect.uri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
    })
    expect(realm.at('/authorize')[0]?.query.get('redirect_uri')).toBe(realm.redirect.uri)
  })

  test('a client on the web registers as a web application', async () => {
    proves('R-AUTH-092')
    const realm = await startRealm()
    const visit = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('location') as string
    await login(realm, { redirect: { uri: 'https://app.example/callback', visit } })
    expect(JSON.parse(realm.at('/register')[0]!.body)).toMatchObject({ application_type: 'web' })
  })

  test('a client that cannot register itself is asked for, once', async () => {
    proves('T-AUTH-015', 'R-AUTH-037', 'R-AUTH-038')
    const realm = await startRealm()
    delete realm.serverMetadata.registration_endpoint
    const store = memoryTokenStore()
    const asked: unknown[] = []
    const askForClient: OAuthOptions['askForClient'] = (need) => {
      asked.push(need)
      return { id: 'by-hand' }
    }
    await login(realm, { store, user: 'a', askForClient })
    await login(realm, { store, user: 'b', askForClient })
    expect(asked).toEqual([{ issuer: realm.origin, redirectUri: realm.redirect.uri }])
    expect(realm.at('/authorize').map(({ query }) => query.get('client_id'))).toEqual(['by-hand', 'by-hand'])
  })

  test('a client that may not register itself says what to do', async () => {
    proves('T-AUTH-013', 'R-AUTH-093', 'R-AUTH-094')
    const realm = await startRealm()
    realm.answers.set('/register', () => ({ status: 400, json: { error: 'invalid_redirect_uri', error_description: 'call 555' } }))
    const fault = await failureOf(login(realm))
    expect(fault).toMatchObject({ data: { reason: 'registration', error: 'invalid_redirect_uri' } })
    expect(fault.message).not.toContain('555')
    delete realm.serverMetadata.registration_endpoint
    expect(await failureOf(login(realm))).toMatchObject({
      data: { reason: 'client' },
      message: expect.stringContaining('pass it as the option client'),
    })
  })

  test('a client registers itself once, also for a second program with the same store', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    await login(realm, { store, user: 'a' })
    await login(realm, { store, user: 'b' })
    expect(realm.at('/register')).toHaveLength(1)
  })

  test('a client that is no longer known registers itself again', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    const read: string[] = []
    const get = (key: string) => {
      read.push(key)
      return store.get(key)
    }
    await login(realm, { store: { ...store, get } })
    expect(read.filter((key) => key.startsWith('["client"'))).toHaveLength(1)
  })

  test('that is no longer known registers itself anew', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    let wasRefused = false
    realm.answers.set('/token', () => {
      if (wasRefused) return undefined
      wasRefused = true
      return { status: 401, json: { error: 'invalid_client' } }
    })
    await client.call('read')
    expect(realm.at('/register')).toHaveLength(2)
    expect(realm.at('/authorize').at(-1)?.query.get('client_id')).toBe('client-2')
  })

  test.each<[string, string[] | undefined, object]>([
    ['client_secret_basic', ['client_secret_basic'], { authorization: `Basic ${btoa('a-b:s%3A%2F+x')}`, secret: null }],
    ['client_secret_post', ['client_secret_post'], { authorization: undefined, secret: 's:/ x' }],
    ['basic when nothing is said', undefined, { authorization: `Basic ${btoa('a-b:s%3A%2F+x')}`, secret: null }],
  ])('a client with a secret sends it by %s', async (_, methods, expected) => {
    const realm = await startRealm()
    realm.serverMetadata.token_endpoint_auth_methods_supported = methods
    await login(realm, { client: { id: 'a-b', secret: 's:/ x' } })
    const { headers, form } = realm.at('/token')[0]!
    expect({ authorization: headers.authorization, secret: form.get('client_secret') }).toEqual(expected)
  })

  test('a client whose authentication method is not supported says so and sends nothing', async () => {
    const realm = await startRealm()
    realm.serverMetadata.token_endpoint_auth_methods_supported = ['tls_client_auth']
    expect(await failureOf(login(realm, { client: { id: 'a', secret: 's' } }))).toMatchObject({ data: { reason: 'client' } })
    expect(realm.at('/token')).toEqual([])
  })

  test('a client with a private key signs an assertion for this authorization server', async () => {
    proves('R-AUTH-045', 'R-AUTHX-003')
    const realm = await startRealm()
    realm.serverMetadata.token_endpoint_auth_methods_supported = ['private_key_jwt']
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    await login(realm, { client: { id: 'a', privateKey: { pem } }, grant: clientCredentials(), scopes: ['x'] })
    const { form } = realm.at('/token')[0]!
    expect(Object.fromEntries(form)).toMatchObject({ grant_type: 'client_credentials', scope: 'x', resource: realm.url })
    expect(decodeJwt(form.get('client_assertion') ?? '')).toMatchObject({ iss: 'a', sub: 'a', aud: realm.origin })
    const fault = await failureOf(login(realm, { client: { id: 'a', privateKey: { pem: 'SECRET-PEM' } } }))
    expect(fault.message).not.toContain('SECRET-PEM')
  })
})

describe('another authorization server', () => {
  beforeEach(() => proves('T-AUTH-043'))

  /** The server moves from its own authorization server to that of another realm. */
  async function move(options: OAuthOptions) {
    const realm = await startRealm()
    const next = await startRealm()
    next.answers.set('/token', () => ({ json: realm.issue() }))
    next.answers.set('/register', () => ({ status: 201, json: { client_id: 'of-next' } }))
    const store = memoryTokenStore()
    await login(realm, { ...options, store })
    realm.taken.clear()
    realm.resourceMetadata.authorization_servers = [next.origin]
    const result = await login(realm, { ...options, store }).catch((error: Error) => error)
    const sent = next.seen.map(({ headers, query, body }) => `${JSON.stringify(headers)} ${query} ${body}`).join('\n')
    return { next, result, sent }
  }

  test('another authorization server gets a new client, and nothing of the old one', async () => {
    proves('R-AUTH-087', 'R-AUTH-088', 'R-AUTH-097', 'R-AUTH-098', 'R-AUTH-099')
    const { next, sent } = await move({})
    expect(next.at('/register')).toHaveLength(1)
    expect(next.at('/authorize')[0]?.query.get('client_id')).toBe('of-next')
    expect(sent).not.toMatch(/client-1|access-1|refresh-1/)
  })

  test('a client of the old authorization server is not used with another one; that is an error', async () => {
    proves('R-AUTH-088', 'R-AUTH-097', 'R-AUTH-100')
    const { next, result, sent } = await move({ client: { id: 'known', secret: 'the-secret' } })
    expect(result).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'client' }, message: expect.stringContaining(next.origin) })
    expect(sent).not.toMatch(/known|the-secret|access-1|refresh-1/)
    expect(next.at('/authorize')).toEqual([])
  })

  test('another authorization server accepts a client metadata document without registration', async () => {
    proves('R-AUTH-101')
    const realm = await startRealm()
    const next = await startRealm()
    for (const each of [realm, next]) each.serverMetadata.client_id_metadata_document_supported = true
    next.answers.set('/token', () => ({ json: realm.issue() }))
    const store = memoryTokenStore()
    await login(realm, { store, clientDocument: DOCUMENT })
    realm.taken.clear()
    realm.resourceMetadata.authorization_servers = [next.origin]
    await login(realm, { store, clientDocument: DOCUMENT })
    expect(next.at('/authorize')[0]?.query.get('client_id')).toBe(DOCUMENT)
    expect([...realm.at('/register'), ...next.at('/register')]).toEqual([])
  })

  test('another authorization server gets nothing of a client that is registered with one issuer', async () => {
    const realm = await startRealm()
    const client = { id: 'known', secret: 'the-secret', issuer: 'https://as.example' }
    expect(await failureOf(login(realm, { client }))).toMatchObject({ data: { reason: 'client' } })
    expect(realm.seen.map(({ body }) => body).join()).not.toMatch(/known|the-secret/)
  })
})
