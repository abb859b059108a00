/** Refusals at the paths of health and metrics, and at paths that nothing serves: they are reported, and guesses are limited. */

import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Refused } from '../../../src/http/index.ts'
import { type HttpCall, http } from '../../support/http-requests.ts'
import { serve, type TestHttpOptions, testServer, until } from '../../support/http-service.ts'
import { serveReplicas } from '../../support/replicas.ts'

const TOKEN = 's3cret-of-the-scraper'
const GET: HttpCall = { method: 'GET', isBare: true }
const scrape = (url: string, token?: string): HttpCall & { at: string } => ({
  ...GET,
  at: new URL('/metrics', url).href,
  ...(token !== undefined && { headers: { authorization: token } }),
})

async function refusing(options: TestHttpOptions = {}) {
  const refused: Refused[] = []
  const listening = await serve(testServer(), {
    health: true,
    metrics: { token: TOKEN },
    onRefused: (what) => refused.push(what),
    ...options,
  })
  const statusOf = async ({ at, ...call }: HttpCall & { at: string }): Promise<number> => (await http(at, call)).status
  const metrics = async (): Promise<string> =>
    (await http(new URL('/metrics', listening.url).href, scrape(listening.url, `Bearer ${TOKEN}`))).text
  return { ...listening, refused, statusOf, metrics }
}

describe('refusals of operators', () => {
  it('are reported and counted, like those at the endpoint', async () => {
    const { url, refused, statusOf, metrics } = await refusing()
    const at = (path: string): string => new URL(path, url).href
    expect(await statusOf(scrape(url, 'Bearer wrong'))).toBe(401)
    expect(await statusOf(scrape(url))).toBe(401)
    expect(await statusOf({ ...GET, at: at('/healthz'), headers: { host: 'evil.example' } })).toBe(403)
    expect(await statusOf({ ...GET, at: at('/readyz'), headers: { origin: 'http://evil.example' } })).toBe(403)
    expect(await statusOf({ method: 'DELETE', isBare: true, at: at('/healthz') })).toBe(405)
    expect(await statusOf({ ...GET, at: at('/admin?key=1') })).toBe(404)
    expect(refused.map(({ status, kind, httpMethod, path, address }) => [status, kind, httpMethod, path, address])).toEqual(
      [
        [401, 'unauthorized', 'GET', '/metrics'],
        [401, 'unauthorized', 'GET', '/metrics'],
        [403, 'host', 'GET', '/healthz'],
        [403, 'origin', 'GET', '/readyz'],
        [405, 'method_not_allowed', 'DELETE', '/healthz'],
        [404, 'unknown_path', 'GET', '/admin'],
      ].map((each) => [...each, '127.0.0.1']),
    )
    const text = await metrics()
    const counted = [...text.matchAll(/^portico_refusals_total\{reason="(\w+)",status="(\d+)"\} (\d+)$/gm)].map(([, ...each]) => each)
    expect(counted).toEqual([
      ['unauthorized', '401', '2'],
      ['host', '403', '1'],
      ['origin', '403', '1'],
      ['method_not_allowed', '405', '1'],
      ['unknown_path', '404', '1'],
    ])
    expect(text).not.toMatch(/^portico_requests_total\{/m)
  })

  it('are none for probes and scrapes that are answered', async () => {
    const { url, refused, statusOf } = await refusing()
    for (const path of ['/healthz', '/readyz']) expect(await statusOf({ ...GET, at: new URL(path, url).href })).toBe(200)
    expect(await statusOf(scrape(url, `Bearer ${TOKEN}`))).toBe(200)
    expect(refused).toEqual([])
  })

  it('have the address that the trusted proxy names', async () => {
    const { url, refused, statusOf } = await refusing({ trustProxy: true })
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    await statusOf({ ...GET, at: new URL('/metrics', url).href, headers })
    await statusOf({ ...GET, at: new URL('/nothing', url).href, headers })
    expect(refused.map(({ status, address }) => [status, address])).toEqual([
      [401, '203.0.113.7'],
      [404, '203.0.113.7'],
    ])
  })

  it('say during the shutdown that the server ends, also at an unknown path', async () => {
    const { url, refused, handler, statusOf } = await refusing()
    await handler.drain(0)
    expect(await statusOf({ ...GET, at: new URL('/', url).href })).toBe(503)
    expect(refused).toMatchObject([{ status: 503, kind: 'shutting_down', path: '/' }])
  })

  it('are reported for a target that is no path of this server', async () => {
    const { port, refused } = await refusing()
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET http://evil.example/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
    await until(() => refused.length === 1)
    expect(refused).toMatchObject([{ status: 403, httpMethod: 'GET', path: '/metrics' }])
  })
})

describe('the token for metrics', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'Bearer '])('may come with the scheme in any case: %s', async (scheme) => {
    const { url, statusOf } = await refusing()
    expect(await statusOf(scrape(url, `${scheme} ${TOKEN}`))).toBe(200)
  })

  it.each(['', 'Bearer', `Basic ${TOKEN}`, TOKEN, `Bearer${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.toUpperCase()}`])(
    'is refused as %j',
    async (credentials) => {
      const { url, statusOf } = await refusing()
      expect(await statusOf(scrape(url, credentials))).toBe(401)
    },
  )

  it('gets 429 in place of 401 if there were more wrong ones than failedLogins allows', async () => {
    const { url, refused, statusOf } = await refusing({ limits: { failedLogins: { perSecond: 0.001, burst: 3 } } })
    expect(await statusOf(scrape(url, `Bearer ${TOKEN}`))).toBe(200)
    const statuses: number[] = []
    for (let guess = 0; guess < 5; guess++) statuses.push(await statusOf(scrape(url, `Bearer guess-${guess}`)))
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect(refused.at(-1)).toMatchObject({ status: 429, kind: 'limit', limit: 'failedLogins', path: '/metrics' })
    // The scraper at the same address goes on, and the same wrong token again is no new guess.
    expect(await statusOf(scrape(url, `Bearer ${TOKEN}`))).toBe(200)
  })

  it('is accepted from an address with too many wrong ones, also by a process that never saw it', async () => {
    const { url, statusOf } = await refusing({ limits: { failedLogins: { perSecond: 0.001, burst: 3 } } })
    for (let guess = 0; guess < 5; guess++) await statusOf(scrape(url, `Bearer guess-${guess}`))
    for (const scheme of ['Bearer', 'bearer']) expect(await statusOf(scrape(url, `${scheme} ${TOKEN}`))).toBe(200)
    expect(await statusOf(scrape(url, `Bearer ${TOKEN}x`))).toBe(429)
  })

  it('is counted together at several replicas if it is wrong, and accepted by each if it is right', async () => {
    const { urls } = await serveReplicas(() => testServer(), {
      metrics: { token: TOKEN },
      limits: { failedLogins: { perSecond: 0.001, burst: 4 } },
    })
    const statusAt = async (replica: number, token: string): Promise<number> => {
      const { at, ...call } = scrape(urls[replica % urls.length] as string, `Bearer ${token}`)
      return (await http(at, call)).status
    }
    expect(await statusAt(0, TOKEN)).toBe(200)
    const statuses: number[] = []
    for (let guess = 0; guess < 7; guess++) statuses.push(await statusAt(guess, `guess-${guess}`))
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, 429])
    for (let replica = 0; replica < urls.length; replica++) expect(await statusAt(replica, TOKEN)).toBe(200)
  })
})
