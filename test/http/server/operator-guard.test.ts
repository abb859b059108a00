import { expect, it } from 'vitest'
import { OperatorGuard } from '../../../src/http/server/operations/operator-guard.ts'
import type { HttpOptions } from '../../../src/http/server/options.ts'
import type { HttpRequestView } from '../../../src/http/server/runtime/request-reply.ts'

function statusOf(
  host: string,
  localAddress: string | undefined,
  more: { options?: HttpOptions; url?: string; isLocal?: boolean } = {},
): number {
  const request: HttpRequestView = {
    method: 'GET',
    url: more.url ?? '/readyz',
    header: (name) => (name === 'host' ? host : undefined),
    count: (name) => (name === 'host' ? 1 : 0),
    headerCount: 1,
    isLocal: more.isLocal ?? false,
    localAddress,
    remoteAddress: '10.0.0.1',
    proxies: 0,
    body: () => {},
  }
  return new OperatorGuard(more.options ?? {}).check(request)?.status ?? 200
}

it('accepts the address of the machine in every spelling, and nothing that only looks like it', () => {
  expect(statusOf('10.1.2.3:3000', '10.1.2.3')).toBe(200)
  expect(statusOf('10.1.2.3', '::ffff:10.1.2.3')).toBe(200)
  expect(statusOf('[fd00::5]:3000', 'fd00::5')).toBe(200)
  expect(statusOf('[FD00:0:0:0:0:0:0:5]', 'fd00::5')).toBe(200)
  expect(statusOf('[fe80::1]', 'fe80::1%eth0')).toBe(200)
  for (const host of ['10.1.2.4', '10.1.2.3.evil.example', '10.1.2.3@evil.example', 'evil.example', '', '[fd00::6]', '[::::]', 'localhost'])
    expect(statusOf(host, '10.1.2.3')).toBe(403)
  expect(statusOf('10.1.2.3', undefined)).toBe(403)
  expect(statusOf('10.1.2.3', '10.1.2.3', { url: 'http://evil.example/readyz' })).toBe(403)
})

it('accepts local names on local connections, and the names of the endpoint', () => {
  expect(statusOf('localhost:3000', '127.0.0.1', { isLocal: true })).toBe(200)
  expect(statusOf('mcp.example.com', '10.1.2.3', { options: { allowedHosts: ['MCP.example.com'] } })).toBe(200)
  expect(statusOf('anything', '10.1.2.3', { options: { dangerouslyAllowAnyHost: true } })).toBe(200)
  expect(statusOf('anything', '10.1.2.3', { options: { authenticate: () => ({ principal: 'anna' }) } })).toBe(403)
})

it('accepts only a target that everybody reads as the same path', () => {
  const options = { dangerouslyAllowAnyHost: true }
  expect(statusOf('anything', '10.1.2.3', { options, url: '/metrics?x' })).toBe(200)
  for (const url of ['http://anything/metrics', '/metrics#/../mcp', 'metrics', '*'])
    expect(statusOf('anything', '10.1.2.3', { options, url })).toBe(403)
})
