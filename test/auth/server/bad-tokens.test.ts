import {
  CompactEncrypt,
  CompactSign,
  exportSPKI,
  generateKeyPair,
  generateSecret,
  importJWK,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { describe, expect, test } from 'vitest'
import { askModern, callTool, openSession } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { type Claims, claimsOf, keyHolder, protectedServer, RESOURCE, seconds, type TestIssuer } from '../../support/token-issuer.ts'

type Make = (issuer: TestIssuer) => Promise<string>

const claiming =
  (claims: Claims): Make =>
  (issuer) =>
    issuer.token(claims)

const heading =
  (header: Partial<JWTHeaderParameters>): Make =>
  (issuer) =>
    issuer.token({}, header)

const signedBy = async (alg: string, issuer: TestIssuer, header: Partial<JWTHeaderParameters> = {}): Promise<string> =>
  issuer.token({}, { alg, ...header }, (await generateKeyPair(alg, { extractable: true })).privateKey)

const publicPem = async ({ jwk }: TestIssuer): Promise<Uint8Array> => {
  const key = await importJWK(jwk, 'ES256', { extractable: true })
  if (key instanceof Uint8Array) throw new Error('no key')
  return new TextEncoder().encode(await exportSPKI(key))
}

/** The last part of a token replaced. */
const withSignature = async (issuer: TestIssuer, signature: Uint8Array): Promise<string> =>
  `${(await issuer.token()).split('.').slice(0, 2).join('.')}.${Buffer.from(signature).toString('base64url')}`

const BAD: Record<string, Make> = {
  'alg none': async (issuer) => new UnsecuredJWT(claimsOf(issuer.url)).encode(),
  'alg none with the head of a good one': async (issuer) => {
    const [, payload] = (await issuer.token()).split('.')
    return `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`
  },
  'HS256 with the public key as the secret': async (issuer) =>
    new SignJWT(claimsOf(issuer.url)).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' }).sign(await publicPem(issuer)),
  'HS256 with the public JWK as the secret': (issuer) =>
    new SignJWT(claimsOf(issuer.url))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
      .sign(new TextEncoder().encode(JSON.stringify(issuer.jwk))),
  'an algorithm that is not taken (ES384)': (issuer) => signedBy('ES384', issuer),
  'the key of somebody else': (issuer) => signedBy('ES256', issuer),
  'the key in its own head (jwk)': async (issuer) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = await crypto.subtle.exportKey('jwk', publicKey as Parameters<typeof crypto.subtle.exportKey>[1])
    return issuer.token({}, { jwk: jwk as JWTHeaderParameters['jwk'] & object }, privateKey)
  },
  'keys at a place of its own (jku)': (issuer) => signedBy('ES256', issuer, { jku: 'https://evil.example/jwks' }),
  'a certificate at a place of its own (x5u)': (issuer) => signedBy('ES256', issuer, { x5u: 'https://evil.example/x5u' }),
  'another issuer': claiming({ iss: 'https://evil.example' }),
  'an issuer with a slash more': async (issuer) => issuer.token({ iss: `${issuer.url}/` }),
  'no issuer': claiming({ iss: undefined }),
  'another audience [D7]': claiming({ aud: 'https://other.example.com/mcp' }),
  'the origin as audience [D7]': claiming({ aud: 'https://mcp.example.com' }),
  'an audience that begins like ours [D7]': claiming({ aud: `${RESOURCE}2` }),
  'audiences without us [D7]': claiming({ aud: ['https://a.example', 'https://b.example'] }),
  'no audience [D7]': claiming({ aud: undefined }),
  'an audience in other letters [D7]': claiming({ aud: RESOURCE.toUpperCase() }),
  'the type of an ID token': heading({ typ: 'JWT' }),
  'no type': (issuer) => issuer.token({}, { typ: undefined } as unknown as Partial<JWTHeaderParameters>),
  expired: claiming({ exp: seconds() - 60 }),
  'not valid yet': claiming({ nbf: seconds() + 60 }),
  'made far in the future': claiming({ iat: seconds() + 3600, exp: seconds() + 7200 }),
  'no end': claiming({ exp: undefined }),
  'an end that is no number': claiming({ exp: '9999999999' }),
  'no subject': claiming({ sub: undefined }),
  'an empty subject': claiming({ sub: '' }),
  'a subject that is no text': claiming({ sub: { name: 'alice' } }),
  'no client': claiming({ client_id: undefined }),
  'an empty client': claiming({ client_id: '' }),
  'something critical that nobody knows': async (issuer) =>
    new SignJWT(claimsOf(issuer.url))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', crit: ['urn:x'], 'urn:x': true })
      .sign(issuer.key, { crit: { 'urn:x': true } }),
  'encrypted (JWE)': async (issuer) =>
    new CompactEncrypt(new TextEncoder().encode(await issuer.token()))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })
      .encrypt(await generateSecret('A256GCM', { extractable: true })),
  'a token in a token': async (issuer) =>
    new CompactSign(new TextEncoder().encode(await issuer.token()))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', cty: 'JWT', kid: 'k1' })
      .sign(issuer.key),
  'a payload that is a list': async (issuer) =>
    new CompactSign(new TextEncoder().encode('[]')).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' }).sign(issuer.key),
  'longer than tokens may be': claiming({ padding: 'x'.repeat(9000) }),
  'an unknown key id': heading({ kid: 'k2' }),
  'a signature of zeros': (issuer) => withSignature(issuer, new Uint8Array(64)),
  'a signature that is cut off': async (issuer) => (await issuer.token()).slice(0, -4),
  'no signature': async (issuer) => `${(await issuer.token()).split('.').slice(0, 2).join('.')}.`,
  'a claim changed after it was signed': async (issuer) => {
    const [head, , signature] = (await issuer.token()).split('.')
    return `${head}.${Buffer.from(JSON.stringify(claimsOf(issuer.url, { sub: 'bob' }))).toString('base64url')}.${signature}`
  },
  'bound to a key and without proof': async (issuer) => issuer.token({ cnf: { jkt: (await keyHolder()).jkt } }),
  'bound to a certificate': claiming({ cnf: { 'x5t#S256': 'abc' } }),
  'words that are no token': async () => 'hunter2',
  'the type of a DPoP proof': heading({ typ: 'dpop+jwt' }),
}

describe('a token that must be refused', () => {
  for (const [what, make] of Object.entries(BAD)) {
    test(`${what}: 401, and no handler runs`, async () => {
      proves('T-AUTH-039', 'T-AUTH-042', 'T-AUTH-063', 'R-AUTHX-025', 'R-AUTHX-042')
      const { issuer, calls, url } = await protectedServer({ scopes: ['mcp'] })
      const token = await make(issuer)
      const answer = await askModern(url, callTool('note'), { authorization: `Bearer ${token}` })
      expect(answer.status).toBe(401)
      const challenge = String(answer.headers['www-authenticate'])
      expect(challenge).toMatch(/^Bearer error="invalid_token", /)
      expect(challenge).toContain('resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"')
      expect(JSON.stringify(answer)).not.toContain(token)
      expect(calls).toEqual([])
      await expect(openSession(url, '2025-11-25', { headers: { authorization: `Bearer ${token}` } })).rejects.toThrow('401')
    })
  }

  test('there are more than thirty bad tokens', () => {
    expect(Object.keys(BAD).length).toBeGreaterThan(30)
  })

  test('a good token is accepted, with one audience and with several', async () => {
    proves('T-AUTH-008')
    const { issuer, calls, url } = await protectedServer({ scopes: ['mcp'] })
    expect((await askModern(url, callTool('note'), await issuer.bearer())).status).toBe(200)
    expect((await askModern(url, callTool('note'), await issuer.bearer({ aud: ['https://x.example', RESOURCE] }))).status).toBe(200)
    expect(calls).toHaveLength(2)
  })

  test('a token issued for another audience, such as an upstream API, is refused', async () => {
    proves('T-AUTH-040', 'T-AUTH-045', 'T-AUTH-064', 'T-AUTH-065', 'T-SEC-004', 'T-SEC-005', 'R-AUTH-068')
    const { issuer, url } = await protectedServer()
    const { status, headers } = await askModern(url, callTool('note'), await issuer.bearer({ aud: 'https://upstream.example/api' }))
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toContain('error="invalid_token"')
  })

  test('names in a token have at most 1,024 characters', async () => {
    const { issuer, url } = await protectedServer()
    const status = async (claims: Claims): Promise<number> => (await askModern(url, callTool('note'), await issuer.bearer(claims))).status
    for (const name of ['sub', 'client_id']) {
      expect(await status({ [name]: 'x'.repeat(1024) })).toBe(200)
      expect(await status({ [name]: 'x'.repeat(1025) })).toBe(401)
      expect(await status({ [name]: '' })).toBe(401)
    }
  })

  test('clocks may differ by five seconds', async () => {
    const { issuer, url } = await protectedServer()
    const status = async (claims: Claims): Promise<number> => (await askModern(url, callTool('note'), await issuer.bearer(claims))).status
    expect(await status({ exp: seconds() - 2 })).toBe(200)
    expect(await status({ exp: seconds() - 7 })).toBe(401)
    expect(await status({ nbf: seconds() + 3 })).toBe(200)
    expect(await status({ nbf: seconds() + 9 })).toBe(401)
  })

  test('a token without a type, or with another client claim, is accepted when that is configured', async () => {
    const { issuer, url } = await protectedServer()
    const odd = await issuer.token({ client_id: undefined, azp: 'client-9' }, { typ: 'JWT' })
    expect((await askModern(url, callTool('note'), { authorization: `Bearer ${odd}` })).status).toBe(401)
    const told = issuer.protect({ issuer: { issuer: issuer.url, typ: false, clientIdClaim: 'azp' } })
    const visitor = await told.authenticate({
      method: 'POST',
      url: '/mcp',
      remoteAddress: undefined,
      count: () => 1,
      header: (name) => (name === 'authorization' ? `Bearer ${odd}` : undefined),
    })
    expect(visitor).toMatchObject({ auth: { clientId: 'client-9', subject: 'alice' } })
  })
})
