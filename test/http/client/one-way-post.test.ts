import { expect, test, vi } from 'vitest'
import type { HttpRequest } from '../../../src/http/client/http-request.ts'
import { OneWayPost } from '../../../src/http/client/one-way-post.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS } from '../../../src/http/client/options.ts'

test('the server has 30 seconds to accept a notification', () => {
  const send = vi.fn((_request: HttpRequest) => ({ abort: () => {} }))
  const url = new URL('http://localhost/mcp')
  const connection = { server: 'the server', url, limits: DEFAULT_HTTP_CLIENT_LIMITS, send }
  new OneWayPost(connection, { method: 'POST', url, headers: [] }, { method: 'ping', hasSession: false, onFail: () => {} })
  expect(send.mock.calls[0]?.[0]).toMatchObject({ timeoutMs: 30_000, lane: 'notice' })
})
