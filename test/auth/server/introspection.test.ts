import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { IntrospectionOptions, ResourceServerLimits } from '../../../src/auth/server/index.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS } from '../../../src/auth/server/limits.ts'
import { Introspector, MAX_INTROSPECTING } from '../../../src/auth/server/tokens/introspection.ts'
import { Issuer } from '../../../src/auth/server/tokens/issuer.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { askModern, callTool, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { type Claims, claimsOf, json, seconds, startIssuer } from '../../support/token-issuer.ts'

const CLIENT = { clientId: 'mcp server', clientSecret: 's:cret/ü' }

/** A server whose issuer is asked about tokens; what it says about them is for tests to set. */
async function opaque(more: Partial<IntrospectionOptions> = {}, limits: Partial<ResourceServerLimits> = {}) {
  const issuer = await startIssuer()
  const clock = fakeClock()
  const said = new Map<string, Claims>()
  const asked: { token: string | null; authorization: string | undefined; body: string }[] = []
  issuer.routes.set('/introspect', (request, response, body) => {
    const token = new URLSearchParams(body).get('token')
    asked.push({ token, authorization: request.headers.authorization, body })
    json(response, said.get(token ?? '') ?? { active: false })
  })
  const auth = issuer.protect({ issuer: { issuer: issuer.url, introspection: { ...CLIENT, ...more } }, clock, limits })
  const server = testServer()
  const refused: string[] = []
  const { url } = await serve(server, { auth, onRefused: ({ reason }) => refused.push(reason) })
  const status = async (token: string): Promise<number> =>
    (await askModern(url, callTool('hi'), { authorization: `Bearer ${token}` })).status
  const active = (claims: Claims = {}): Claims => ({ active: true, ...claimsOf(issuer.url, claims) })
  return { issuer, clock, said, asked, auth, status, active, refused }
}

describe('a token that only its issuer can read', () => {
  test('an opaque token is introspected, and the answer is cached for a minute', async () => {
    proves('T-AUTH-039')
    const { clock, said, asked, status, active } = await opaque()
    said.set('good', active())
    expect(await status('good')).toBe(200)
    expect(await status('good')).toBe(200)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from('mcp+server:s%3Acret%2F%C3%BC').toString('base64')}`)
    said.delete('good')
    await clock.advance(59_999)
    expect(await status('good')).toBe(200)
    await clock.advance(1)
    expect(await status('good')).toBe(401)
    expect(asked).toHaveLength(2)
  })

  test('an opaque token is introspected once for many requests at the same time', async () => {
    const { said, asked, status, active } = await opaque()
    said.set('good', active())
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => status('good'))))).toEqual(new Set([200]))
    expect(asked).toHaveLength(1)
  })

  test('an opaque token expires on time, whatever is cached', async () => {
    const { said, status, active } = await opaque()
    said.set('short', active({ exp: seconds() - 3 }))
    expect(await status('short')).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 3100))
    expect(await status('short')).toBe(401)
  })

  test.each<[string, Claims, number, number]>([
    ['begins', { nbf: 1_000_010 }, 999_999, 1_000_000],
    ['ends', { exp: 1_000_010 }, 1_000_020, 1_000_019],
  ])('the expiry of an opaque token counts to the second when it %s, plus the tolerance', async (_what, claims, outside, inside) => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const { said, status, active } = await opaque({}, { clockToleranceSeconds: 10 })
    said.set('token', active({ exp: 1_000_100, ...claims }))
    for (const [at, expected] of [
      [outside, 401],
      [inside, 200],
    ] as const) {
      vi.setSystemTime(at * 1000)
      expect(await status('token')).toBe(expected)
    }
  })

  test.each<[string, Claims]>([
    ['is not active', { active: false }],
    ['is for somebody else', { aud: 'https://other.example' }],
    ['is for nobody', { aud: undefined }],
    ['is from another issuer', { iss: 'https://evil.example' }],
    ['has ended', { exp: 1 }],
    ['has no end', { exp: undefined }],
    ['has not begun', { nbf: seconds() + 60 }],
    ['has no subject', { sub: undefined }],
    ['names no client', { client_id: undefined }],
    ['is bound to a key', { cnf: { jkt: 'x' } }],
  ])('an opaque token is refused when it %s', async (_what, claims) => {
    proves('T-AUTH-040', 'T-AUTH-042')
    const { said, status, active } = await opaque()
    said.set('bad', active(claims))
    expect(await status('bad')).toBe(401)
  })

  test('an opaque token is refused when its expiry is infinite', async () => {
    const { issuer, status, active } = await opaque()
    issuer.routes.set('/introspect', (_request, response) => {
      response.end(JSON.stringify(active({ exp: 'END' })).replace('"END"', '1e999'))
    })
    expect(await status('endless')).toBe(401)
  })

  test.each<[string, (response: import('node:http').ServerResponse) => void]>([
    ['an error', (response) => response.writeHead(500).end()],
    ['a page', (response) => response.writeHead(200).end('<html>')],
    ['a redirect', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    ['nothing of use', (response) => json(response, { active: 'yes' })],
    ['a broken line', (response) => response.destroy()],
    ['nothing in time', () => {}],
  ])('an opaque token is refused with 503 while the issuer answers with %s, and is introspected again', async (_what, answer) => {
    const { issuer, said, asked, status, active, refused } = await opaque({}, { fetchTimeoutMs: 200 })
    said.set('token-to-hide', active())
    const good = issuer.routes.get('/introspect')
    issuer.routes.set('/introspect', (_request, response) => answer(response))
    expect(await status('token-to-hide')).toBe(503)
    expect(JSON.stringify(refused)).not.toContain('token-to-hide')
    if (good) issuer.routes.set('/introspect', good)
    expect(await status('token-to-hide')).toBe(200)
    expect(asked).toHaveLength(1)
  })

  test('introspection credentials can go in the body', async () => {
    const { said, asked, status, active } = await opaque({ method: 'client_secret_post' })
    said.set('good', active())
    expect(await status('good')).toBe(200)
    expect(asked[0]?.authorization).toBeUndefined()
    expect(new URLSearchParams(asked[0]?.body).get('client_secret')).toBe(CLIENT.clientSecret)
  })

  test('the cache of opaque tokens is bounded', async () => {
    const introspector = () => {
      const asked: (string | null)[] = []
      const clock = fakeClock()
      const fetch = async (_url: string, { body }: RequestInit): Promise<Response> => {
        asked.push(new URLSearchParams(String(body)).get('token'))
        return Response.json({ active: true })
      }
      const bounds = { fetch, fetchTimeoutMs: 5_000 }
      const introspection = { ...CLIENT, endpoint: 'https://issuer.example/introspect' }
      const limits = DEFAULT_RESOURCE_SERVER_LIMITS
      const issuer = new Issuer({ issuer: 'https://issuer.example', introspection }, bounds, clock)
      return { asked, clock, known: new Introspector(issuer, introspection, limits, bounds, clock, 2) }
    }
    const { asked, known } = introspector()
    for (const token of ['a', 'b', 'a', 'b']) await known.read(token)
    expect(asked).toEqual(['a', 'b'])
    await known.read('c')
    await known.read('b')
    expect(asked).toEqual(['a', 'b', 'c'])
    await known.read('a')
    expect(asked).toEqual(['a', 'b', 'c', 'a'])
    // A token that is introspected again takes its own place and displaces no other.
    const other = introspector()
    await other.known.read('a')
    await other.clock.advance(30_000)
    await other.known.read('b')
    await other.clock.advance(30_000)
    for (const token of ['a', 'b', 'a']) await other.known.read(token)
    expect(other.asked).toEqual(['a', 'b', 'a'])
  })

  test('an opaque token is refused at once when too many introspections are pending', async () => {
    const { issuer, status } = await opaque({}, { fetchTimeoutMs: 20_000 })
    const held: import('node:http').ServerResponse[] = []
    issuer.routes.set('/introspect', (_request, response) => {
      held.push(response)
    })
    const waiting = Array.from({ length: MAX_INTROSPECTING }, (_, i) => status(`held-${i}`))
    while (held.length < MAX_INTROSPECTING) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await status('c')).toBe(503)
    for (const response of held) json(response, { active: false })
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([401]))
  })

  test('a JWT of an issuer with introspection is still verified by its keys', async () => {
    const { issuer, asked, status } = await opaque()
    expect(await status(await issuer.token())).toBe(200)
    expect(asked).toHaveLength(0)
  })
})
