import { describe, expect, it, vi } from 'vitest'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { observed } from '../../src/observability/observed-service.ts'
import type { RequestRecord } from '../../src/observability/request-record.ts'
import type { Channel } from '../../src/protocol/interfaces/service.ts'
import { createServer, form, keyRing, type Server, ToolError } from '../../src/server/index.ts'
import { envelope } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'

function testServer(): Server {
  const server = createServer({ name: 'test', version: '1', onError: () => {} })
  server.tool('hi', {}, () => 'hi')
  server.tool('quote', {}, () => '{"isError":true,"resultType":"input_required"}')
  server.tool('nested', {}, () => ({ isError: true }))
  server.tool('fail', {}, () => {
    throw new Error('broken')
  })
  server.tool('refuse', {}, () => {
    throw new ToolError('not today')
  })
  server.tool('strict', { input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }, () => 'strict')
  server.tool('ask', {}, async (_args, ctx) => {
    await ctx.ask({ name: form('Your name?', { type: 'object', properties: {} }) })
    return 'asked'
  })
  server.tool(
    'wait',
    {},
    (_args, ctx) => new Promise<string>((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  )
  return server
}

interface Line {
  records: RequestRecord[]
  sent: string[]
  channel: Channel
  say(message: unknown): void
}

/** A session of a client in this process. */
function line(revision: string): Line {
  const records: RequestRecord[] = []
  const sent: string[] = []
  const outlet: Outlet = { push: (json) => void sent.push(json), answer: (json) => void sent.push(json), drop: () => {} }
  const channel = observed(testServer(), (record) => records.push(record)).open({ outlet })
  const say = (message: unknown): void => channel.receive(read(JSON.stringify(message), DEFAULT_READ_BOUNDS), outlet)
  if (revision !== '') {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '2' } }
    say({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
  return { records, sent, channel, say }
}

const call = (id: number, name: string, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { ...envelope(), ...meta } },
})

describe('records of requests', () => {
  it.each([
    [undefined, { outcome: 'cancelled', code: undefined, reason: undefined }],
    ['shutdown', { outcome: 'error', code: -32603, reason: 'shutdown' }],
  ] as const)('tells who ended the requests of a channel that closes: %s', (cause, ending) => {
    const { records, channel, say } = line('2025-03-26')
    say(call(1, 'wait'))
    say([call(2, 'wait'), call(3, 'wait'), { jsonrpc: '2.0', id: 4, method: 'ping' }])
    channel.close('over', cause)
    const calls = records.filter(({ method }) => method === 'tools/call')
    expect(calls).toMatchObject([1, 2, 3].map((id) => ({ id, ...ending })))
  })

  it('cuts the id of a request', async () => {
    const { records, say } = line('')
    say({ ...call(1, 'hi'), id: 'x'.repeat(100_000) })
    await until(() => records.length === 1)
    expect(records[0]?.id).toBe('x'.repeat(200))
  })

  it('tells results, tools that crash, tools that refuse, questions and errors apart', async () => {
    const { records, say } = line('')
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
    const tools = ['hi', 'quote', 'nested', 'fail', 'refuse', 'strict', 'ask', 'unknown']
    for (const [id, tool] of tools.entries()) say(call(id, tool, capabilities))
    await until(() => records.length === tools.length)
    const outcomes = records.sort((a, b) => Number(a.id) - Number(b.id)).map(({ target, outcome }) => [target, outcome])
    expect(outcomes).toEqual([
      ['hi', 'ok'],
      ['quote', 'ok'],
      ['nested', 'ok'],
      ['fail', 'tool_crash'],
      ['refuse', 'tool_error'],
      ['strict', 'tool_error'],
      ['ask', 'input_required'],
      ['unknown', 'error'],
    ])
  })

  it('names the client, the revision and the trace', async () => {
    const { records, say } = line('2025-06-18')
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    say(call(1, 'hi', trace))
    say(call(2, 'hi', { traceparent: 'nonsense' }))
    expect(records[1]).toMatchObject({ client: 'raw/2', revision: '2025-06-18', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' })
    expect(records[2]?.traceId).toBeUndefined()
  })

  it('records a cancelled request', async () => {
    const { records, say } = line('2025-06-18')
    say(call(1, 'wait'))
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await until(() => records.length === 2)
    expect(records[1]).toMatchObject({ target: 'wait', outcome: 'cancelled', responseBytes: 0 })
  })

  it('records each request of a batch', async () => {
    const { records, say } = line('2025-03-26')
    say([call(1, 'hi'), call(2, 'unknown'), call(3, 'fail')])
    await until(() => records.length === 4)
    expect(records.slice(1).map(({ id, outcome }) => [id, outcome])).toEqual([
      [1, 'ok'],
      [2, 'error'],
      [3, 'tool_crash'],
    ])
    const refused = line('2025-06-18')
    refused.say([call(1, 'hi'), call(2, 'hi')])
    expect(refused.records.slice(1).map(({ outcome, code }) => [outcome, code])).toEqual([
      ['error', -32600],
      ['error', -32600],
    ])
  })

  it('cuts names that a client chose', () => {
    const { records, say } = line('2025-06-18')
    say(call(1, 'x'.repeat(10_000)))
    say({ jsonrpc: '2.0', id: 2, method: 'y'.repeat(10_000) })
    expect(records[1]?.target).toHaveLength(200)
    expect(records[2]?.method).toHaveLength(200)
  })

  it('counts bytes, not characters', () => {
    const { records, sent, say } = line('2025-06-18')
    say({ jsonrpc: '2.0', id: 'ä€', method: 'ping' })
    expect(records[1]?.responseBytes).toBe(Buffer.byteLength(sent.at(-1) as string))
  })
})

it('lets a transport replace keys and limits of the server', () => {
  const server = testServer()
  const [useKeys, useLimits] = [vi.fn(), vi.fn()]
  const service = observed(Object.assign(server, { useKeys, useLimits }), () => {})
  const keys = keyRing('only-for-this-test-0123456789abcdef')
  service.useKeys?.(keys)
  service.useLimits?.({ maxActive: 1 })
  expect([useKeys.mock.calls, useLimits.mock.calls]).toEqual([[[keys]], [[{ maxActive: 1 }]]])
})
