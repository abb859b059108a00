import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { MAX_DOCUMENT_BYTES } from '../../../src/auth/server/fetch-json.ts'
import type { HttpAuth, RequestHead } from '../../../src/protocol/interfaces/access.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { json, startIssuer } from '../../support/token-issuer.ts'

const knock = (token: string): RequestHead => ({
  method: 'POST',
  url: '/mcp',
  remoteAddress: undefined,
  count: (name) => (name === 'authorization' ? 1 : 0),
  header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
})

const statusOf = async (auth: HttpAuth, token: string): Promise<number> => {
  const answer = await auth.authenticate(knock(token))
  return 'principal' in answer ? 200 : answer.status
}

describe('the keys of an issuer', () => {
  test('1,000 tokens with invented key ids make us fetch keys once, and once more after 30 seconds', async () => {
    const issuer = await startIssuer()
    const clock = fakeClock()
    const auth = issuer.protect({ clock })
    const invented = await issuer.token({}, { kid: 'invented' })
    const [, payload, signature] = invented.split('.')
    const flood = async (): Promise<void> => {
      const tokens = Array.from({ length: 1000 }, () => {
        const head = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: crypto.randomUUID() })).toString('base64url')
        return `${head}.${payload}.${signature}`
      })
      const statuses = await Promise.all(tokens.map((token) => statusOf(auth, token)))
      expect(new Set(statuses)).toEqual(new Set([401]))
    }
    await flood()
    await flood()
    expect(issuer.hits.get('/jwks')).toBe(1)
    await clock.advance(29_000)
    await flood()
    expect(issuer.hits.get('/jwks')).toBe(1)
    await clock.advance(1_000)
    await flood()
    expect(issuer.hits.get('/jwks')).toBe(2)
    expect(issuer.hits.get('/.well-known/oauth-authorization-server')).toBe(1)
  })

  test('the keys of an issuer are kept for ten minutes, and a new one is found after the cool-down', async () => {
    const issuer = await startIssuer()
    const clock = fakeClock()
    const auth = issuer.protect({ clock })
    for (let i = 0; i < 10; i++) expect(await statusOf(auth, await issuer.token())).toBe(200)
    expect(issuer.hits.get('/jwks')).toBe(1)
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const added = { ...(await exportJWK(publicKey)), kid: 'k2', alg: 'ES256' }
    issuer.routes.set('/jwks', (_request, response) => json(response, { keys: [issuer.jwk, added] }))
    const newToken = await issuer.token({}, { kid: 'k2' }, privateKey)
    expect(await statusOf(auth, newToken)).toBe(401)
    await clock.advance(30_000)
    expect(await statusOf(auth, newToken)).toBe(200)
    expect(issuer.hits.get('/jwks')).toBe(2)
    // A key that was taken away counts no more when the time is up.
    issuer.routes.set('/jwks', (_request, response) => json(response, { keys: [added] }))
    expect(await statusOf(auth, await issuer.token())).toBe(200)
    await clock.advance(600_000)
    expect(await statusOf(auth, await issuer.token())).toBe(401)
  })

  test('without the keys of an issuer every token gets 503, and the issuer is not flooded', async () => {
    const issuer = await startIssuer()
    const clock = fakeClock()
    const auth = issuer.protect({ clock })
    const { routes } = issuer
    const good = routes.get('/jwks')
    routes.set('/jwks', (_request, response) => response.writeHead(500).end())
    const token = await issuer.token()
    expect(await Promise.all(Array.from({ length: 100 }, () => statusOf(auth, token)))).toEqual(Array(100).fill(503))
    expect(issuer.hits.get('/jwks')).toBe(1)
    if (good) routes.set('/jwks', good)
    expect(await statusOf(auth, token)).toBe(503)
    await clock.advance(5_000)
    expect(await statusOf(auth, token)).toBe(200)
  })

  test('the keys of an issuer survive a short outage, because they are fetched early', async () => {
    const issuer = await startIssuer()
    const clock = fakeClock()
    const auth = issuer.protect({ clock })
    const token = await issuer.token({ exp: Math.floor(Date.now() / 1000) + 3600 })
    expect(await statusOf(auth, token)).toBe(200)
    await clock.advance(301_000)
    const good = issuer.routes.get('/jwks')
    issuer.routes.set('/jwks', (_request, response) => response.writeHead(500).end())
    expect(await statusOf(auth, token)).toBe(200)
    await clock.advance(299_000)
    // Ten minutes old, and nobody could fetch them anew.
    expect(await statusOf(auth, token)).toBe(503)
    if (good) issuer.routes.set('/jwks', good)
    await clock.advance(30_000)
    expect(await statusOf(auth, token)).toBe(200)
  })

  test.each([
    ['metadata of another issuer', (url: string) => ({ issuer: 'https://honest.example', jwks_uri: `${url}/jwks` })],
    ['metadata with a slash more', (url: string) => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` })],
    ['keys without encryption on the way', (url: string) => ({ issuer: url, jwks_uri: 'http://keys.example/jwks' })],
    ['keys in a file', (url: string) => ({ issuer: url, jwks_uri: 'file:///etc/jwks' })],
    ['no keys', (url: string) => ({ issuer: url })],
  ])('the keys of an issuer are not fetched from the place in %s', async (_what, metadata) => {
    const issuer = await startIssuer()
    issuer.routes.set('/.well-known/oauth-authorization-server', (_request, response) => json(response, metadata(issuer.url)))
    expect(await statusOf(issuer.protect(), await issuer.token())).toBe(503)
    expect(issuer.hits.get('/jwks')).toBeUndefined()
  })

  test('the keys of an issuer are found by OpenID metadata, and at a configured address', async () => {
    const issuer = await startIssuer()
    issuer.routes.delete('/.well-known/oauth-authorization-server')
    expect(await statusOf(issuer.protect({ issuer: { issuer: issuer.url, jwksUri: `${issuer.url}/jwks` } }), await issuer.token())).toBe(
      200,
    )
    issuer.routes.set('/.well-known/openid-configuration', (_request, response) =>
      json(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` }),
    )
    expect(await statusOf(issuer.protect(), await issuer.token())).toBe(200)
  })

  test('the keys of an issuer are fetched without redirects and with a size limit', async () => {
    const issuer = await startIssuer()
    issuer.routes.set('/elsewhere', (_request, response) => json(response, { keys: [issuer.jwk] }))
    issuer.routes.set('/jwks', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect(await statusOf(issuer.protect(), await issuer.token())).toBe(503)
    expect(issuer.hits.get('/elsewhere')).toBeUndefined()
    const size = { now: 0 }
    issuer.routes.set('/jwks', (_request, response) => response.end(`{"keys":[${JSON.stringify(issuer.jwk)}]${' '.repeat(size.now)}}`))
    const fixed = JSON.stringify(issuer.jwk).length + 11
    for (const [bytes, status] of [
      [MAX_DOCUMENT_BYTES - 1, 200],
      [MAX_DOCUMENT_BYTES, 200],
      [MAX_DOCUMENT_BYTES + 1, 503],
    ] as const) {
      size.now = bytes - fixed
      expect(await statusOf(issuer.protect(), await issuer.token()), `${bytes}`).toBe(status)
    }
  })

  test('the keys of an issuer are waited for within a time limit', async () => {
    const issuer = await startIssuer()
    issuer.routes.set('/jwks', () => {})
    const startedAt = performance.now()
    expect(await statusOf(issuer.protect({ limits: { fetchTimeoutMs: 100 } }), await issuer.token())).toBe(503)
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  test.each(['RS256', 'PS256', 'EdDSA'])('keys of the kind %s are accepted', async (alg) => {
    const issuer = await startIssuer(alg)
    expect(await statusOf(issuer.protect(), await issuer.token())).toBe(200)
  })

  test('keys of an unsupported kind are refused, even if the issuer has them', async () => {
    const strong = await startIssuer('ES384')
    expect(await statusOf(strong.protect(), await strong.token())).toBe(401)
    expect(await statusOf(strong.protect({ issuer: { issuer: strong.url, algorithms: ['ES384'] } }), await strong.token())).toBe(200)
    const usual = await startIssuer('RS256')
    expect(await statusOf(usual.protect({ issuer: { issuer: usual.url, algorithms: ['ES256'] } }), await usual.token())).toBe(401)
  })

  test('the length of a token is bounded', async () => {
    const issuer = await startIssuer()
    const { length } = await issuer.token({ padding: '' })
    // Four characters of a token carry three bytes.
    const tokenOf = (chars: number): Promise<string> => issuer.token({ padding: 'x'.repeat(Math.floor(((chars - length) * 3) / 4)) })
    const [longest, tooLong] = [await tokenOf(8192), await tokenOf(8196)]
    expect([longest.length <= 8192, longest.length > 8186, tooLong.length > 8192]).toEqual([true, true, true])
    expect(await statusOf(issuer.protect(), longest)).toBe(200)
    expect(await statusOf(issuer.protect(), tooLong)).toBe(401)
  })

  test('the keys of several issuers are kept apart', async () => {
    const [first, second] = [await startIssuer(), await startIssuer()]
    const auth = first.protect({ issuer: first.url, issuers: [second.url] })
    expect(await statusOf(auth, await first.token())).toBe(200)
    expect(await statusOf(auth, await second.token())).toBe(200)
    expect(await statusOf(auth, await second.token({ iss: first.url }))).toBe(401)
  })
})
