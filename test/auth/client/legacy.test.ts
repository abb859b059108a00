/** Servers of the first revision with authorization, which are their own authorization servers and have no document about themselves. */

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { oauth } from '../../../src/auth/client/oauth.ts'
import type { OAuthOptions } from '../../../src/auth/client/options.ts'
import { fileTokenStore } from '../../../src/auth/index.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { open } from './support.ts'

const PRM = '/.well-known/oauth-protected-resource'
const ASM = '/.well-known/oauth-authorization-server'
const OIDC = '/.well-known/openid-configuration'

async function startLegacyRealm({ hasMetadata }: { hasMetadata: boolean }): Promise<Realm> {
  const realm = await startRealm()
  realm.challenge = 'Bearer'
  realm.answers.set(`${PRM}/mcp`, () => ({ status: 404 }))
  if (!hasMetadata) realm.answers.set(ASM, () => ({ status: 404 }))
  return realm
}

const login = (realm: Realm, options: OAuthOptions = {}) =>
  open(realm.url, oauth({ redirect: realm.redirect, ...options }), { revisions: ['2025-03-26'] })

/** What was asked of the authorization server, in order. */
const asked = (realm: Realm): string[] =>
  realm.seen.map(({ method, path }) => `${method} ${path}`).filter((each) => !each.endsWith(' /mcp') && !each.includes(PRM))

describe('a server that is its own authorization server', () => {
  test('a server that is its own authorization server is found by the document at its origin', async () => {
    proves('R-AUTH-003', 'R-AUTH-008', 'R-AUTH-011')
    const realm = await startLegacyRealm({ hasMetadata: true })
    realm.serverMetadata.token_endpoint = `${realm.origin}/other/token`
    realm.answers.set('/other/token', () => ({ json: realm.issue() }))
    const client = await login(realm)
    expect(client.revision).toBe('2025-03-26')
    expect(asked(realm)).toEqual([`GET ${ASM}`, 'POST /register', 'GET /authorize', 'POST /other/token'])
  })

  test('a server without a document has its endpoints at the default paths of its origin', async () => {
    proves('R-AUTH-003', 'R-AUTH-008', 'R-AUTH-010', 'R-AUTH-011')
    const realm = await startLegacyRealm({ hasMetadata: false })
    await login(realm)
    expect(asked(realm)).toEqual([`GET ${ASM}`, `GET ${OIDC}`, 'POST /register', 'GET /authorize', 'POST /token'])
  })

  test('a server that only takes API keys is not reported as a failed registration', async () => {
    const realm = await startLegacyRealm({ hasMetadata: false })
    realm.answers.set('/register', () => ({ status: 404 }))
    await expect(login(realm)).rejects.toMatchObject({
      code: 'ERR_AUTH',
      data: { reason: 'no-login' },
      message: expect.stringContaining('requires credentials and offers no login'),
    })
  })

  test.each([true, false])('the metadata request names the protocol version: %s', async (hasMetadata) => {
    proves('R-HDR-002')
    const realm = await startLegacyRealm({ hasMetadata })
    const client = await login(realm)
    // The handshake agrees on a version and has none yet; later requests name it.
    realm.taken.clear()
    realm.refreshable.clear()
    realm.seen.length = 0
    await client.call('read')
    const documents = realm.seen.filter(({ path }) => path.startsWith('/.well-known/'))
    expect(documents.length).toBeGreaterThan(0)
    for (const { headers } of documents) expect(headers['mcp-protocol-version']).toBe('2025-03-26')
    for (const { headers } of realm.at('/token')) expect(headers['mcp-protocol-version']).toBeUndefined()
  })

  test('a legacy login as a public client uses PKCE, registration, renewal and private token storage', async () => {
    proves('R-AUTH-001', 'R-AUTH-002', 'R-AUTH-015', 'R-AUTH-016', 'R-AUTH-020')
    const realm = await startLegacyRealm({ hasMetadata: false })
    const folder = join(mkdtempSync(join(tmpdir(), 'portico-legacy-')), 'store')
    const client = await login(realm, { store: fileTokenStore({ folder, keychain: false, onWarning: () => {} }) })
    expect(JSON.parse(realm.at('/register')[0]!.body)).toMatchObject({ token_endpoint_auth_method: 'none' })
    const [page] = realm.at('/authorize')
    expect(page?.query.get('code_challenge_method')).toBe('S256')
    expect(page?.query.get('code_challenge')).toMatch(/^[\w-]{43}$/)
    expect(realm.at('/token')[0]?.form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    // Each refresh token is used once, and the next one is the one that came with the last answer.
    for (let i = 0; i < 2; i++) {
      realm.taken.clear()
      await client.call('read')
    }
    expect(realm.grants('refresh_token').map(({ form }) => form.get('refresh_token'))).toEqual(['refresh-1', 'refresh-2'])
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    expect(kept.length).toBeGreaterThan(0)
    for (const text of kept) expect(text).not.toMatch(/access-|refresh-/)
  })

  test('a legacy login as a confidential client uses its secret, and PKCE too', async () => {
    proves('R-AUTH-001', 'R-AUTH-015')
    const realm = await startLegacyRealm({ hasMetadata: false })
    await login(realm, { client: { id: 'known', secret: 'the-secret' } })
    const { headers, form } = realm.at('/token')[0]!
    expect(headers.authorization).toBe(`Basic ${btoa('known:the-secret')}`)
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    expect(realm.at('/register')).toEqual([])
  })
})
