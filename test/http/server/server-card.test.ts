/** The card that tells clients what a server is before they connect. */

import { afterEach, expect, test } from 'vitest'
import { apiKeys } from '../../../src/auth/index.ts'
import { httpHandler, listen, type ServerCardOptions, serverCard } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'

const server = createServer({ name: 'weather', version: '2.1.0' })
const about: ServerCardOptions = { name: 'com.example/weather', url: 'https://mcp.example.com/mcp', description: 'Weather forecasts' }

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

test('the card and the catalog are served to everybody, also by a protected server', async () => {
  const card = serverCard(server, { ...about, title: 'Weather', headers: [{ name: 'Authorization', isRequired: true, isSecret: true }] })
  const listening = await listen(server, { card, auth: apiKeys({ keys: { ci: 'a-key-that-is-long-enough' } }), port: 0 })
  open.push(listening.close)
  const { origin } = new URL(listening.url)
  const response = await fetch(`${origin}/mcp/server-card`)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/mcp-server-card+json',
    'access-control-allow-origin': '*',
    'cache-control': 'public, max-age=3600',
  })
  expect(await response.json()).toEqual({
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'com.example/weather',
    version: '2.1.0',
    description: 'Weather forecasts',
    title: 'Weather',
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://mcp.example.com/mcp',
        headers: [{ name: 'Authorization', isRequired: true, isSecret: true }],
        supportedProtocolVersions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
      },
    ],
  })
  const catalog = await fetch(`${origin}/.well-known/ai-catalog.json`)
  expect(catalog.headers.get('content-type')).toBe('application/ai-catalog+json')
  expect(await catalog.json()).toEqual({
    specVersion: '1.0',
    entries: [
      {
        identifier: 'urn:air:example.com:mcp:weather',
        type: 'application/mcp-server-card+json',
        url: 'https://mcp.example.com/mcp/server-card',
      },
    ],
  })
  expect((await fetch(listening.url, { method: 'POST' })).status).toBe(401)
})

test('an unchanged card is not sent twice; only reading is allowed', async () => {
  const handler = httpHandler(server, { card: serverCard(server, { ...about, catalog: false }), allowedHosts: ['mcp.example.com'] })
  const ask = (path: string, init: RequestInit = {}) =>
    handler.fetch(new Request(`https://mcp.example.com${path}`, { ...init, headers: { host: 'mcp.example.com', ...init.headers } }))
  const first = await ask('/mcp/server-card')
  const again = await ask('/mcp/server-card', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  expect((await ask('/mcp/server-card', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  const head = await ask('/mcp/server-card', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await ask('/mcp/server-card', { method: 'POST' })).status).toBe(405)
  expect((await ask('/mcp/server-card', { method: 'OPTIONS' })).headers.get('access-control-allow-methods')).toBe('GET')
  expect((await ask('/.well-known/ai-catalog.json')).status).not.toBe(200)
  expect((await ask('/mcp/server-card', { headers: { host: 'evil.example' } })).status).toBe(403)
})

test.each<[string, Partial<ServerCardOptions>, string]>([
  ['a name without a domain', { name: 'weather' }, 'such as com.example/weather; got "weather"'],
  ['a URL that is none', { url: 'mcp.example.com' }, 'expected the URL of the endpoint, got "mcp.example.com"'],
  ['a URL with a query', { url: `${about.url}?tenant=1` }, 'must have no name, password, query or fragment'],
  ['a URL with a fragment', { url: `${about.url}#a` }, 'must have no name, password, query or fragment'],
  ['a URL with a password', { url: 'https://user:pw@mcp.example.com/mcp' }, 'must have no name, password, query or fragment'],
  ['a long description', { description: 'x'.repeat(101) }, 'the description must have 1 to 100 characters; got 101'],
])('%s is an error', (_what, options, message) => {
  expect(() => serverCard(server, { ...about, ...options })).toThrow(message)
})
