/** A JSON value may have members with the names of methods, such as `toString`. Nothing may call them, wherever a client puts the value. */

import { expect, test, vi } from 'vitest'
import type { RequestRecord } from '../../../src/observability/index.ts'
import { http } from '../../support/http-requests.ts'
import { askModern, callTool, MODERN, openSession, serve, testServer } from '../../support/http-service.ts'
import { envelope, type Message } from '../../support/raw-channel.ts'

const HOSTILE = { toString: 1, valueOf: 1, toJSON: 1, then: 1, constructor: 1 }

const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const
const TRACED = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'a=b', progressToken: 1 }

const REQUESTS: [string, Message][] = [
  ['tools/call', { name: 'where', arguments: { region: 'eu' } }],
  ['tools/call', { name: 'unknown', arguments: {} }],
  ['tools/list', { cursor: 'x' }],
  ['prompts/get', { name: 'p', arguments: { a: 'b' } }],
  ['resources/read', { uri: 'file:///r' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' }, context: { arguments: { c: 'd' } } },
  ],
  ['logging/setLevel', { level: 'info' }],
  ['resources/subscribe', { uri: 'file:///r' }],
  ['unknown/method', { a: 'b' }],
]

/** Every version of a value with one of its members replaced by a hostile value. */
function* hostileVersions(value: unknown): Generator<unknown> {
  yield HOSTILE
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) for (const each of hostileVersions(member)) yield { ...value, [name]: each }
}

async function serveAll() {
  const records: RequestRecord[] = []
  const errors = vi.fn()
  const server = testServer({ onError: errors })
  server.tool('where', { input: REGION }, () => 'ok')
  server.prompt('p', {}, () => 'prompt')
  server.resource('file:///r', { name: 'r' }, () => 'text')
  const { url } = await serve(server, { metrics: true, onRequest: (record) => records.push(record) })
  return { url, records, errors }
}

test.each(REQUESTS)('hostile values in a stateless %s are answered, recorded, and end nothing', async (method, params) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url, records, errors } = await serveAll()
  const whole = { ...params, _meta: { ...envelope(), ...TRACED } }
  let sent = 0
  for (const version of hostileVersions(whole)) {
    const named = { ...(typeof params.name === 'string' && { 'mcp-name': params.name }), ...(params.uri && { 'mcp-name': params.uri }) }
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-param-region': 'eu', ...named }
    const { status } = await http(url, { headers, body: { jsonrpc: '2.0', id: ++sent, method, params: version } })
    expect([200, 400, 404]).toContain(status)
  }
  expect(sent).toBeGreaterThan(5)
  expect((await askModern(url, callTool('hi'))).status).toBe(200)
  expect(records.length).toBeGreaterThan(0)
  expect([log.mock.calls, errors.mock.calls]).toEqual([[], []])
  log.mockRestore()
})

test.each(REQUESTS)('hostile values in %s of a session are answered, recorded, and end nothing', async (method, params) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url, errors } = await serveAll()
  const session = await openSession(url, '2025-11-25')
  let sent = 0
  for (const version of hostileVersions({ ...params, _meta: TRACED })) {
    const { status } = await session.post({ jsonrpc: '2.0', id: ++sent, method, params: version })
    expect([200, 400]).toContain(status)
  }
  expect((await session.ask({ ...callTool('hi'), id: 9999 })).status).toBe(200)
  expect([log.mock.calls, errors.mock.calls]).toEqual([[], []])
  log.mockRestore()
})

test('hostile values in initialize are answered, and end nothing', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url, errors } = await serveAll()
  const whole = {
    protocolVersion: '2025-11-25',
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} }, experimental: { a: {} } },
    clientInfo: { name: 'c', version: '1', title: 't' },
    _meta: TRACED,
  }
  let sent = 0
  for (const version of hostileVersions(whole)) {
    const { status } = await http(url, { body: { jsonrpc: '2.0', id: ++sent, method: 'initialize', params: version } })
    expect([200, 400]).toContain(status)
  }
  expect((await askModern(url, callTool('hi'))).status).toBe(200)
  expect([log.mock.calls, errors.mock.calls]).toEqual([[], []])
  log.mockRestore()
})
