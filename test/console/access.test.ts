/** Attacks on the control plane of a console, over real HTTP. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeClock } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { http, portOf, rawHttp } from '../support/http-requests.ts'
import { until } from '../support/until.ts'
import { codeOf, consoles, Page } from './pages.ts'

const opened = consoles()
const temporaryFolder = temporaryFolders()
/** Sessions need no servers. */
const bare = (console: NonNullable<Parameters<typeof opened>[0]>['console'] = {}) => opened({ host: { servers: {} }, console })

describe('the one-time code', () => {
  test('the link has the code in its fragment, and the code is exchanged for a cookie and a token', async () => {
    const { console } = await bare()
    const link = console.link()
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}$/)
    const answer = await new Page(console.origin).exchange(codeOf(link))
    expect(answer.status).toBe(201)
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      new RegExp(`^portico-console-${console.port}=[\\w-]{43}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=43200$`),
    )
    expect(answer.message).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/), expiresInMs: 43_200_000 })
  })

  test('a code works once', async () => {
    const { console } = await bare()
    const code = codeOf(console.link())
    expect((await new Page(console.origin).exchange(code)).status).toBe(201)
    expect(await new Page(console.origin).fails('POST /api/session', { body: { code } })).toMatchObject({
      status: 401,
      code: 'ERR_CODE',
      message: expect.stringContaining('was used already'),
    })
  })

  test('a code expires', async () => {
    const clock = fakeClock()
    const { console } = await bare({ clock })
    const [early, late] = [codeOf(console.link()), codeOf(console.link())]
    await clock.advance(5 * 60_000 - 1)
    expect((await new Page(console.origin).exchange(early)).status).toBe(201)
    await clock.advance(1)
    expect((await new Page(console.origin).exchange(late)).status).toBe(401)
  })

  test('only the newest codes are kept', async () => {
    const { console } = await bare({ limits: { maxCodes: 2 } })
    const codes = [console.link(), console.link(), console.link()].map(codeOf)
    const statuses = []
    for (const code of codes) statuses.push((await new Page(console.origin).exchange(code)).status)
    expect(statuses).toEqual([401, 201, 201])
  })

  test('codes for further windows do not replace a printed link', async () => {
    const { console } = await bare({ limits: { maxCodes: 2 } })
    const printed = codeOf(console.link())
    const page = await Page.open(console)
    for (let i = 0; i < 3; i++) await page.get('POST /api/session/codes')
    expect((await new Page(console.origin).exchange(printed)).status).toBe(201)
  })

  test('after too many wrong codes further wrong ones wait, and the right code still works', async () => {
    const clock = fakeClock()
    const { console } = await bare({ clock, limits: { wrongCodes: { perSecond: 0.5, burst: 3 } } })
    const page = new Page(console.origin)
    for (let i = 0; i < 3; i++) expect((await page.exchange(`wrong ${i}`)).status).toBe(401)
    const limited = await page.exchange('wrong again')
    expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': '2' } })
    expect(await page.fails('POST /api/session', { body: { code: 'wrong' } })).toMatchObject({
      status: 429,
      code: 'ERR_RATE_LIMITED',
      message: 'Too many wrong codes (wrongCodes): try again in 2 s',
    })
    // Another program that sends wrong codes cannot keep the person out.
    expect((await page.exchange(codeOf(console.link()))).status).toBe(201)
    await clock.advance(2000)
    expect((await page.exchange('wrong at last')).status).toBe(401)
  })

  test('a window can make a code for another window', async () => {
    const { console } = await bare()
    const { code, expiresInMs } = await (await Page.open(console)).get('POST /api/session/codes')
    expect(expiresInMs).toBe(300_000)
    const other = new Page(console.origin)
    await other.exchange(code)
    expect((await other.get('GET /api/settings')).name).toBe('portico')
  })
})

describe('a session', () => {
  test('every route but the exchange needs the cookie and the token', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    const { routes = [] } = await page.fails('GET /api/nothing')
    expect(routes.length).toBeGreaterThan(45)
    const { cookie, token } = page
    const attempts: [string, { cookie?: string; token?: string }][] = [
      ['nothing', {}],
      ['the cookie only', { cookie }],
      ['the token only', { token }],
    ]
    for (const [name, secrets] of attempts) {
      const intruder = Object.assign(new Page(console.origin), secrets)
      for (const route of routes.filter((each) => each !== 'POST /api/session')) {
        const { status, code } = await intruder.fails(route.replaceAll(':id', 'x'), {})
        expect({ name, route, status, code }).toEqual({ name, route, status: 401, code: 'ERR_SESSION' })
      }
    }
  })

  test('the error names what is missing', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    expect((await Object.assign(new Page(console.origin), { cookie: page.cookie }).fails('GET /api/servers')).message).toContain(
      'the header portico-token is missing',
    )
    expect((await Object.assign(new Page(console.origin), { token: page.token }).fails('GET /api/servers')).message).toContain(
      'the cookie is missing',
    )
  })

  test('the cookie of one session and the token of another do not fit together', async () => {
    const { console } = await bare()
    const [one, other] = [await Page.open(console), await Page.open(console)]
    const mixed = Object.assign(new Page(console.origin), { cookie: one.cookie, token: other.token })
    expect(await mixed.fails('GET /api/servers')).toMatchObject({ status: 401, code: 'ERR_SESSION' })
  })

  test('a session ends on request, and its event streams end with it', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    const events = await page.events()
    const answer = await page.send('DELETE /api/session')
    expect(answer.status).toBe(200)
    expect(answer.headers['set-cookie']?.[0]).toContain('Max-Age=0')
    expect(await events.ended).toBe('end')
    expect((await page.fails('GET /api/servers')).status).toBe(401)
  })

  test('a second window of a browser has its own token, and the first goes on with the cookie of both', async () => {
    const { console } = await bare()
    const first = await Page.open(console)
    const second = Object.assign(new Page(console.origin), { cookie: first.cookie })
    await second.exchange(codeOf(console.link()))
    expect(second.cookie).toBe(first.cookie)
    expect(second.token).not.toBe(first.token)
    // A browser has one cookie for both windows.
    first.cookie = second.cookie
    for (const window of [first, second]) expect((await window.send('GET /api/servers')).status).toBe(200)
    expect((await second.send('DELETE /api/session')).headers['set-cookie']).toBeUndefined()
    expect((await second.send('GET /api/servers')).status).toBe(401)
    expect((await first.send('GET /api/servers')).status).toBe(200)
    // A cookie that no session has is replaced, so nobody can choose it.
    const chosen = Object.assign(new Page(console.origin), { cookie: `portico-console-${console.port}=chosen` })
    await chosen.exchange(codeOf(console.link()))
    expect(chosen.cookie).not.toContain('chosen')
  })

  test('an idle session ends, and one with an open stream does not', async () => {
    const clock = fakeClock()
    const { console } = await bare({ clock, limits: { sessionIdleMs: 1000, heartbeatMs: 10_000 } })
    const [idle, watching] = [await Page.open(console), await Page.open(console)]
    await watching.events()
    await clock.advance(1001)
    expect((await idle.fails('GET /api/settings')).status).toBe(401)
    expect((await watching.get('GET /api/settings')).name).toBe('portico')
  })

  test('a further session replaces the one that was idle longest', async () => {
    const clock = fakeClock()
    const { console } = await bare({ clock, limits: { maxSessions: 2 } })
    const [first, second] = [await Page.open(console), await Page.open(console)]
    await clock.advance(1)
    await first.get('GET /api/settings')
    await Page.open(console)
    expect((await second.fails('GET /api/settings')).status).toBe(401)
    expect((await first.get('GET /api/settings')).name).toBe('portico')
  })

  test('when every session is in use a further one is refused, and its code stays valid', async () => {
    const { console } = await bare({ limits: { maxSessions: 2 } })
    const pages = [await Page.open(console), await Page.open(console)]
    const [stream] = await Promise.all(pages.map((page) => page.events()))
    const code = codeOf(console.link())
    expect(await new Page(console.origin).fails('POST /api/session', { body: { code } })).toEqual({
      status: 429,
      code: 'ERR_LIMIT',
      message: '2 windows use the console already (maxSessions): close one of them first',
    })
    stream?.destroy()
    await until(async () => (await new Page(console.origin).exchange(code)).status === 201)
  })

  test('a wrong code ends no session', async () => {
    const { console } = await bare({ limits: { maxSessions: 1 } })
    const page = await Page.open(console)
    await new Page(console.origin).exchange('wrong')
    expect((await page.get('GET /api/settings')).name).toBe('portico')
  })

  test('a console that was closed accepts nothing', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    await console.close()
    await expect(page.send('GET /api/settings')).rejects.toThrow('ECONNREFUSED')
  })
})

describe('another page', () => {
  test.each(['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost', '127.0.0.1.evil.example'])(
    'the host %j is refused, for the API and for files',
    async (host) => {
      const { console } = await bare()
      const page = await Page.open(console)
      for (const path of ['/api/settings', '/'])
        expect(await page.fails(`GET ${path}`, { headers: { host } })).toMatchObject({ status: 403, code: 'ERR_HOST' })
    },
  )

  test('a request without a host is refused', async () => {
    const { console } = await bare()
    const socket = rawHttp(console.port, 'GET / HTTP/1.0\r\n\r\n')
    expect(await socket.closed).toContain('ERR_HOST')
  })

  test('the names 127.0.0.1 and localhost are accepted with the right port', async () => {
    const { console } = await bare()
    for (const name of ['127.0.0.1', 'localhost'])
      expect((await http(console.origin, { method: 'GET', headers: { host: `${name}:${console.port}` } })).status).toBe(200)
  })

  test.each(['http://evil.example', 'http://127.0.0.1:1', 'https://127.0.0.1', 'null'])(
    'a request from the origin %s is refused with all secrets, and changes nothing',
    async (origin) => {
      const { console } = await bare()
      const page = await Page.open(console)
      const code = codeOf(console.link())
      expect(await page.fails('POST /api/session/codes', { headers: { origin } })).toMatchObject({ status: 403, code: 'ERR_ORIGIN' })
      expect(await page.fails('GET /api/settings', { headers: { origin } })).toMatchObject({ status: 403, code: 'ERR_ORIGIN' })
      expect(await page.fails('POST /api/session', { headers: { origin }, body: { code } })).toMatchObject({ status: 403 })
      expect((await new Page(console.origin).exchange(code)).status).toBe(201)
    },
  )

  test('a request that names localhost as its host must come from localhost', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    const host = `localhost:${console.port}`
    expect((await page.fails('GET /api/settings', { headers: { host, origin: console.origin } })).code).toBe('ERR_ORIGIN')
    expect((await page.send('GET /api/settings', { headers: { host, origin: `http://${host}` } })).status).toBe(200)
  })

  test.each(['same-site', 'cross-site', 'none'])('a request to the API with Sec-Fetch-Site: %s is refused', async (site) => {
    const { console } = await bare()
    const page = await Page.open(console)
    expect((await page.fails('GET /api/settings', { headers: { 'sec-fetch-site': site } })).code).toBe('ERR_ORIGIN')
    expect((await page.send('GET /', { headers: { 'sec-fetch-site': site } })).status).toBe(200)
    expect((await page.send('GET /api/settings', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200)
  })

  test('a server at another port that receives the cookie cannot use it', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    const received: (string | undefined)[] = []
    const other = createServer((request, response) => {
      received.push(request.headers.cookie, request.headers['portico-token'] as string | undefined)
      response.end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    // A browser sends the cookie to every port of the address, and the token to none but the console's.
    await http(`http://127.0.0.1:${portOf(other)}/api/x`, { headers: { cookie: page.cookie } })
    expect(received).toEqual([page.cookie, undefined])
    const thief = Object.assign(new Page(console.origin), { cookie: received[0] ?? '' })
    expect(await thief.fails('GET /api/servers')).toMatchObject({ status: 401, code: 'ERR_SESSION' })
    expect(await thief.fails('POST /api/session/codes')).toMatchObject({ status: 401, code: 'ERR_SESSION' })
  })

  test('a cookie that another port planted under the same name does not end the session', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    const planted = `portico-console-${console.port}=planted`
    for (const cookie of [`${planted}; ${page.cookie}`, `${page.cookie}; ${planted}`])
      expect((await page.send('GET /api/settings', { headers: { cookie } })).status).toBe(200)
    expect((await page.fails('GET /api/settings', { headers: { cookie: planted } })).status).toBe(401)
    const some = `${`${planted}; `.repeat(63)}${page.cookie}`
    expect((await page.send('GET /api/settings', { headers: { cookie: some } })).status).toBe(200)
    const many = `${`${planted}; `.repeat(64)}${page.cookie}`
    expect((await page.fails('GET /api/settings', { headers: { cookie: many } })).status).toBe(401)
  })

  test('no answer allows another origin to read it', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    for (const route of ['GET /api/settings', 'GET /', 'OPTIONS /api/settings', 'GET /api/nothing']) {
      const { headers } = await page.send(route)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
    expect((await page.fails('OPTIONS /api/settings')).status).toBe(405)
  })
})

describe('every answer', () => {
  test('has strict headers, also errors', async () => {
    const { console } = await bare()
    const page = await Page.open(console)
    for (const route of ['GET /', 'GET /api/settings', 'GET /api/nothing', 'GET /missing.js', 'POST /']) {
      const { headers } = await page.send(route)
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      })
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      // Views of tools are at another port of this computer. Nothing else may come from elsewhere.
      const others = policy.replace(/frame-src http:\/\/127\.0\.0\.1:(\d+) http:\/\/localhost:\1;/, '')
      expect(others).not.toMatch(/unsafe|\*|https?:|frame-src/)
    }
  })
})

describe('the body of a request', () => {
  const limits = { maxBodyBytes: 100 }

  test('a body above the limit is refused before it is read', async () => {
    const { console } = await bare({ limits })
    const page = await Page.open(console)
    const answer = await page.fails('POST /api/complete', { body: { server: 'x'.repeat(200) } })
    expect(answer).toEqual({ status: 413, code: 'ERR_TOO_LARGE', message: 'Expected a body of at most 100 bytes (maxBodyBytes)' })
  })

  test('a body without a length is refused when it passes the limit', async () => {
    const { console } = await bare({ limits })
    const page = await Page.open(console)
    const head = `POST /api/complete HTTP/1.1\r\nhost: 127.0.0.1:${console.port}\r\ncookie: ${page.cookie}\r\nportico-token: ${page.token}\r\n`
    const chunk = `80\r\n${'x'.repeat(128)}\r\n`
    const socket = rawHttp(console.port, `${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`)
    expect(await socket.status()).toBe(413)
  })

  test('a body at the limit is accepted', async () => {
    const { console } = await bare({ limits })
    const page = await Page.open(console)
    const code = 'x'.repeat(100 - '{"code":""}'.length)
    expect((await page.fails('POST /api/session', { body: { code } })).status).toBe(401)
  })

  test.each([
    ['text/plain', '{}', 415, 'Expected the header Content-Type: application/json, got "text/plain"'],
    ['application/json', '{', 400, 'Expected JSON as the body'],
    ['application/json', '[]', 400, 'body: expected an object, got an array'],
    ['application/json', 'null', 400, 'body: expected an object, got null'],
    ['application/json; charset=utf-8', '{"code":1}', 400, 'code: expected string, got number'],
    ['application/json', '{}', 400, 'code'],
    ['application/json', '{"code":"x","more":1}', 400, 'more'],
    ['application/json', '{"__proto__":{"code":"x"}}', 400, '__proto__'],
  ])('a body of type %s with %s is refused', async (type, body, status, message) => {
    const { console } = await bare()
    const error = await new Page(console.origin).fails('POST /api/session', { headers: { 'content-type': type }, body })
    expect(error).toMatchObject({ status, message: expect.stringContaining(message) })
  })
})

test('above the limit the connection that was idle longest makes room for a new one', async () => {
  const { console } = await bare({ limits: { maxConnections: 2 } })
  const [first, second] = [rawHttp(console.port, 'GET / HTTP/1.1\r\n'), rawHttp(console.port, 'GET / HTTP/1.1\r\n')]
  await until(() => !first.socket.connecting && !second.socket.connecting)
  const answer = await http(console.origin, { method: 'GET' })
  expect(answer.status).toBe(200)
  expect(await first.closed).toBe('')
  second.destroy()
})

test('above the limit a new connection is closed if all others are in use', async () => {
  const { console } = await bare({ limits: { maxConnections: 1 } })
  const page = await Page.open(console)
  const events = await page.events()
  const refused = rawHttp(console.port, `GET / HTTP/1.1\r\nhost: 127.0.0.1:${console.port}\r\n\r\n`)
  expect(await refused.closed).toBe('')
  events.destroy()
  await until(async () => (await http(console.origin, { method: 'GET' }).catch(() => undefined))?.status === 200)
})

test('the text of an unexpected error stays on this side', async () => {
  const { console, host, errors } = await bare()
  const page = await Page.open(console)
  const fault = new Error('The key is sk-secret')
  host.budgetLeft = () => Promise.reject(fault)
  host.rootsOf = () => []
  host.review = () => undefined
  await host.configure([
    { id: 'x', tier: 'untrusted', provenance: [], isDisabled: true, transport: { type: 'http', url: 'https://a.example', headers: {} } },
  ])
  expect(await page.fails('GET /api/servers/x')).toEqual({
    status: 500,
    code: 'ERR_INTERNAL',
    message: 'The console failed. Its log has the details',
  })
  expect(errors).toEqual([fault])
})

describe('the files of the page', () => {
  test('without a built page every address shows that it is not built', async () => {
    const { console } = await bare()
    for (const path of ['/', '/index.html', '/servers/notes', '/api-docs']) {
      const answer = await http(console.origin + path, { method: 'GET' })
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
      expect(answer.text).toContain('is not built')
    }
    expect((await http(console.origin, { method: 'HEAD' })).text).toBe('')
  })

  test('files of the folder are served with their types, and no others', async () => {
    const folder = temporaryFolder()
    mkdirSync(`${folder}/assets`)
    writeFileSync(`${folder}/index.html`, '<title>built</title>')
    writeFileSync(`${folder}/assets/app.js`, 'go()')
    symlinkSync('/etc/passwd', `${folder}/assets/link.js`)
    const { console } = await bare({ assets: folder })
    const get = (path: string) => http(console.origin + path, { method: 'GET' })
    expect(await get('/assets/app.js')).toMatchObject({ text: 'go()', headers: { 'content-type': 'text/javascript; charset=utf-8' } })
    expect((await get('/tools/notes__add')).text).toBe('<title>built</title>')
    for (const path of ['/assets/missing.js', '/assets/link.js', '/../package.json', '/assets/..%2f..%2fetc/passwd.js', '/%00.js'])
      expect((await get(path)).status, path).toBe(404)
  })

  test('a folder without a page is an error', async () => {
    await expect(bare({ assets: new URL('.', import.meta.url).pathname })).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining('expected a file index.html'),
    })
  })
})
