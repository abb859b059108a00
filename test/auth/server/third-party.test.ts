import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AccountStore, memoryAccounts, memoryVisits, type ThirdPartyOptions, thirdParty } from '../../../src/auth/server/index.ts'
import { memoryStore } from '../../../src/store/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { Browser } from '../../support/browser.ts'
import { askModern, callTool, openSession, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'
import { startIssuer } from '../../support/token-issuer.ts'

const PAGES = 'https://mcp.example.com/connect/photos'
const PHOTOS = 'https://photos.example'
const SECRET = 'photos-client-secret'

/** A service elsewhere: whoever is logged in there agrees to everything. */
function photoService() {
  const codes = new Map<string, { user: string; challenge: string; redirect: string }>()
  const tokens = new Map<string, string>()
  const tokenRequests: URLSearchParams[] = []
  const apiCalls: Record<string, string>[] = []
  const give = (user: string): Response => {
    const token = `photos-token-of-${user}-${tokens.size}`
    tokens.set(token, user)
    return Response.json({
      access_token: token,
      refresh_token: `photos-refresh-of-${user}-${tokens.size}`,
      token_type: 'bearer',
      expires_in: 3600,
    })
  }
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    if (url.pathname === '/authorize') {
      const user = /photos=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? 'nobody'
      const redirect = url.searchParams.get('redirect_uri') as string
      if (redirect !== `${PAGES}/callback` || url.searchParams.get('code_challenge_method') !== 'S256')
        return new Response('', { status: 400 })
      const code = crypto.randomUUID()
      codes.set(code, { user, challenge: url.searchParams.get('code_challenge') as string, redirect })
      const back = new URL(redirect)
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') as string)
      return new Response(null, { status: 302, headers: { location: back.href } })
    }
    if (url.pathname === '/token') {
      const params = new URLSearchParams(await request.text())
      tokenRequests.push(params)
      if (request.headers.get('authorization') !== `Basic ${btoa(`mcp-server:${SECRET}`)}`)
        return Response.json({ error: 'invalid_client' }, { status: 401 })
      if (params.get('grant_type') === 'refresh_token') {
        const user = /^photos-refresh-of-(\w+)-\d+$/.exec(params.get('refresh_token') ?? '')?.[1]
        return user === undefined || user === 'revoked' ? Response.json({ error: 'invalid_grant' }, { status: 400 }) : give(user)
      }
      const given = codes.get(params.get('code') ?? '')
      codes.delete(params.get('code') ?? '')
      const verifier = new TextEncoder().encode(params.get('code_verifier') ?? '')
      const made = Buffer.from(await crypto.subtle.digest('SHA-256', verifier)).toString('base64url')
      if (!given || made !== given.challenge || params.get('redirect_uri') !== given.redirect)
        return Response.json({ error: 'invalid_grant' }, { status: 400 })
      return give(given.user)
    }
    apiCalls.push(Object.fromEntries(request.headers))
    const owner = tokens.get((request.headers.get('authorization') ?? '').replace('Bearer ', ''))
    return owner === undefined ? new Response('', { status: 401 }) : Response.json({ albums: [`holidays of ${owner}`] })
  }
  return { fetch, tokenRequests, apiCalls, tokens }
}

async function connected(more: Partial<ThirdPartyOptions> = {}) {
  const issuer = await startIssuer()
  const service = photoService()
  const accounts: AccountStore = more.accounts ?? memoryAccounts()
  const failures: string[] = []
  const completed: boolean[] = []
  const server = testServer()
  const photos = thirdParty({
    name: 'Photos',
    url: PAGES,
    authorizationEndpoint: `${PHOTOS}/authorize`,
    tokenEndpoint: `${PHOTOS}/token`,
    clientId: 'mcp-server',
    clientSecret: SECRET,
    scopes: ['albums'],
    accounts,
    fetch: (url, init) => service.fetch(new Request(url, init)),
    // The web login of the server, as plain as can be: the cookie is the name.
    whoIs: (request) => {
      const subject = /(?:^|; )login=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1]
      return subject === undefined ? undefined : { issuer: issuer.url, subject }
    },
    login: (_request, returnTo) =>
      new Response(null, { status: 303, headers: { location: `https://mcp.example.com/login?to=${encodeURIComponent(returnTo)}` } }),
    onConnected: (elicitationId) => completed.push(server.completeElicitation(elicitationId)),
    onError: (error) => failures.push(String(error)),
    ...more,
  })
  server.tool('albums', {}, async (_args, ctx) => {
    const token = await photos.tokenFor(ctx.caller.auth)
    const answer = await service.fetch(new Request(`${PHOTOS}/albums`, { headers: { authorization: `Bearer ${token}` } }))
    return JSON.stringify(await answer.json())
  })
  const { url } = await serve(server, { auth: issuer.protect() })
  const web = (request: Request): Promise<Response> => {
    const { origin, pathname } = new URL(request.url)
    if (origin === PHOTOS) return service.fetch(request)
    if (pathname === '/login') return Promise.resolve(new Response('log in here', { status: 200 }))
    return photos.fetch(request)
  }
  /** The browser of somebody who is logged in here and at the service elsewhere. */
  const browserOf = (name: string | undefined, elsewhere = name): Browser => {
    const browser = new Browser(web)
    if (name !== undefined) browser.setCookie('https://mcp.example.com', 'login', name)
    if (elsewhere !== undefined) browser.setCookie(PHOTOS, 'photos', elsewhere)
    return browser
  }
  /** Calls the tool in the session of a client that can be sent to pages, until it says where to go. */
  const ask = async (claims: Message = {}) => {
    const session = await openSession(url, '2025-11-25', {
      capabilities: { elicitation: { url: {} } },
      headers: await issuer.bearer(claims),
    })
    const answer = await session.ask(callTool('albums'))
    const page = (answer.message.error as { data?: { elicitations: { url: string; elicitationId: string }[] } } | undefined)?.data
      ?.elicitations[0]
    return { session, answer, page: page?.url ?? '', elicitationId: page?.elicitationId }
  }
  return { issuer, server, service, photos, accounts, failures, completed, url, browserOf, ask }
}

describe('a third-party account', () => {
  test('a third-party account is connected in the browser, and its token never passes the client', async () => {
    proves('T-ELIC-061', 'T-ELIC-066', 'T-ELIC-068', 'T-ELIC-069', 'T-ELIC-071', 'T-ELIC-072', 'T-ELIC-073', 'T-ELIC-074', 'T-ELIC-101')
    const { issuer, service, completed, browserOf, ask } = await connected()
    const { session, answer, page, elicitationId } = await ask()
    expect(answer.message.error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', message: 'Connect your Photos account' }] },
    })
    const stream = await session.listen()
    const browser = browserOf('alice')
    const done = await browser.answer(page, 'yes')
    expect(done.status).toBe(200)
    expect(await done.text()).toContain('Done')
    expect(browser.history.map((each) => new URL(each).origin + new URL(each).pathname)).toEqual([
      page,
      page,
      `${PHOTOS}/authorize`,
      `${PAGES}/callback`,
    ])
    expect(completed).toEqual([true])
    expect(await stream.message()).toMatchObject({ method: 'notifications/elicitation/complete', params: { elicitationId } })
    const again = await session.ask(callTool('albums'))
    expect(again.text).toContain('holidays of alice')
    // Two tokens, each for its own: that of the client for the server, that of the server for the service.
    const token = session.headers.authorization?.slice(7) ?? ''
    for (const seen of [...service.apiCalls, ...service.tokenRequests.map(String)])
      expect(JSON.stringify(seen)).not.toContain(token.slice(-40))
    expect(service.apiCalls.at(-1)?.authorization).toBe('Bearer photos-token-of-alice-0')
    for (const text of [answer.text, again.text, stream.text, ...browser.history]) expect(text).not.toMatch(/photos-(token|refresh|client)/)
    expect([...issuer.hits.keys()]).not.toContain('/token')
    stream.destroy()
  })

  test('in the newest revision the page is a question, and the client carries nothing of it', async () => {
    proves('T-ELIC-040', 'T-ELIC-069')
    const { issuer, url, browserOf } = await connected()
    const headers = await issuer.bearer()
    const meta = { _meta: envelope({ elicitation: { url: {} } }) }
    const first = (await askModern(url, callTool('albums', {}, meta), headers)).message.result as Message
    const [name, question] = Object.entries(first.inputRequests as Record<string, { params: { url: string } }>)[0] ?? []
    expect((await browserOf('alice').answer(question?.params.url ?? '', 'yes')).status).toBe(200)
    const inputResponses = { [name ?? '']: { action: 'accept' } }
    const second = await askModern(url, callTool('albums', {}, { ...meta, requestState: first.requestState, inputResponses }), headers)
    expect(second.text).toContain('holidays of alice')
    expect(second.text + JSON.stringify(first)).not.toMatch(/photos-(token|refresh|client)/)
  })

  test('a third-party account is not connected by another person than the one who asked (phishing)', async () => {
    proves('T-ELIC-098', 'T-ELIC-099', 'T-ELIC-100')
    const { service, accounts, issuer, browserOf, ask } = await connected()
    // Mallory asks, and has Alice open the page.
    const { page } = await ask({ sub: 'mallory' })
    const victim = browserOf('alice')
    const refused = await victim.answer(page, 'yes')
    expect(refused.status).toBe(403)
    expect(victim.history).toEqual([page])
    expect(service.tokenRequests).toEqual([])
    expect(await accounts.get({ issuer: issuer.url, subject: 'mallory', clientId: 'client-1' })).toBeUndefined()
    expect(await accounts.get({ issuer: issuer.url, subject: 'alice', clientId: 'client-1' })).toBeUndefined()
  })

  test("a third-party account is not connected by another browser's redirect (confused deputy)", async () => {
    proves('T-SEC-001')
    const { service, accounts, issuer, failures, browserOf, ask } = await connected()
    const { page } = await ask({ sub: 'mallory' })
    // Mallory agrees in her own browser, stops at the door of the service, and sends Alice there.
    const attacker = browserOf('mallory')
    const html = await (await attacker.step(page)).text()
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://mcp.example.com' }
    const left = await attacker.step(page, { method: 'POST', headers: form, body: `token=${token}&answer=yes` })
    const captured = left.headers.get('location') as string
    expect(captured).toMatch(/^https:\/\/photos\.example\/authorize\?/)
    const marked = browserOf('mallory', 'alice')
    marked.setCookie('https://mcp.example.com', `__Host-portico-visit-${page.slice(-43, -35)}`, 'A'.repeat(43))
    for (const victim of [browserOf('alice'), browserOf(undefined, 'alice'), browserOf('mallory', 'alice'), marked]) {
      // Even with a login as Mallory in the victim's browser the cookie of her own is missing, or is another.
      const end = await victim.visit(captured)
      expect(end.status).toBe(403)
      expect(await end.text()).toContain('Nothing was changed')
    }
    expect(service.tokenRequests).toEqual([])
    for (const subject of ['alice', 'mallory'])
      expect(await accounts.get({ issuer: issuer.url, subject, clientId: 'client-1' })).toBeUndefined()
    expect(failures).toEqual([])
  })

  test('a third-party account needs consent for each client, before anything is forwarded', async () => {
    proves('T-SEC-002', 'R-SEC-001')
    const { service, browserOf, ask } = await connected()
    const browser = browserOf('alice')
    await browser.answer((await ask()).page, 'yes')
    expect((await ask()).answer.text).toContain('holidays of alice')
    const other = await ask({ client_id: 'evil<client>' })
    expect(other.answer.message.error).toMatchObject({ code: -32042 })
    const before = service.tokenRequests.length
    const shown = await browser.visit(other.page)
    expect(shown.status).toBe(200)
    expect(await shown.text()).toContain('evil&#60;client&#62;')
    expect(browser.history.at(-1)).toBe(other.page)
    expect(await (await browser.answer(other.page, 'no')).text()).toContain('Nothing was changed')
    expect((await browser.visit(other.page)).status).toBe(404)
    expect(service.tokenRequests).toHaveLength(before)
  })

  test('a page shows nothing without a login, and its address contains nothing personal', async () => {
    proves('T-ELIC-084', 'T-ELIC-085')
    const { browserOf, ask } = await connected()
    const { page } = await ask({ sub: 'alice@example.com' })
    expect(page).toMatch(/^https:\/\/mcp\.example\.com\/connect\/photos\/[\w-]{43}$/)
    const browser = browserOf(undefined)
    const shown = await browser.visit(page)
    expect(await shown.text()).toBe('log in here')
    expect(new URL(browser.history.at(-1) as string).searchParams.get('to')).toBe(page)
  })

  test('a page with a changed address is not found, like any other', async () => {
    proves('T-ELIC-102')
    const { browserOf, ask } = await connected()
    const { page } = await ask()
    const browser = browserOf('alice')
    const flipped = page.slice(0, -1) + (page.endsWith('A') ? 'B' : 'A')
    for (const changed of [
      flipped,
      `${page}x`,
      `${page}/..`,
      PAGES,
      `${PAGES}/`,
      `${PAGES}/callback`,
      `${PAGES}/callback?state=x.y&code=1`,
      page.replace('photos/', 'photos/../photos2/'),
    ])
      expect((await browser.visit(changed)).status, changed).toBe(404)
    expect((await browser.visit(`${page}?subject=mallory&user=mallory`)).status).toBe(200)
  })

  test('the redirect works once, with the given state only', async () => {
    proves('R-SEC-005')
    const { service, failures, browserOf, ask } = await connected()
    const { page } = await ask()
    const browser = browserOf('alice')
    const html = await (await browser.step(page)).text()
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://mcp.example.com' }
    const left = await browser.step(page, { method: 'POST', headers: form, body: `token=${token}&answer=yes` })
    const back = (await browser.step(left.headers.get('location') as string)).headers.get('location') as string
    const state = new URL(back).searchParams.get('state') as string
    const [id] = state.split('.')
    for (const bad of [`${id}.`, `${id}.AAAA`, `${state}x`]) {
      const url = new URL(back)
      url.searchParams.set('state', bad)
      expect((await browser.step(url.href)).status, bad).toBe(403)
    }
    expect(service.tokenRequests).toEqual([])
    expect((await browser.step(back)).status).toBe(200)
    expect((await browser.step(back)).status).toBe(404)
    expect(service.tokenRequests).toHaveLength(1)
    expect([...browser.cookies('https://mcp.example.com').keys()]).toEqual(['login'])
    expect(failures).toEqual([])
  })

  test.each([
    ['of another issuer', 'https://evil.example', 400],
    ['that differs by a slash', `${PHOTOS}/`, 400],
    ['of the service', PHOTOS, 200],
    ['of nobody', undefined, 200],
  ])('an answer with the name %s is checked before its code is redeemed', async (_, iss, status) => {
    const { service, failures, browserOf, ask } = await connected({ issuer: PHOTOS })
    const { page } = await ask()
    const browser = browserOf('alice')
    const html = await (await browser.step(page)).text()
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://mcp.example.com' }
    const left = await browser.step(page, { method: 'POST', headers: form, body: `token=${token}&answer=yes` })
    const back = new URL((await browser.step(left.headers.get('location') as string)).headers.get('location') as string)
    if (iss !== undefined) back.searchParams.set('iss', iss)
    expect((await browser.step(back.href)).status).toBe(status)
    expect(service.tokenRequests).toHaveLength(status === 200 ? 1 : 0)
    expect(failures).toEqual(status === 200 ? [] : ['Error: The response does not come from Photos: its iss parameter differs'])
  })

  test('a page names the client, the scopes and the redirect, and sets no cookie before consent', async () => {
    proves('R-SEC-002', 'R-SEC-006')
    const { browserOf, ask } = await connected({ scopes: ['albums', 'albums:<write>'] })
    const { page } = await ask()
    const browser = browserOf('alice')
    const shown = await browser.step(page)
    const html = await shown.text()
    expect(html).toContain('<strong>client-1</strong>')
    expect(html).toContain('It will ask Photos (photos.example) for: albums, albums:&#60;write&#62;.')
    expect(html).toContain(`Photos will send you back to ${PAGES}/callback.`)
    expect(html).toMatch(/name="token" value="[\w-]{43}"/)
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(shown.headers.get('set-cookie')).toBeNull()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const refused = await browser.step(page, { method: 'POST', headers: type, body: 'token=x&answer=yes' })
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null])
    const agreed = await browser.step(page, { method: 'POST', headers: type, body: `token=${token}&answer=yes` })
    expect(agreed.headers.get('set-cookie')).toMatch(/^__Host-/)
  })

  test('a form of another page, or without our token, does nothing', async () => {
    proves('R-SEC-003')
    const { browserOf, ask } = await connected()
    const { page } = await ask()
    const browser = browserOf('alice')
    const token = /name="token" value="([^"]+)"/.exec(await (await browser.step(page)).text())?.[1] ?? ''
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = (headers: Record<string, string>, body: string) => browser.step(page, { method: 'POST', headers, body })
    expect((await post({ ...type, origin: 'https://evil.example' }, `token=${token}&answer=yes`)).status).toBe(403)
    expect((await post(type, 'token=x&answer=yes')).status).toBe(403)
    expect((await post(type, 'answer=yes')).status).toBe(403)
    expect((await post({ 'content-type': 'text/plain' }, `token=${token}&answer=yes`)).status).toBe(403)
    expect((await post(type, `token=${token}&answer=yes&x=${'x'.repeat(5000)}`)).status).toBe(403)
    expect((await browser.step(page, { method: 'DELETE' })).status).toBe(405)
    const left = await post(type, `token=${token}&answer=yes`)
    expect(left.status).toBe(303)
    expect(left.headers.get('set-cookie')).toMatch(
      /^__Host-portico-visit-[\w-]{8}=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    expect((await post(type, `token=${token}&answer=yes`)).status).toBe(403)
  })

  test('pages cannot be framed, cached or followed', async () => {
    const { browserOf, ask } = await connected()
    const { headers } = await browserOf('alice').step((await ask()).page)
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
  })

  test('a person has ten minutes to connect an account', async () => {
    proves('R-SEC-005')
    const clock = fakeClock()
    const { browserOf, ask } = await connected({ visits: memoryVisits({}, clock) })
    const { page } = await ask()
    const late = await ask()
    await clock.advance(599_999)
    expect((await browserOf('alice').answer(page, 'yes')).status).toBe(200)
    await clock.advance(1)
    expect((await browserOf('alice').answer(late.page, 'yes')).status).toBe(404)
    await expect(connected({ ttlMs: 600_001 })).rejects.toThrow('Expected ttlMs')
  })

  test('pending pages are bounded for one person and for all', async () => {
    const visits = memoryVisits({ maxVisitsPerPerson: 2, maxVisits: 3 })
    const { browserOf, ask } = await connected({ visits })
    const pages = [(await ask()).page, (await ask()).page, (await ask({ client_id: 'other' })).page]
    const statuses = async (all: string[], who = 'alice'): Promise<number[]> =>
      Promise.all(all.map(async (page) => (await browserOf(who).step(page)).status))
    expect(await statuses(pages)).toEqual([404, 200, 200])
    const bob = (await ask({ sub: 'bob' })).page
    expect(await statuses(pages)).toEqual([404, 200, 200])
    const eve = (await ask({ sub: 'eve' })).page
    expect(await statuses(pages)).toEqual([404, 404, 200])
    expect([...(await statuses([bob], 'bob')), ...(await statuses([eve], 'eve'))]).toEqual([200, 200])
  })

  test('a third-party account that the service refuses is not connected, and the reason is logged', async () => {
    const { service, failures, browserOf, ask } = await connected({ clientSecret: 'wrong-secret-CANARY' })
    const done = await browserOf('alice').answer((await ask()).page, 'yes')
    expect(done.status).toBe(400)
    expect((await done.text()) + failures.join()).not.toContain('CANARY')
    expect(failures).toEqual(['Error: Photos returned no token'])
    expect(service.tokens.size).toBe(0)
  })

  test('an expired third-party token is refreshed once for all, and asked for again when that fails', async () => {
    const { accounts, issuer, service, ask } = await connected()
    const owner = { issuer: issuer.url, subject: 'alice', clientId: 'client-1' }
    await accounts.set(owner, { accessToken: 'old', refreshToken: 'photos-refresh-of-alice-7', expiresAt: Date.now() })
    const answers = await Promise.all([ask(), ask(), ask()])
    for (const { answer } of answers) expect(answer.text).toContain('holidays of alice')
    expect(service.tokenRequests).toHaveLength(1)
    await accounts.set(owner, { accessToken: 'old', refreshToken: 'photos-refresh-of-revoked-1', expiresAt: Date.now() })
    expect((await ask()).answer.message.error).toMatchObject({ code: -32042 })
    expect(await accounts.get(owner)).toBeUndefined()
    await accounts.set(owner, { accessToken: 'old', expiresAt: Date.now() })
    expect((await ask()).answer.message.error).toMatchObject({ code: -32042 })
  })

  test('an expired third-party token is refreshed once at a time, and again at its next expiry', async () => {
    const bodies: string[] = []
    const open: (() => void)[] = []
    const { accounts, photos } = await connected({
      fetch: async (_url, { body }) => {
        bodies.push(String(body))
        await new Promise<void>((resolve) => open.push(resolve))
        return Response.json({ access_token: `new-${bodies.length}`, refresh_token: `r${bodies.length}`, expires_in: 1 })
      },
    })
    const grant = (subject: string) => ({ issuer: 'https://as.example', subject, clientId: 'c', scopes: [], claims: {}, expiresAt: 0 })
    for (const subject of ['alice', 'bob']) await accounts.set(grant(subject), { accessToken: 'old', refreshToken: 'r0', expiresAt: 0 })
    const all = ['alice', 'alice', 'bob', 'alice'].map((subject) => photos.tokenFor(grant(subject)))
    while (bodies.length < 2) await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(bodies).toHaveLength(2)
    for (const go of open.splice(0)) go()
    const tokens = await Promise.all(all)
    expect(new Set([tokens[0], tokens[1], tokens[3]]).size).toBe(1)
    const again = photos.tokenFor(grant('alice'))
    while (bodies.length < 3) await new Promise((resolve) => setImmediate(resolve))
    for (const go of open.splice(0)) go()
    expect(await again).toBe('new-3')
    expect(new URLSearchParams(bodies[2]).get('refresh_token')).not.toBe('r0')
  })

  test('replicas with one store of accounts refresh an expired third-party token once', async () => {
    const store = memoryStore()
    const accounts = memoryAccounts()
    let refreshes = 0
    const more: Partial<ThirdPartyOptions> = {
      accounts,
      store,
      fetch: async () => {
        refreshes++
        await new Promise((resolve) => setTimeout(resolve, 30))
        return Response.json({ access_token: 'new', refresh_token: 'r1', expires_in: 3600 })
      },
    }
    const replicas = [await connected(more), await connected(more)]
    const alice = { issuer: 'https://as.example', subject: 'alice', clientId: 'c', scopes: [], claims: {}, expiresAt: 0 }
    await accounts.set(alice, { accessToken: 'old', refreshToken: 'r0', expiresAt: 0 })
    expect(await Promise.all(replicas.map(({ photos }) => photos.tokenFor(alice)))).toEqual(['new', 'new'])
    expect(refreshes).toBe(1)
  })

  test.each([
    ['does not answer', 503],
    ['is asked too often', 429],
  ])('a third-party account stays when its token expired and the service %s', async (_what, status) => {
    const { accounts, issuer, ask } = await connected({ fetch: async () => new Response('', { status }) })
    const owner = { issuer: issuer.url, subject: 'alice', clientId: 'client-1' }
    const account = { accessToken: 'old', refreshToken: 'r', expiresAt: Date.now() }
    await accounts.set(owner, account)
    expect((await ask()).answer.text).not.toContain('holidays')
    expect(await accounts.get(owner)).toEqual(account)
  })

  test.each([
    ['more than half a minute is left', 30_001, 0],
    ['half a minute is left', 30_000, 1],
  ])('a third-party token is used or refreshed when %s', async (_what, left, refreshes) => {
    const now = 1_800_000_000_000
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    const { accounts, issuer, service, ask } = await connected()
    service.tokens.set('old', 'alice')
    const owner = { issuer: issuer.url, subject: 'alice', clientId: 'client-1' }
    await accounts.set(owner, { accessToken: 'old', refreshToken: 'photos-refresh-of-alice-7', expiresAt: now + left })
    for (let i = 0; i < 2; i++) expect((await ask()).answer.text).toContain('holidays of alice')
    expect(service.tokenRequests).toHaveLength(refreshes)
  })

  test('third-party accounts are separate for every person, within a bound', async () => {
    proves('T-ELIC-062', 'T-ELIC-064')
    const { browserOf, ask, accounts, photos, issuer } = await connected({ accounts: memoryAccounts(2) })
    for (const name of ['alice', 'bob']) await browserOf(name).answer((await ask({ sub: name })).page, 'yes')
    expect((await ask({ sub: 'alice' })).answer.text).toContain('holidays of alice')
    expect((await ask({ sub: 'bob' })).answer.text).toContain('holidays of bob')
    expect((await ask({ sub: 'eve' })).answer.message.error).toMatchObject({ code: -32042 })
    await browserOf('eve').answer((await ask({ sub: 'eve' })).page, 'yes')
    expect((await ask({ sub: 'alice' })).answer.message.error).toMatchObject({ code: -32042 })
    expect((await ask({ sub: 'bob' })).answer.text).toContain('holidays of bob')
    // What is renewed takes its own place and nobody else's.
    await accounts.set({ issuer: issuer.url, subject: 'bob', clientId: 'client-1' }, { accessToken: 'new' })
    expect((await ask({ sub: 'eve' })).answer.text).toContain('holidays of eve')
    const bob = { issuer: issuer.url, subject: 'bob', clientId: 'client-1', scopes: [], claims: {}, expiresAt: 0 }
    await photos.disconnect(bob)
    expect(await accounts.get(bob)).toBeUndefined()
  })

  test('a third-party account does not grant access to the server', async () => {
    proves('T-ELIC-067')
    const { url, browserOf, ask } = await connected()
    await browserOf('alice').answer((await ask()).page, 'yes')
    for (const authorization of ['Bearer photos-token-of-alice-0', 'Bearer photos-refresh-of-alice-1'])
      expect((await askModern(url, callTool('albums'), { authorization })).status).toBe(401)
    expect((await askModern(url, callTool('albums'), { cookie: 'login=alice' })).status).toBe(401)
  })

  test('a third-party account needs an authenticated caller', async () => {
    const { photos } = await connected()
    await expect(photos.tokenFor(undefined)).rejects.toThrow('needs a caller with an access token')
  })
})
