import { createHash } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { guessedMetadata, type ServerMetadata } from '../../../src/auth/client/discovery/server-metadata.ts'
import { LoginAttempt, type LoginRequest } from '../../../src/auth/client/login/login-attempt.ts'
import { proves } from '../../support/proves.ts'
import { failureOf } from './support.ts'

const ISSUER = 'https://as.example'
const REDIRECT = 'http://127.0.0.1:4711/callback'
const metadata: ServerMetadata = {
  ...guessedMetadata(ISSUER),
  isGuessed: false,
  codeChallengeMethods: ['S256'],
  authorizationEndpoint: `${ISSUER}/authorize?tenant=a%20b`,
}

const begin = (more: Partial<ServerMetadata> = {}, request: Partial<LoginRequest> = {}): Promise<LoginAttempt> =>
  LoginAttempt.begin({
    metadata: { ...metadata, ...more },
    clientId: 'me',
    redirectUri: REDIRECT,
    resource: 'https://mcp.example/mcp',
    scopes: ['a', 'b'],
    lifetimeMs: 1000,
    ...request,
  })

const stateOf = (login: LoginAttempt): string => new URL(login.url).searchParams.get('state') as string

function callback(login: LoginAttempt, params: Record<string, string>): string {
  return `${REDIRECT}?${new URLSearchParams({ state: stateOf(login), ...params })}`
}

const faultOf = (run: () => unknown) => failureOf((async () => run())())

describe('the authorization request', () => {
  test('the authorization request has all parameters, with PKCE S256 and the resource', async () => {
    proves('T-AUTH-025', 'T-AUTH-027', 'T-AUTH-056', 'R-AUTH-060')
    const login = await begin()
    const { origin, pathname, searchParams } = new URL(login.url)
    expect(origin + pathname).toBe(`${ISSUER}/authorize`)
    expect(Object.fromEntries(searchParams)).toEqual({
      tenant: 'a b',
      response_type: 'code',
      client_id: 'me',
      redirect_uri: REDIRECT,
      scope: 'a b',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: createHash('sha256').update(login.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: 'https://mcp.example/mcp',
    })
    expect(login.verifier).toMatch(/^[\w-]{43,128}$/)
    expect(new URL((await begin({}, { scopes: [] })).url).searchParams.has('scope')).toBe(false)
  })

  test('the authorization request is different each time', async () => {
    const logins = await Promise.all(Array.from({ length: 20 }, () => begin()))
    expect(new Set(logins.map(stateOf)).size).toBe(20)
    expect(new Set(logins.map(({ verifier }) => verifier)).size).toBe(20)
  })

  test.each([[undefined], [[]], [['plain']]])('a login does not start without PKCE support: %j', async (codeChallengeMethods) => {
    proves('R-AUTH-059', 'R-AUTH-061')
    expect(await failureOf(begin({ codeChallengeMethods }))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'pkce' } })
  })

  test('a login does not start where the authorization code flow is not supported', async () => {
    expect(await failureOf(begin({ responseTypes: ['token'] }))).toMatchObject({ data: { reason: 'server-metadata' } })
    expect(await failureOf(begin({ authorizationEndpoint: undefined }))).toMatchObject({ data: { reason: 'server-metadata' } })
  })
})

describe('the authorization response', () => {
  test.each<[string, boolean, string | undefined, boolean]>([
    ['advertised and equal', true, ISSUER, true],
    ['advertised and absent', true, undefined, false],
    ['advertised, with a slash', true, `${ISSUER}/`, false],
    ['advertised, in other letters', true, 'HTTPS://AS.example', false],
    ['advertised, with the port', true, `${ISSUER}:443`, false],
    ['not advertised, another', false, 'https://other.example', false],
    ['not advertised, equal', false, ISSUER, true],
    ['not advertised and absent', false, undefined, true],
  ])('the authorization response names its issuer: %s', async (_, sendsIssuer, iss, isTaken) => {
    proves('R-AUTH-075', 'R-AUTH-076', 'R-AUTH-077')
    const login = await begin({ sendsIssuer })
    const url = callback(login, { code: 'c', ...(iss !== undefined && { iss }) })
    if (isTaken) expect(login.finish(url)).toBe('c')
    else expect(await faultOf(() => login.finish(url))).toMatchObject({ data: { reason: 'issuer-mismatch' } })
  })

  test('the authorization response of another issuer is not read further, not even its error', async () => {
    proves('R-AUTH-078')
    const login = await begin({ sendsIssuer: true })
    const words = { error: 'access_denied', error_description: 'call 555', error_uri: 'https://evil.example' }
    const fault = await faultOf(() => login.finish(callback(login, { ...words, iss: 'https://evil.example' })))
    expect(fault.data).toEqual({ reason: 'issuer-mismatch' })
    expect(fault.message).not.toMatch(/denied|555|evil/)
  })

  test.each(['', 'wrong', 'x'.repeat(43)])('the authorization response must have the state: %j', async (state) => {
    proves('T-AUTH-059', 'R-AUTHX-023')
    const login = await begin()
    const url = callback(login, { code: 'c', state })
    expect(login.isOurs(url)).toBe(false)
    expect(await faultOf(() => login.finish(url))).toMatchObject({ data: { reason: 'redirect' } })
  })

  test('the authorization response must have the state, and once', async () => {
    const login = await begin()
    expect(login.isOurs(`${REDIRECT}?code=c`)).toBe(false)
    expect(login.isOurs(`${callback(login, { code: 'c' })}&state=other`)).toBe(false)
    expect(login.isOurs(callback(login, { code: 'c' }))).toBe(true)
  })

  test('the authorization response can be used once', async () => {
    const login = await begin()
    expect(login.finish(callback(login, { code: 'c' }))).toBe('c')
    expect(await faultOf(() => login.finish(callback(login, { code: 'c' })))).toMatchObject({ data: { reason: 'redirect' } })
  })

  test('the authorization response is valid as long as the login', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(5000)
    onTestFinished(() => now.mockRestore())
    const [inTime, late] = [await begin({}, { lifetimeMs: 1000 }), await begin({}, { lifetimeMs: 1000 })]
    now.mockReturnValue(6000)
    expect(inTime.finish(callback(inTime, { code: 'c' }))).toBe('c')
    now.mockReturnValue(6001)
    expect(await faultOf(() => late.finish(callback(late, { code: 'c' })))).toMatchObject({
      message: expect.stringContaining('longer than 1000 ms'),
    })
  })

  test('the authorization response has a length limit', async () => {
    const [whole, tooLong] = [await begin(), await begin()]
    const padded = (login: LoginAttempt, length: number) => callback(login, { code: 'c', pad: '' }).padEnd(length, 'x')
    expect(whole.finish(padded(whole, 16 * 1024))).toBe('c')
    expect(await faultOf(() => tooLong.finish(padded(tooLong, 16 * 1024 + 1)))).toMatchObject({ data: { reason: 'redirect' } })
  })

  test.each(['http://127.0.0.1:4712/callback', 'http://127.0.0.1:4711/other', 'https://evil.example/callback', 'nonsense'])(
    'the authorization response must come to the redirect address, not to %s',
    async (address) => {
      const login = await begin()
      const url = `${address}?${new URLSearchParams({ state: stateOf(login), code: 'c' })}`
      expect(await faultOf(() => login.finish(url))).toMatchObject({ data: { reason: 'redirect' } })
    },
  )

  test('the authorization response has one code, one issuer, one error', async () => {
    for (const name of ['code', 'iss', 'error']) {
      const login = await begin()
      const url = `${callback(login, { code: 'c', iss: ISSUER, error: 'x' })}&${name}=other`
      expect(await faultOf(() => login.finish(url))).toMatchObject({ data: { reason: 'redirect' } })
    }
  })

  test('the authorization response may have an error, of which only the code is shown', async () => {
    const login = await begin()
    const fault = await faultOf(() => login.finish(callback(login, { error: 'access_denied', error_description: '<b>call 555</b>' })))
    expect(fault).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'denied', error: 'access_denied' } })
    expect(fault.message).not.toContain('555')
  })
})
