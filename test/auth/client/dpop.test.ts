import type { webcrypto } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, EmbeddedJWK, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryTokenStore, type OAuthOptions, oauth, type TokenStore } from '../../../src/auth/client/index.ts'
import { DpopKey } from '../../../src/auth/client/tokens/dpop-key.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const login = (realm: Realm, options: OAuthOptions = {}) => open(realm.url, oauth({ redirect: realm.redirect, ...options }))

/** A server that takes only tokens that are bound to a key, and an authorization server that issues them. */
async function startBoundRealm(): Promise<Realm> {
  const realm = await startRealm()
  realm.challenge = realm.challenge.replace('Bearer', 'DPoP algs="ES256",')
  realm.answers.set('/token', ({ headers }) => (headers.dpop ? { json: { ...realm.issue(), token_type: 'DPoP' } } : undefined))
  return realm
}

describe('a proof', () => {
  test('a proof is signed, names the request and the token, and has a public key only', async () => {
    const key = await DpopKey.create()
    const url = 'https://mcp.example/mcp'
    const proof = await key.prove({ method: 'POST', url: `${url}?key=secret#x`, accessToken: 'token' })
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256'] })
    expect(payload).toEqual({
      htm: 'POST',
      htu: url,
      jti: expect.stringMatching(/^[\w-]{22}$/),
      iat: expect.any(Number),
      ath: 'PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A',
    })
    expect(Object.keys(protectedHeader.jwk ?? {}).sort()).toEqual(['crv', 'kty', 'x', 'y'])
    expect(key.thumbprint).toBe(await calculateJwkThumbprint(protectedHeader.jwk!))
  })

  test('a proof is different each time, and has the last nonce of the origin', async () => {
    const key = await DpopKey.create()
    const prove = async (url: string) => decodeJwt(await key.prove({ method: 'POST', url }))
    key.rememberNonce('https://a.example/token', 'n1')
    key.rememberNonce('https://a.example/other', 'n2')
    const [first, second, elsewhere] = [
      await prove('https://a.example/x'),
      await prove('https://a.example/x'),
      await prove('https://b.example/x'),
    ]
    expect([first.nonce, second.nonce, elsewhere.nonce]).toEqual(['n2', 'n2', undefined])
    expect(first.jti).not.toBe(second.jti)
  })

  test('a proof remembers a bounded number of nonces, and no invalid one', async () => {
    const key = await DpopKey.create()
    for (let i = 0; i < 100; i += 1) key.rememberNonce(`https://h${i}.example`, `n${i}`)
    for (const bad of ['', 'a b', 'a"b', 'x'.repeat(2000), null]) key.rememberNonce('https://h99.example', bad)
    const nonceAt = async (i: number) => decodeJwt(await key.prove({ method: 'GET', url: `https://h${i}.example/` })).nonce
    expect([await nonceAt(0), await nonceAt(84), await nonceAt(99)]).toEqual([undefined, 'n84', 'n99'])
  })
})

describe('tokens that are bound to a key', () => {
  test('bound tokens are requested when the server accepts no others', async () => {
    proves('R-AUTHX-027')
    const realm = await startBoundRealm()
    const client = await login(realm)
    await client.call('read')
    const requests = realm.at('/mcp').filter(({ headers }) => headers.authorization)
    expect(requests.length).toBeGreaterThan(1)
    for (const { headers } of requests) {
      expect(headers.authorization).toBe('DPoP access-1')
      expect(decodeProtectedHeader(String(headers.dpop)).typ).toBe('dpop+jwt')
    }
    const jtis = requests.map(({ headers }) => decodeJwt(String(headers.dpop)).jti)
    expect(new Set(jtis).size).toBe(jtis.length)
  })

  test('bound tokens are requested when the metadata or the program says so', async () => {
    const realm = await startRealm()
    realm.answers.set('/token', () => ({ json: { ...realm.issue(), token_type: 'DPoP' } }))
    realm.resourceMetadata.dpop_bound_access_tokens_required = true
    await login(realm)
    realm.resourceMetadata.dpop_bound_access_tokens_required = false
    await login(realm, { dpop: 'always' })
    expect(realm.at('/token').map(({ headers }) => headers.dpop !== undefined)).toEqual([true, true])
  })

  test('bound tokens are never replaced by unbound ones', async () => {
    const realm = await startBoundRealm()
    realm.answers.set('/token', () => ({ json: realm.issue() }))
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'token' } })
    expect(await failureOf(login(realm, { dpop: 'never' }))).toMatchObject({ data: { reason: 'challenge' } })
    expect(realm.at('/mcp').every(({ headers }) => headers.authorization === undefined)).toBe(true)
    // Later the server says that it would take others.
    const bound = await startBoundRealm()
    const client = await login(bound)
    bound.taken.clear()
    bound.refreshable.clear()
    bound.challenge = bound.challenge.replace('DPoP algs="ES256",', 'Bearer')
    await client.call('read')
    for (const { headers } of bound.at('/mcp')) expect(headers.authorization ?? 'DPoP').toMatch(/^DPoP/)
  })

  test('bound tokens are requested again with the required nonce, once', async () => {
    const realm = await startBoundRealm()
    const issue = realm.answers.get('/token')!
    realm.answers.set('/token', (seen) => {
      const { nonce } = decodeJwt(String(seen.headers.dpop))
      return nonce === 'as-nonce'
        ? issue(seen, realm)
        : { status: 400, headers: { 'dpop-nonce': 'as-nonce' }, json: { error: 'use_dpop_nonce' } }
    })
    await login(realm)
    expect(realm.at('/token')).toHaveLength(2)
    let count = 0
    realm.answers.set('/token', () => ({ status: 400, headers: { 'dpop-nonce': `n${++count}` }, json: { error: 'use_dpop_nonce' } }))
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'token', error: 'use_dpop_nonce' } })
    expect(count).toBe(2)
  })

  test('bound tokens are sent with the required nonce, and a nonce from an answer is used at once', async () => {
    const realm = await startBoundRealm()
    let nonce = 'n1'
    realm.answers.set('/mcp', ({ headers }) => {
      if (!headers.dpop || decodeJwt(String(headers.dpop)).nonce === nonce) return undefined
      return { status: 401, headers: { 'dpop-nonce': nonce, 'www-authenticate': 'DPoP error="use_dpop_nonce"' } }
    })
    const client = await login(realm)
    const before = realm.at('/mcp').length
    await client.tools().all()
    expect(realm.at('/mcp').length).toBe(before + 1)
    nonce = 'n2'
    await client.tools().all()
    await client.call('read')
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('bound tokens fail when the server keeps asking for nonces', async () => {
    const realm = await startBoundRealm()
    let count = 0
    realm.answers.set('/mcp', ({ headers }) =>
      headers.dpop
        ? { status: 401, headers: { 'dpop-nonce': `n${++count}`, 'www-authenticate': 'DPoP error="use_dpop_nonce"' } }
        : undefined,
    )
    expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'refused', status: 401 } })
    expect(count).toBeLessThanOrEqual(5)
  })

  test('the key of bound tokens is not stored, sent or shown', async () => {
    proves('R-AUTHX-035')
    const made: webcrypto.CryptoKeyPair[] = []
    const generate = crypto.subtle.generateKey.bind(crypto.subtle)
    const spy = vi.spyOn(crypto.subtle, 'generateKey').mockImplementation(async (...args: unknown[]) => {
      const pair = await (generate as (...given: unknown[]) => Promise<webcrypto.CryptoKeyPair>)(...args)
      made.push(pair)
      return pair as never
    })
    onTestFinished(() => spy.mockRestore())
    const realm = await startBoundRealm()
    const kept: string[] = []
    const store = memoryTokenStore()
    const set: TokenStore['set'] = (name, value) => {
      kept.push(value)
      return store.set(name, value)
    }
    await (await login(realm, { store: { ...store, set } })).call('read')
    expect(made).toHaveLength(1)
    expect(made[0]?.privateKey.extractable).toBe(false)
    expect(kept.join()).not.toMatch(/"d"|PRIVATE/)
    for (const { headers } of realm.at('/mcp').filter((each) => each.headers.dpop)) {
      expect(decodeProtectedHeader(String(headers.dpop)).jwk).not.toHaveProperty('d')
    }
  })

  test('bound tokens outlive the process only with a key that does', async () => {
    const realm = await startBoundRealm()
    const store = memoryTokenStore()
    await login(realm, { store })
    await login(realm, { store })
    expect(realm.at('/authorize')).toHaveLength(2)
    const dpop = await generateKeyPair('ES256')
    await login(realm, { store, dpop })
    await login(realm, { store, dpop })
    expect(realm.at('/authorize')).toHaveLength(3)
  })

  test('bound tokens are not requested without ES256', async () => {
    const realm = await startBoundRealm()
    realm.serverMetadata.dpop_signing_alg_values_supported = ['RS256']
    expect(await failureOf(login(realm))).toMatchObject({ data: { reason: 'server-metadata' } })
  })
})
