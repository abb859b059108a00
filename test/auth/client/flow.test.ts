import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryTokenStore, type OAuthOptions, oauth, type Redirect, type TokenStore } from '../../../src/auth/client/index.ts'
import { authorizationCode } from '../../../src/auth/client/login/authorization-code.ts'
import type { OAuthGrant } from '../../../src/auth/client/login/oauth-grant.ts'
import { storeKey } from '../../../src/auth/store/token-store.ts'
import { proves } from '../../support/proves.ts'
import { type Realm, type Seen, startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const login = (realm: Realm, options: OAuthOptions = {}) => open(realm.url, oauth({ redirect: realm.redirect, ...options }))

describe('a client that needs authorization', () => {
  test('a client that needs authorization gets it and continues', async () => {
    proves('T-AUTH-009', 'T-AUTH-035')
    const realm = await startRealm()
    const client = await login(realm)
    expect(await client.call('read')).toMatchObject({ content: [{ text: 'read done' }] })
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('a client sends the resource parameter in every request to the authorization server', async () => {
    proves('T-AUTH-026', 'T-AUTH-034')
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    await client.call('read')
    const { url } = realm
    expect(realm.at('/authorize').map(({ query }) => query.get('resource'))).toEqual([url])
    expect(realm.at('/token').map(({ form }) => [form.get('grant_type'), form.get('resource')])).toEqual([
      ['authorization_code', url],
      ['refresh_token', url],
    ])
  })

  test('a client sends the token in the header of every request and nowhere else', async () => {
    proves('T-AUTH-036', 'T-AUTH-038', 'R-AUTH-102')
    const realm = await startRealm()
    const client = await login(realm)
    await client.call('read')
    await client.close()
    const requests = realm.at('/mcp').filter(({ headers }) => headers.authorization !== undefined)
    expect(requests.length).toBeGreaterThan(1)
    for (const { headers } of requests) expect(headers.authorization).toBe('Bearer access-1')
    for (const { query, body } of realm.seen) expect(`${query} ${body}`).not.toContain('access-1')
  })

  test('a client proves with the PKCE verifier that the code is its own', async () => {
    proves('T-AUTH-056')
    const realm = await startRealm()
    await login(realm)
    const { form } = realm.at('/token')[0]!
    expect(Object.fromEntries(form)).toMatchObject({ code: 'the-code', redirect_uri: realm.redirect.uri, client_id: 'client-1' })
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
  })

  test('a client accepts redirect addresses only on this machine or with https', async () => {
    proves('T-AUTH-055', 'R-AUTH-014')
    const realm = await startRealm()
    for (const uri of ['http://evil.example/callback', 'myapp:callback', 'https://app.example/cb#x']) {
      const redirect = { ...realm.redirect, uri }
      expect(await failureOf(login(realm, { redirect }))).toMatchObject({ data: { reason: 'redirect' } })
    }
    expect(realm.at('/authorize')).toEqual([])
    expect(realm.at('/register')).toEqual([])
  })

  test('a client refuses a token of another type, one that cannot be sent, and an invalid answer', async () => {
    for (const [json, status] of [
      [{ access_token: 'x', token_type: 'mac' }, 200],
      [{ access_token: 'x y', token_type: 'Bearer' }, 200],
      [{ access_token: 'x\r\ny: z', token_type: 'Bearer' }, 200],
      [{ token_type: 'Bearer' }, 200],
      [{ error: 'invalid_grant', access_token: 'x', token_type: 'Bearer' }, 200],
      [{ access_token: 'x', token_type: 'Bearer' }, 202],
    ] as const) {
      const realm = await startRealm()
      realm.answers.set('/token', () => ({ status, json }))
      expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'token' } })
    }
  })

  test('a client follows no redirect of the authorization server', async () => {
    const canary = await startRealm()
    for (const path of ['/token', '/register', '/.well-known/oauth-authorization-server']) {
      const realm = await startRealm()
      realm.answers.set(path, () => ({ status: 307, headers: { location: `${canary.origin}${path}` } }))
      await failureOf(login(realm))
    }
    expect(canary.seen).toEqual([])
  })

  test.each([301, 302, 307, 308])('a client does not send the token with a redirect %i to another origin', async (status) => {
    const realm = await startRealm()
    const canary = await startRealm()
    const client = await login(realm)
    realm.answers.set('/mcp', () => ({ status, headers: { location: canary.url } }))
    expect(await failureOf(client.call('read'))).toMatchObject({ code: 'ERR_INSECURE' })
    expect(canary.seen).toEqual([])
  })

  test('a client fails when a new token is refused as well', async () => {
    const realm = await startRealm()
    realm.answers.set('/mcp', () => ({ status: 401, headers: { 'www-authenticate': realm.challenge } }))
    expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'refused', status: 401 } })
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('a client logs in once for many requests at the same time', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    realm.refreshable.clear()
    await Promise.all(Array.from({ length: 20 }, () => client.call('read')))
    expect(realm.at('/authorize')).toHaveLength(2)
  })

  test('a client pauses the timeout of a request while a person logs in', async () => {
    const realm = await startRealm()
    const visit: Redirect['visit'] = (url, how) => sleep(1500).then(() => realm.redirect.visit(url, how))
    const redirect = { ...realm.redirect, visit }
    const auth = oauth({ redirect })
    const client = await open(realm.url, auth, { limits: { timeoutMs: 600, connectTimeoutMs: 600, probeTimeoutMs: 400 } })
    expect(await client.tools().all()).toHaveLength(3)
    // Nor is the server taken for an older one.
    expect(realm.seen.filter(({ body }) => body.includes('"initialize"'))).toEqual([])
  })

  test('a client stops waiting for a person when no request waits for the login', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    realm.refreshable.clear()
    let given: AbortSignal | undefined
    const waiting = oauth({
      redirect: {
        uri: realm.redirect.uri,
        visit: (_, { signal }) => {
          given = signal
          return new Promise(() => {})
        },
      },
    })
    await client.close()
    const controller = new AbortController()
    const attempt = failureOf(waiting.login(realm.url, { signal: controller.signal }))
    while (!given) await sleep(10)
    controller.abort(new Error('enough'))
    expect(await attempt).toMatchObject({ message: 'enough' })
    expect(given.aborted).toBe(true)
  })

  test('a request that comes while a login is being cancelled gets its own login', async () => {
    const realm = await startRealm()
    let visits = 0
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const visit: Redirect['visit'] = (url, how) => (++visits === 1 ? new Promise(() => {}) : realm.redirect.visit(url, how))
    // It takes a moment to close what was opened for the first one.
    const obtain: OAuthGrant['obtain'] = (context) => authorizationCode.obtain(context).finally(() => ended)
    const auth = oauth({ redirect: { ...realm.redirect, visit }, grant: { ...authorizationCode, obtain } })
    const controller = new AbortController()
    const first = failureOf(auth.login(realm.url, { signal: controller.signal }))
    while (visits === 0) await sleep(5)
    controller.abort(new Error('enough'))
    expect(await first).toMatchObject({ message: 'enough' })
    const second = auth.login(realm.url)
    await sleep(20)
    expect(visits).toBe(1)
    end()
    await second
    expect(visits).toBe(2)
  })

  test('a client reports the end of a login after the tokens are stored', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    const kept: string[] = []
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const set: TokenStore['set'] = async (name, value) => {
      const [kind] = JSON.parse(name) as [string]
      if (kind !== 'client') await gate
      await store.set(name, value)
      kept.push(kind)
    }
    let isOver = false
    const login = oauth({ redirect: realm.redirect, store: { ...store, set } }).login(realm.url)
    const over = login.then(() => {
      isOver = true
    })
    while (realm.at('/token').length === 0) await sleep(5)
    await sleep(50)
    expect([isOver, kept]).toEqual([false, ['client']])
    open()
    await over
    expect(kept).toEqual(['client', 'tokens', 'server'])
  })

  test.each(['/.well-known/oauth-authorization-server', '/register', '/token'])(
    'a request that is aborted while %s is silent ends at once, and closes its connection',
    async (path) => {
      const realm = await startRealm()
      let heard: Seen | undefined
      realm.answers.set(path, (seen) => {
        heard = seen
        return new Promise(() => {})
      })
      const controller = new AbortController()
      // Longer than a test may take: it is the caller who ends it.
      const auth = oauth({ redirect: realm.redirect, limits: { requestTimeoutMs: 120_000 } })
      const attempt = failureOf(open(realm.url, auth, { signal: controller.signal }))
      while (!heard) await sleep(5)
      controller.abort(new Error('enough'))
      expect(await attempt).toMatchObject({ message: 'enough' })
      await heard.gone
    },
  )

  test('a client sends its token to no other origin than that of the server', async () => {
    const realm = await startRealm()
    const auth = oauth({ redirect: realm.redirect })
    await auth.login(realm.url)
    const { signal } = new AbortController()
    const headersFor = (url: string) =>
      auth.headers({ method: 'POST', url: new URL(url), server: new URL(realm.url), operation: 'ping', signal })
    expect(await headersFor(`${realm.origin}/other`)).toEqual({ authorization: 'Bearer access-1' })
    for (const url of ['http://127.0.0.1:1/mcp', realm.url.replace('127.0.0.1', 'localhost'), 'https://evil.example/mcp'])
      expect(await headersFor(url)).toEqual({})
  })

  test('a client sends no code when the login answer comes from another authorization server', async () => {
    proves('R-AUTH-074', 'R-AUTH-103')
    const realm = await startRealm()
    const other = await startRealm()
    realm.callback = { iss: other.origin }
    expect(await failureOf(login(realm))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'issuer-mismatch' } })
    expect([...realm.at('/token'), ...other.seen]).toEqual([])
  })

  test('a client compares the issuer with the one it began with, whatever the server says meanwhile', async () => {
    proves('R-AUTH-071')
    const realm = await startRealm()
    const visit: Redirect['visit'] = (url, how) => {
      realm.serverMetadata.issuer = 'https://evil.example'
      realm.resourceMetadata.authorization_servers = ['https://evil.example']
      return realm.redirect.visit(url, how)
    }
    realm.callback = { iss: realm.origin }
    await login(realm, { redirect: { ...realm.redirect, visit } })
    expect(realm.at('/token')).toHaveLength(1)
  })

  test('a client logs in again without a refresh token', async () => {
    proves('R-AUTH-082')
    const realm = await startRealm()
    realm.answers.set('/token', () => {
      const { refresh_token: _, ...tokens } = realm.issue()
      return { json: tokens }
    })
    const client = await login(realm)
    realm.taken.clear()
    expect(await client.call('read')).toMatchObject({ content: [{ text: 'read done' }] })
    expect(realm.grants('refresh_token')).toEqual([])
    expect(realm.at('/authorize')).toHaveLength(2)
  })

  test('a client does not use a stored token of an unknown type', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    await login(realm, { store })
    const name = storeKey('tokens', realm.origin, realm.url, 'client-1', '')
    const kept = JSON.parse((await store.get(name)) ?? '{}')
    expect(kept).toMatchObject({ accessToken: 'access-1', type: 'Bearer' })
    for (const damage of [{ type: 'mac' }, { type: undefined }, { accessToken: 7 }, { scopes: 'a' }, { asked: undefined }]) {
      await store.set(name, JSON.stringify({ ...kept, ...damage }))
      realm.seen.length = 0
      await login(realm, { store })
      expect(realm.at('/authorize')).toHaveLength(1)
      const sent = realm.at('/mcp').map(({ headers }) => headers.authorization ?? 'nothing')
      expect(sent[0]).toBe('nothing')
      for (const each of sent.slice(1)) expect(each).toMatch(/^Bearer access-/)
    }
  })

  test('a client waits for a person for a bounded time', async () => {
    const realm = await startRealm()
    const redirect = { uri: realm.redirect.uri, visit: () => new Promise<never>(() => {}) }
    const fault = await failureOf(login(realm, { redirect, limits: { loginTimeoutMs: 50 } }))
    expect(fault).toMatchObject({ data: { reason: 'redirect' }, message: expect.stringContaining('loginTimeoutMs') })
  })
})

describe('scopes', () => {
  const asked = (realm: Realm): (string | null)[] => realm.at('/authorize').map(({ query }) => query.get('scope'))

  test('scopes are those of the challenge, otherwise those of the server, otherwise none', async () => {
    proves('R-AUTH-031', 'R-AUTH-032', 'R-AUTH-034', 'R-AUTH-050', 'R-AUTH-051')
    const realm = await startRealm()
    realm.resourceMetadata.scopes_supported = ['a', 'b']
    await login(realm)
    realm.challenge += ', scope="c"'
    await login(realm)
    expect(asked(realm)).toEqual(['a b', 'c'])
    const silent = await startRealm()
    await login(silent)
    expect(silent.at('/authorize')[0]?.query.has('scope')).toBe(false)
  })

  test('scopes for offline access are requested only where the authorization server supports them', async () => {
    proves('R-AUTH-081')
    const realm = await startRealm()
    realm.resourceMetadata.scopes_supported = ['a', 'offline_access']
    await login(realm)
    realm.serverMetadata.scopes_supported = ['openid', 'offline_access']
    await login(realm)
    expect(asked(realm)).toEqual(['a', 'a offline_access'])
  })

  test('scopes grow by what an operation needs, and none is lost', async () => {
    proves('R-AUTH-050', 'R-AUTH-056', 'R-AUTH-070', 'R-AUTH-085')
    const realm = await startRealm()
    realm.challenge += ', scope="a"'
    realm.needed.write = ['w']
    realm.needed.erase = ['e']
    const client = await login(realm)
    await client.call('write')
    await client.call('erase')
    await client.call('read')
    expect(asked(realm)).toEqual(['a', 'a w', 'a w e'])
  })

  test('scopes that never suffice cause one login for an operation and then an error', async () => {
    proves('R-AUTH-058')
    const realm = await startRealm()
    const client = await login(realm)
    realm.answers.set('/mcp', ({ body }) =>
      body.includes('tools/call')
        ? { status: 403, headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="more-${realm.seen.length}"` } }
        : undefined,
    )
    for (const name of ['read', 'read', 'write', 'write', 'read']) {
      expect(await failureOf(client.call(name))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'scope' } })
    }
    expect(realm.at('/authorize')).toHaveLength(3)
  })

  test('scopes that are granted already are not requested again', async () => {
    const realm = await startRealm()
    realm.challenge += ', scope="a"'
    const client = await login(realm)
    realm.answers.set('/mcp', ({ body }) =>
      body.includes('tools/call')
        ? { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="a"' } }
        : undefined,
    )
    expect(await failureOf(client.call('read'))).toMatchObject({ data: { reason: 'scope' } })
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('a 403 without a scope challenge causes no login', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.answers.set('/mcp', () => ({ status: 403, text: 'no' }))
    expect(await failureOf(client.call('read'))).toMatchObject({ code: 'ERR_HTTP', data: { status: 403 } })
    expect(realm.at('/authorize')).toHaveLength(1)
  })
})

describe('refreshed tokens', () => {
  test('tokens are refreshed once for fifty requests that are refused at the same time', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    const results = await Promise.all(Array.from({ length: 50 }, () => client.call('read')))
    expect(results).toHaveLength(50)
    expect(realm.grants('refresh_token')).toHaveLength(1)
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('tokens are refreshed before they expire', async () => {
    const realm = await startRealm()
    realm.expiresIn = 2
    const client = await login(realm)
    realm.expiresIn = 3600
    await client.tools().all()
    expect(realm.grants('refresh_token')).toHaveLength(0)
    await sleep(1100)
    await Promise.all([client.call('read'), client.call('read')])
    expect(realm.grants('refresh_token')).toHaveLength(1)
    expect(realm.at('/mcp').at(-1)?.headers.authorization).toBe('Bearer access-2')
  })

  test.each([
    ['not expired', 3590, 'Bearer access-1'],
    ['expired', 3600, undefined],
  ])('tokens that cannot be refreshed in time are still used if they have %s', async (_what, seconds, authorization) => {
    const realm = await startRealm()
    const auth = oauth({ redirect: realm.redirect })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await auth.login(realm.url)
    vi.setSystemTime(Date.now() + seconds * 1000)
    realm.answers.set('/token', () => ({ status: 503 }))
    const request = { server: new URL(realm.url), url: new URL(realm.url), method: 'POST', operation: 'x' }
    const headers = auth.headers(request as never)
    if (authorization === undefined) expect(await failureOf(Promise.resolve(headers))).toMatchObject({ data: { reason: 'token' } })
    else expect(await headers).toEqual({ authorization })
    // A request that was given up meanwhile is not sent, whatever the tokens are.
    const gone = { ...request, signal: AbortSignal.abort(new Error('enough')) }
    expect(await failureOf(Promise.resolve(auth.headers(gone as never)))).toMatchObject({ message: 'enough' })
    expect(realm.grants('refresh_token').length).toBeGreaterThan(0)
  })

  test('a refresh asks for no new scope, and keeps the refresh token when no other is given', async () => {
    const realm = await startRealm()
    realm.resourceMetadata.scopes_supported = ['a']
    const client = await login(realm)
    realm.answers.set('/token', ({ form }) => {
      const { refresh_token: _, ...tokens } = realm.issue()
      return form.get('grant_type') === 'refresh_token' ? { json: tokens } : undefined
    })
    for (const _ of [1, 2]) {
      realm.taken.clear()
      await client.call('read')
    }
    expect(realm.grants('refresh_token').map(({ form }) => [form.get('refresh_token'), form.get('scope')])).toEqual([
      ['refresh-1', null],
      ['refresh-1', null],
    ])
  })

  test('a refresh that is refused for good drops the tokens, and a person logs in again', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    const client = await login(realm, { store })
    realm.taken.clear()
    realm.refreshable.clear()
    await client.call('read')
    expect(realm.grants('refresh_token')).toHaveLength(1)
    expect(realm.at('/authorize')).toHaveLength(2)
  })

  test('a refresh that fails temporarily is an error, and the old tokens are kept', async () => {
    const realm = await startRealm()
    const client = await login(realm)
    realm.taken.clear()
    realm.answers.set('/token', () => ({ status: 503 }))
    expect(await failureOf(client.tools().all())).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'token' } })
    realm.answers.clear()
    await client.tools().all()
    expect(realm.at('/authorize')).toHaveLength(1)
    expect(realm.grants('refresh_token')).toHaveLength(2)
  })

  test('refreshed tokens are found in the store by other processes', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    await login(realm, { store })
    const second = await login(realm, { store })
    await second.call('read')
    expect(realm.at('/authorize')).toHaveLength(1)
    expect(realm.at('/mcp').filter(({ headers }) => headers.authorization === undefined)).toHaveLength(1)
  })

  test('refreshed tokens belong to one person each', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    await login(realm, { store, user: 'alice' })
    await login(realm, { store, user: 'bob' })
    expect(realm.at('/authorize')).toHaveLength(2)
  })
})

describe('a logout', () => {
  test('a logout revokes the tokens and forgets them', async () => {
    const realm = await startRealm()
    const store = memoryTokenStore()
    const auth = oauth({ redirect: realm.redirect, store })
    const client = await open(realm.url, auth)
    await auth.logout(realm.url)
    expect(realm.at('/revoke').map(({ form }) => Object.fromEntries(form))).toEqual([
      { token: 'refresh-1', token_type_hint: 'refresh_token', client_id: 'client-1' },
      { token: 'access-1', token_type_hint: 'access_token', client_id: 'client-1' },
    ])
    await client.call('read')
    expect(realm.at('/authorize')).toHaveLength(2)
  })

  test('a logout also revokes tokens of another process before it ends', async () => {
    const realm = await startRealm()
    const kept = memoryTokenStore()
    // A store on a disk takes its time.
    const store: TokenStore = { ...kept, get: async (name) => sleep(1).then(() => kept.get(name)) }
    await oauth({ redirect: realm.redirect, store }).login(realm.url)
    const other = oauth({ redirect: realm.redirect, store })
    await other.logout(realm.url)
    expect(realm.at('/revoke').map(({ form }) => form.get('token'))).toEqual(['refresh-1', 'access-1'])
    await other.login(realm.url)
    expect(realm.at('/authorize')).toHaveLength(2)
  })

  test('a logout forgets the tokens even if the revocation fails', async () => {
    const realm = await startRealm()
    const warnings: string[] = []
    const auth = oauth({ redirect: realm.redirect, onWarning: (message) => warnings.push(message) })
    await auth.login(realm.url)
    realm.answers.set('/revoke', () => ({ status: 503 }))
    await auth.logout(realm.url)
    expect(warnings).toEqual([expect.stringContaining('valid until they expire')])
    await auth.logout(realm.url)
    await auth.login(realm.url)
    expect(realm.at('/authorize')).toHaveLength(2)
  })
})

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('what is over', () => {
  test('a refused session end opens no login page', async () => {
    const realm = await startRealm()
    const client = await open(realm.url, oauth({ redirect: realm.redirect }), { revisions: ['2025-11-25'] })
    await client.ping()
    realm.answers.set('/mcp', ({ method }) =>
      method === 'DELETE' ? { status: 401, headers: { 'www-authenticate': realm.challenge } } : undefined,
    )
    await client.close()
    expect(realm.seen.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
    expect(realm.at('/authorize')).toHaveLength(1)
  })

  test('closing a client stops its login and leaves no page open', async () => {
    const realm = await startRealm()
    const signals: AbortSignal[] = []
    const visit: Redirect['visit'] = async (url, how) => {
      if (signals.push(how.signal) === 1) return realm.redirect.visit(url, how)
      return new Promise<never>(() => {})
    }
    const client = await login(realm, { redirect: { ...realm.redirect, visit } })
    realm.taken.clear()
    realm.refreshable.clear()
    const attempt = failureOf(client.tools().all())
    while (signals.length < 2) await sleep(10)
    await client.close()
    await attempt
    await sleep(10)
    expect(signals[1]?.aborted).toBe(true)
  })
})
