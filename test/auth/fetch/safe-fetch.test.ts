/** Fetching what somebody else named: what is asked, what is followed, what is taken, and what is said when it is not. */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_SAFE_FETCH_LIMITS, type SafeFetchOptions, safeFetch } from '../../../src/auth/fetch/safe-fetch.ts'
import { type CanaryServer, listen, startCanary } from '../../support/canary-server.ts'
import { proves } from '../../support/proves.ts'

const closing: CanaryServer[] = []
afterEach(async () => {
  for (const server of closing.splice(0)) await server.close()
})

async function serve(answer: RequestListener): Promise<{ origin: string; server: CanaryServer }> {
  const server = await listen(createServer(answer), '127.0.0.1')
  closing.push(server)
  return { origin: `http://127.0.0.1:${server.port}`, server }
}

/** A user who connects to something on this machine. */
const LOCAL: SafeFetchOptions = { userUrl: 'http://127.0.0.1:1/mcp' }
const refusedFor = (reason: string) => expect.objectContaining({ code: 'ERR_URL_REFUSED', data: { reason } })

describe('which URLs are fetched', () => {
  test.each([
    ['http://example.com/', 'scheme'],
    ['http://127.0.0.1/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['data:application/json,{}', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['blob:https://example.com/1', 'scheme'],
    ['https://user@example.com/', 'userinfo'],
    ['https://user:password@example.com/', 'userinfo'],
    ['https://example.com:8443/', 'port'],
    ['https://example.com:22/', 'port'],
    ['https://10.0.0.1/', 'address'],
    ['https://localhost/', 'address'],
    ['https://printer/', 'address'],
    ['https://db.internal/', 'address'],
    ['not a url', 'malformed'],
    ['', 'malformed'],
  ])('%s is not fetched: %s', async (url, reason) => {
    proves('R-SEC-008')
    await expect(safeFetch({ resolve: async () => ['93.184.216.34'] })(url)).rejects.toEqual(refusedFor(reason))
  })

  test('http on this machine is fetched once the user connects to this machine', async () => {
    const { origin, server } = await serve((_, response) => response.end('{"a":1}'))
    const response = await safeFetch(LOCAL)(`${origin}/x`)
    expect([response.status, await response.json()]).toEqual([200, { a: 1 }])
    const named = await safeFetch({ userUrl: 'http://localhost:1' })(`http://localhost:${server.port}/`)
    expect(named.status).toBe(200)
    await expect(safeFetch({ userUrl: 'https://example.com' })(origin)).rejects.toEqual(refusedFor('scheme'))
    // What is elsewhere in the network is not this machine.
    await expect(safeFetch(LOCAL)('https://10.0.0.1:1/')).rejects.toEqual(refusedFor('address'))
    await expect(safeFetch(LOCAL)('http://10.0.0.1/')).rejects.toEqual(refusedFor('scheme'))
  })

  test('a local name that resolves elsewhere is not fetched', async () => {
    const fetch = safeFetch({ ...LOCAL, resolve: async () => ['10.0.0.1'] })
    await expect(fetch('http://evil.localhost:4000/')).rejects.toEqual(refusedFor('address'))
  })

  test("a private host is fetched if it is the user's or allowed by name, with a valid certificate", async () => {
    const [cert, key] = ['cert', 'key'].map((name) => readFileSync(`${import.meta.dirname}/../../http/client/fixtures/${name}.pem`, 'utf8'))
    const server = await listen(createTlsServer({ cert, key }, (_, response) => response.end('in')) as never, '127.0.0.1')
    closing.push(server)
    const resolve = async () => ['127.0.0.1']
    const { port } = server
    const url = `https://localhost:${port}/`
    const answered = await safeFetch({ allowHosts: ['LOCALHOST'], allowPorts: [port], resolve, ca: cert })(url)
    expect(await answered.text()).toBe('in')
    await expect(safeFetch({ allowPorts: [port], resolve, ca: cert })(url)).rejects.toEqual(refusedFor('address'))
    await expect(safeFetch({ allowHosts: ['localhost'], resolve, ca: cert })(url)).rejects.toEqual(refusedFor('port'))

    const asked: string[] = []
    const own = {
      userUrl: `https://mcp.corp.example:${port}/mcp`,
      ca: cert,
      resolve: async (host: string) => [asked.push(host) ? '127.0.0.1' : ''],
    }
    // The certificate is for another name: the connection was made, and refused by us.
    await expect(safeFetch(own)(`https://mcp.corp.example:${port}/`)).rejects.toMatchObject({ code: 'ERR_NETWORK' })
    await expect(safeFetch(own)(`https://auth.corp.example:${port}/`)).rejects.toEqual(refusedFor('address'))
    expect(asked).toEqual(['mcp.corp.example', 'auth.corp.example'])
  })

  test('a name is resolved once for each connection, and one private address is enough to refuse it', async () => {
    const asked: string[] = []
    const fetch = safeFetch({ resolve: async (host) => (asked.push(host) ? ['93.184.216.34', '::1'] : []) })
    await expect(fetch('https://two.example/')).rejects.toEqual(refusedFor('address'))
    await expect(safeFetch({ resolve: async () => [] })('https://none.example/')).rejects.toEqual(refusedFor('address'))
    await expect(safeFetch({ resolve: async () => ['other.example'] })('https://alias.example/')).rejects.toEqual(refusedFor('address'))
    expect(asked).toEqual(['two.example'])
  })
})

describe('requests', () => {
  const seen: IncomingMessage[] = []
  const bodies: string[] = []
  beforeEach(() => {
    seen.length = 0
    bodies.length = 0
  })
  const record = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request)
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.setHeader('set-cookie', 'a=b').end('{}')
  }

  test('no cookies are sent, and credentials only with a POST', async () => {
    const { origin } = await serve((request, response) => void record(request, response))
    const headers = { Cookie: 'a=b', Authorization: 'Basic abc', Host: 'other.example', accept: 'application/json' }
    const fetch = safeFetch(LOCAL)
    const response = await fetch(origin, { headers })
    expect(response.headers.get('set-cookie')).toBeNull()
    await fetch(origin, { method: 'POST', headers, body: 'grant_type=x' })
    expect(seen.map(({ headers: { cookie, authorization, accept } }) => [cookie, authorization, accept])).toEqual([
      [undefined, undefined, 'application/json'],
      [undefined, 'Basic abc', 'application/json'],
    ])
    expect(seen.every((request) => request.headers.host === new URL(origin).host)).toBe(true)
    expect(bodies).toEqual(['', 'grant_type=x'])
  })
})

describe('redirects', () => {
  /** Redirects `/n` to `/n-1`, and answers at `/0`. */
  const countdown: RequestListener = (request, response) => {
    const left = Number((request.url ?? '/').slice(1))
    if (left === 0) response.end('there')
    else response.writeHead([301, 302, 303, 307, 308][left % 5] ?? 302, { location: `/${left - 1}` }).end('on the way')
  }

  test('redirects are followed three times', async () => {
    const { origin, server } = await serve(countdown)
    const fetch = safeFetch(LOCAL)
    expect(await (await fetch(`${origin}/2`)).text()).toBe('there')
    expect(await (await fetch(`${origin}/3`)).text()).toBe('there')
    const before = server.hits()
    await expect(fetch(`${origin}/4`)).rejects.toEqual(refusedFor('redirect'))
    expect(server.hits() - before).toBe(4)
  })

  test('redirects are returned where the caller wants that, and never repeat a POST', async () => {
    const { origin, server } = await serve(countdown)
    const fetch = safeFetch(LOCAL)
    const response = await fetch(`${origin}/1`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([302, '/0'])
    await expect(fetch(`${origin}/1`, { method: 'POST', body: 'code=1' })).rejects.toEqual(refusedFor('redirect'))
    expect(server.hits()).toBe(2)
  })

  test.each([
    ['https://10.0.0.1/', 'address'],
    ['http://169.254.169.254/latest/meta-data/', 'scheme'],
    ['https://[fd00::1]/', 'address'],
    ['https://a:b@example.com/', 'userinfo'],
    ['file:///etc/passwd', 'scheme'],
    ['//example.com:25/', 'scheme'],
    ['https://rebinding.example/', 'address'],
  ])('redirects to %s are judged like the first URL: %s', async (location, reason) => {
    proves('R-SEC-010')
    const { origin } = await serve((_, response) => response.writeHead(302, { location }).end())
    const fetch = safeFetch({ ...LOCAL, resolve: async () => ['10.1.2.3'] })
    await expect(fetch(origin)).rejects.toEqual(refusedFor(reason))
  })

  test('redirects without a valid target are refused', async () => {
    for (const location of [undefined, 'https://', 'http://[x]/']) {
      const { origin } = await serve((_, response) => response.writeHead(302, location === undefined ? {} : { location }).end())
      await expect(safeFetch(LOCAL)(origin)).rejects.toEqual(refusedFor('redirect'))
    }
  })
})

describe('responses', () => {
  test('a body is read up to the limit, whatever its declared length', async () => {
    const limit = DEFAULT_SAFE_FETCH_LIMITS.maxDocumentBytes
    expect(limit).toBe(256 * 1024)
    let size = limit
    const { origin } = await serve((_, response) => {
      response.write('x'.repeat(size - 1))
      response.end('x')
    })
    const fetch = safeFetch(LOCAL)
    expect((await (await fetch(origin)).text()).length).toBe(limit)
    size = limit + 1
    await expect(fetch(origin)).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxDocumentBytes') })
  })

  test('a body without end is cut off', async () => {
    let hasEnded = false
    const { origin } = await serve((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more).once('close', () => {
        hasEnded = true
      })
      more()
    })
    await expect(safeFetch(LOCAL)(origin)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
    await expect.poll(() => hasEnded).toBe(true)
  })

  test('a compressed body is measured after decompression', async () => {
    const { gzipSync } = await import('node:zlib')
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
    const { origin } = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    expect(bomb.length).toBeLessThan(256 * 1024)
    await expect(safeFetch(LOCAL)(origin)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  })

  test('a response has a total time limit for head, body and redirects', async () => {
    expect(DEFAULT_SAFE_FETCH_LIMITS.fetchTimeoutMs).toBe(10_000)
    const { origin } = await serve((request, response) => {
      if (request.url === '/body') response.write('x')
      if (request.url === '/hop') setTimeout(() => response.writeHead(302, { location: '/hop' }).end(), 40)
    })
    const fetch = safeFetch({ ...LOCAL, limits: { fetchTimeoutMs: 100 } })
    for (const path of ['/head', '/body', '/hop']) {
      await expect(fetch(origin + path)).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('fetchTimeoutMs') })
    }
  })

  test('a response ends when the caller aborts', async () => {
    const { origin } = await serve(() => {})
    const reason = new Error('enough')
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason), 20)
    await expect(safeFetch(LOCAL)(origin, { signal: controller.signal })).rejects.toBe(reason)
  })

  test('any status is a response, also one without a body', async () => {
    const { origin } = await serve((request, response) => response.writeHead(Number((request.url ?? '').slice(1))).end())
    for (const status of [204, 304, 400, 404, 500]) expect((await safeFetch(LOCAL)(`${origin}/${status}`)).status).toBe(status)
  })
})

describe('errors', () => {
  test('an error names the host and the reason, and nothing of the response', async () => {
    const canary = await startCanary()
    closing.push(canary)
    const fetch = safeFetch({ resolve: async () => ['10.11.12.13'], allowPorts: [canary.port] })
    const error = await fetch('https://inside.example/secret/path?token=abc').catch((error: Error) => error)
    expect(String(error)).toContain('inside.example')
    for (const hidden of ['10.11.12.13', 'secret', 'abc']) expect(JSON.stringify([String(error), error])).not.toContain(hidden)
    expect(canary.hits()).toBe(0)
  })

  test('an unknown host is a network error', async () => {
    const { origin, server } = await serve(() => {})
    await server.close()
    closing.length = 0
    await expect(safeFetch(LOCAL)(origin)).rejects.toMatchObject({ code: 'ERR_NETWORK' })
    const unknown = safeFetch({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) })
    await expect(unknown('https://nowhere.example/')).rejects.toMatchObject({ code: 'ERR_NETWORK' })
  })
})

describe('with only fetch', () => {
  test('with only fetch, URLs and redirects are judged the same, and opaque redirects are not followed', async () => {
    const asked: string[] = []
    const fetch = safeFetch({
      fetch: async (url, init) => {
        asked.push(String(url))
        expect(init?.redirect).toBe('manual')
        return String(url).endsWith('/go')
          ? new Response(null, { status: 302, headers: { location: 'https://10.0.0.1/' } })
          : new Response('ok')
      },
    })
    expect(await (await fetch('https://example.com/')).text()).toBe('ok')
    await expect(fetch('https://example.com/go')).rejects.toEqual(refusedFor('address'))
    for (const url of ['https://127.1/', 'https://localhost/', 'http://example.com/']) await expect(fetch(url)).rejects.toThrow()
    expect(asked).toEqual(['https://example.com/', 'https://example.com/go'])
    const page = safeFetch({ fetch: async () => ({ type: 'opaqueredirect', status: 0 }) as Response })
    await expect(page('https://example.com/')).rejects.toEqual(refusedFor('redirect'))
  })
})
