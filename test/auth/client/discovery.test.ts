import { describe, expect, test } from 'vitest'
import { canonicalUri, covers } from '../../../src/auth/client/discovery/urls.ts'
import { type OAuthOptions, oauth } from '../../../src/auth/client/index.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const PRM = '/.well-known/oauth-protected-resource'
const ASM = '/.well-known/oauth-authorization-server'
const OIDC = '/.well-known/openid-configuration'

const login = (realm: Realm, options: OAuthOptions = {}) => open(realm.url, oauth({ redirect: realm.redirect, ...options }))
const documents = ({ seen }: Realm): string[] => seen.map(({ path }) => path).filter((path) => path.includes('.well-known'))

describe('protected resource metadata', () => {
  test('the resource metadata is fetched first, then the metadata of the authorization server', async () => {
    proves('T-AUTH-018', 'T-AUTH-024', 'R-AUTH-028', 'R-AUTH-069', 'R-AUTH-089')
    const realm = await startRealm()
    await login(realm)
    const asked = realm.seen.map(({ method, path }) => `${method} ${path}`)
    expect(asked.slice(0, 7)).toEqual([
      'POST /mcp',
      `GET ${PRM}/mcp`,
      `GET ${ASM}`,
      'POST /register',
      'GET /authorize',
      'POST /token',
      'POST /mcp',
    ])
  })

  test('the resource metadata is looked for at the path and then at the root without a challenge', async () => {
    proves('R-AUTH-028')
    const realm = await startRealm()
    realm.challenge = 'Bearer'
    realm.answers.set(`${PRM}/mcp`, () => ({ status: 404 }))
    realm.answers.set(PRM, () => ({ json: { ...realm.resourceMetadata, resource: realm.origin } }))
    await login(realm)
    expect(documents(realm)).toEqual([`${PRM}/mcp`, PRM, ASM])
    // As the document has it, and not with a slash more.
    expect(realm.at('/authorize')[0]?.query.get('resource')).toBe(realm.origin)
  })

  test.each([500, 503, 429])('the authorization server is not guessed when the server answers %i', async (status) => {
    const realm = await startRealm()
    realm.challenge = 'Bearer'
    realm.answers.set(`${PRM}/mcp`, () => ({ status }))
    expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'resource-metadata' } })
    expect(documents(realm)).toEqual([`${PRM}/mcp`])
    expect(realm.at('/authorize')).toEqual([])
  })

  test('the oldest rules apply only when there is no document at all and they are allowed', async () => {
    const realm = await startRealm()
    realm.challenge = 'Bearer'
    realm.answers.set(`${PRM}/mcp`, () => ({ status: 404 }))
    expect(await failureOf(login(realm, { allowLegacy: false }))).toMatchObject({ data: { reason: 'refused' } })
    await login(realm)
    expect(realm.at('/authorize')[0]?.query.get('resource')).toBe(realm.url)

    const bare = await startRealm()
    bare.challenge = 'Bearer'
    for (const path of [`${PRM}/mcp`, ASM]) bare.answers.set(path, () => ({ status: 404 }))
    await login(bare)
    expect(documents(bare)).toEqual([`${PRM}/mcp`, PRM, ASM, OIDC])

    const barred = await startRealm()
    barred.challenge = 'Bearer'
    barred.answers.set(`${PRM}/mcp`, () => ({ status: 403 }))
    expect(await failureOf(login(barred))).toMatchObject({ data: { reason: 'refused' } })
    expect(barred.at('/authorize')).toEqual([])

    const closed = await startRealm()
    closed.challenge = 'Bearer'
    closed.answers.set(`${PRM}/mcp`, () => ({ status: 404 }))
    closed.answers.set(ASM, () => ({ status: 403 }))
    expect(await failureOf(login(closed))).toMatchObject({ data: { reason: 'refused' } })
    expect(closed.at('/authorize')).toEqual([])
  })

  test.each([
    'http://evil.example/prm',
    'https://evil.example/prm',
    'javascript:alert(1)',
    '//evil.example/prm',
    'https://u:p@evil.example/',
  ])('the resource metadata is not read from %s', async (location) => {
    proves('R-SEC-021')
    const realm = await startRealm()
    realm.challenge = `Bearer resource_metadata="${location}"`
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'resource-metadata' } })
    expect(documents(realm)).toEqual([])
  })

  test('the resource metadata may be at another origin only if that is allowed', async () => {
    const realm = await startRealm()
    const other = await startRealm()
    realm.challenge = `Bearer resource_metadata="${other.origin}${PRM}/mcp"`
    other.resourceMetadata = realm.resourceMetadata
    expect(await failureOf(login(realm))).toMatchObject({ message: expect.stringContaining('another origin') })
    await login(realm, { allowOtherOrigin: true })
  })

  test.each<[string, string, boolean]>([
    ['https://a.example/mcp', 'https://a.example/mcp', true],
    ['https://a.example', 'https://a.example/mcp', true],
    ['https://a.example/', 'https://a.example/mcp', true],
    ['https://A.example/mcp', 'https://a.example/mcp', true],
    ['https://a.example:443/mcp', 'https://a.example/mcp', true],
    ['https://a.example/x', 'https://a.example/x/mcp', true],
    ['https://a.example/x/', 'https://a.example/x/mcp', true],
    ['https://a.example/mc', 'https://a.example/mcp', false],
    ['https://a.example/mcp/more', 'https://a.example/mcp', false],
    ['https://a.example/MCP', 'https://a.example/mcp', false],
    ['https://a.example:8443/mcp', 'https://a.example/mcp', false],
    ['http://a.example/mcp', 'https://a.example/mcp', false],
    ['https://b.example/mcp', 'https://a.example/mcp', false],
  ])('the resource %s is about %s: %s', (resource, server, expected) => {
    proves('T-AUTH-028', 'T-AUTH-031')
    expect(covers(new URL(resource), new URL(server))).toBe(expected)
  })

  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example/', 'https://a.example'],
    ['HTTPS://A.EXAMPLE:443/Server/mcp?key=secret#x', 'https://a.example/Server/mcp'],
    ['https://a.example:8443/mcp/', 'https://a.example:8443/mcp/'],
  ])('the resource parameter for %s is %s by default', (server, expected) => {
    proves('T-AUTH-029', 'T-AUTH-030', 'T-AUTH-033')
    expect(canonicalUri(new URL(server))).toBe(expected)
  })

  test.each<[string, Record<string, unknown>]>([
    ['is about somebody else', { resource: 'https://evil.example/mcp' }],
    ['says not what it is about', { resource: undefined }],
    ['has a fragment', { resource: 'http://127.0.0.1/mcp#x' }],
    ['has no scheme', { resource: '127.0.0.1/mcp' }],
    ['names no authorization server', { authorization_servers: [] }],
    ['names none that is encrypted', { authorization_servers: ['http://as.example'] }],
  ])('the resource is not taken from a document that %s', async (_, change) => {
    proves('T-AUTH-032')
    const realm = await startRealm()
    realm.resourceMetadata = { ...realm.resourceMetadata, ...change }
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: expect.stringMatching(/^resource-/) } })
    expect(documents(realm)).toEqual([`${PRM}/mcp`])
  })

  test('of several authorization servers the requested one is used, otherwise the first', async () => {
    proves('T-AUTH-020')
    const realm = await startRealm()
    const other = await startRealm()
    realm.resourceMetadata.authorization_servers = [realm.origin, other.origin]
    other.answers.set('/token', () => ({ json: realm.issue() }))
    await login(realm, { issuer: other.origin })
    expect([realm.at('/token').length, other.at('/token').length]).toEqual([0, 1])
    await login(realm)
    expect([realm.at('/token').length, other.at('/token').length]).toEqual([1, 1])
  })
})

describe('an authorization server', () => {
  test('an authorization server with a path is looked for in the order of the specification', async () => {
    proves('R-AUTH-025', 'R-AUTH-035')
    const realm = await startRealm()
    const issuer = `${realm.origin}/tenant`
    realm.resourceMetadata.authorization_servers = [issuer]
    realm.answers.set(`/tenant${OIDC}`, () => ({ json: { ...realm.serverMetadata, issuer } }))
    await login(realm)
    expect(documents(realm).slice(1)).toEqual([`${ASM}/tenant`, `${OIDC}/tenant`, `/tenant${OIDC}`])
  })

  test('an authorization server without a path is looked for by OAuth metadata, then by OpenID', async () => {
    proves('R-AUTH-025', 'R-AUTH-036')
    const realm = await startRealm()
    realm.answers.set(ASM, () => ({ status: 404 }))
    realm.answers.set(OIDC, () => ({ json: realm.serverMetadata }))
    await login(realm)
    expect(documents(realm).slice(1)).toEqual([ASM, OIDC])
  })

  test.each(['/', '%41', ':80'])('an authorization server must have exactly the issuer it was found by: not with %s', async (more) => {
    proves('R-AUTH-090')
    const realm = await startRealm()
    realm.serverMetadata.issuer = `${realm.origin}${more}`
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'issuer-mismatch' } })
    expect(documents(realm)).toEqual([`${PRM}/mcp`, ASM])
    expect(realm.seen.filter(({ method, path }) => method === 'POST' && path !== '/mcp')).toEqual([])
  })

  test('an authorization server that names another issuer is refused', async () => {
    const realm = await startRealm()
    realm.serverMetadata.issuer = 'https://honest.example'
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'issuer-mismatch' } })
  })

  test.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'])(
    'an authorization server has its %s encrypted or on this machine',
    async (name) => {
      proves('T-AUTH-054', 'R-AUTH-014', 'R-AUTHX-023', 'R-SEC-008', 'R-SEC-016', 'R-SEC-017', 'R-SEC-021')
      for (const value of ['http://as.example/x', 'javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 17]) {
        const realm = await startRealm()
        realm.serverMetadata[name] = value
        expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'server-metadata' } })
        expect(realm.at('/authorize')).toEqual([])
      }
    },
  )

  test('an authorization server that cannot be reached is an error, and nothing else is tried', async () => {
    const realm = await startRealm()
    realm.answers.set(ASM, () => ({ status: 502 }))
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'server-metadata' } })
    expect(documents(realm)).not.toContain(OIDC)
  })

  test('an authorization server whose tokens are issued elsewhere causes a warning', async () => {
    const realm = await startRealm()
    realm.serverMetadata.token_endpoint = `${realm.origin.replace('127.0.0.1', 'localhost')}/token`
    const warnings: string[] = []
    await login(realm, { onWarning: (message) => warnings.push(message) })
    expect(warnings).toEqual([expect.stringContaining('another site')])
  })

  test('an authorization server cannot send more than the limit, nor take longer', async () => {
    const realm = await startRealm()
    realm.answers.set(ASM, () => ({ json: { ...realm.serverMetadata, filler: 'x'.repeat(300_000) } }))
    expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_LIMIT' })
    realm.answers.set(ASM, () => new Promise(() => {}))
    expect(await failureOf(login(realm, { limits: { requestTimeoutMs: 100 } }))).toMatchObject({ code: 'ERR_TIMEOUT' })
  })
})
