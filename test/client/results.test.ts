import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { type Behaviour, cannedServer } from '../support/scripted-server.ts'

const output = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] }
const weather = (outputSchema: unknown = output) => ({ tools: [{ name: 'weather', inputSchema: { type: 'object' }, outputSchema }] })
const connect = async (results: NonNullable<Behaviour['results']>, options: ConnectOptions = {}) => {
  const server = cannedServer({ results })
  return { server, client: await Client.connect(server.target, options) }
}

describe('structured results', () => {
  test('structured results are checked against the output schema, which is fetched when unknown', async () => {
    proves('T-TOOL-036', 'T-TOOL-047')
    const { client, server } = await connect({
      'tools/list': weather(),
      'tools/call': ({ arguments: args }) => ({ content: [], structuredContent: args }),
    })
    expect((await client.call<{ celsius: number }>('weather', { celsius: 21 })).structuredContent?.celsius).toBe(21)
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1)
    await expect(client.call('weather', { celsius: 'warm' })).rejects.toMatchObject({
      code: 'ERR_ANSWER_INVALID',
      message: 'The result of tool "weather" does not match its output schema: celsius: expected number, got string ("warm")',
    })
    await client.call('weather', { celsius: 1 })
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(2)
  })

  test('structured results that are missing though promised are an error, unless the tool failed', async () => {
    let result: Record<string, unknown> = { content: [] }
    const { client } = await connect({ 'tools/list': weather(), 'tools/call': () => result })
    await client.tools().all()
    await expect(client.call('weather')).rejects.toThrow('it has no structured content, though the tool declares an output schema')
    result = { content: [], isError: true }
    expect((await client.call('weather')).isError).toBe(true)
  })

  test('structured results of a tool whose schema changed are checked by the new schema', async () => {
    let schema: unknown = output
    const { client } = await connect({
      'tools/list': () => weather(schema),
      'tools/call': { content: [], structuredContent: { fahrenheit: 70 } },
    })
    await client.tools().all()
    schema = { type: 'object', properties: { fahrenheit: { type: 'number' } }, required: ['fahrenheit'] }
    await expect(client.call('weather')).resolves.toBeDefined()
  })

  test('a hostile output schema is refused in limited time, and nothing is fetched', async () => {
    proves('R-TOOL-035')
    const ladder: Record<string, unknown> = { L0: { type: 'number' } }
    for (let i = 1; i <= 28; i++) ladder[`L${i}`] = { anyOf: [{ $ref: `#/$defs/L${i - 1}` }, { $ref: `#/$defs/L${i - 1}` }] }
    const hostile = [
      { type: 'object', $ref: 'https://example.com/schema.json' },
      { type: 'object', properties: { celsius: { $ref: '#/$defs/L28' } }, $defs: ladder },
      { type: 'object', $ref: '#' },
      { type: 'object', properties: { celsius: { type: 'string', pattern: '^(a+)+$' } } },
    ]
    for (const schema of hostile) {
      const { client } = await connect({
        'tools/list': weather(schema),
        'tools/call': { content: [], structuredContent: { celsius: `${'a'.repeat(40)}!` } },
      })
      // The time this process works, not the time on the wall: a busy machine is not the fault of the schema.
      const start = process.cpuUsage()
      await expect(client.call('weather')).rejects.toMatchObject({ name: 'McpError' })
      const { user, system } = process.cpuUsage(start)
      expect((user + system) / 1000).toBeLessThan(2000)
    }
  })

  test('structured results with an unsupported schema dialect are not checked, with one warning', async () => {
    const warnings: string[] = []
    const schema = { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', required: ['celsius'] }
    const server = cannedServer({ results: { 'tools/list': weather(schema), 'tools/call': { content: [], structuredContent: { f: 1 } } } })
    const client = await Client.connect(server.target, { onWarning: (message) => warnings.push(message) })
    for (let i = 0; i < 3; i++) expect((await client.call('weather')).structuredContent).toEqual({ f: 1 })
    expect(warnings).toEqual([
      'The results of tool "weather" are not checked: the dialect "http://json-schema.org/draft-04/schema#" of its output schema is not supported',
    ])
  })

  test('structured results without an output schema are passed on unchanged', async () => {
    const { client } = await connect({
      'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [], structuredContent: { any: 'thing' } },
    })
    expect((await client.call('x')).structuredContent).toEqual({ any: 'thing' })
  })
})

describe('completion', () => {
  const ref = { type: 'ref/prompt' as const, name: 'p' }
  const complete = (client: Client, value: string) => client.complete({ ref, argument: { name: 'a', value } })

  test('completion waits for a pause in typing, and sends only the newest text', async () => {
    proves('T-COMP-023')
    const clock = fakeClock()
    const { client, server } = await connect(
      { 'completion/complete': ({ argument }) => ({ completion: { values: [`${argument.value}!`] } }) },
      { clock },
    )
    const outcomes = ['a', 'ab', 'abc'].map((value) =>
      complete(client, value).then(
        ({ values }) => values[0],
        (error: Error) => error.name,
      ),
    )
    await clock.advance(99)
    expect(server.received.filter(({ method }) => method === 'completion/complete')).toHaveLength(1)
    await clock.advance(1)
    expect(await Promise.all(outcomes)).toEqual(['a!', 'AbortError', 'abc!'])
    expect(server.received.filter(({ method }) => method === 'completion/complete')).toHaveLength(2)
  })

  test('completion is remembered for a short time', async () => {
    proves('T-COMP-024')
    const clock = fakeClock()
    const { client, server } = await connect({ 'completion/complete': { completion: { values: ['x'] } } }, { clock })
    for (let i = 0; i < 3; i++) await complete(client, 'a')
    expect(server.received.filter(({ method }) => method === 'completion/complete')).toHaveLength(1)
    await clock.advance(10_001)
    await complete(client, 'a')
    expect(server.received.filter(({ method }) => method === 'completion/complete')).toHaveLength(2)
  })

  test('completion returns the valid part of missing or partial results', async () => {
    proves('T-COMP-025')
    for (const [result, expected] of [
      [{}, { values: [] }],
      [{ completion: {} }, { values: [] }],
      [{ completion: { values: ['a', 5, 'b'], total: 'many' } }, { values: ['a', 'b'] }],
      [
        { completion: { values: Array(150).fill('x'), hasMore: true, total: 150 } },
        { values: Array(100).fill('x'), hasMore: true, total: 150 },
      ],
    ] as const) {
      const { client } = await connect({ 'completion/complete': result as never })
      expect(await complete(client, 'a')).toEqual(expected)
    }
  })
})

describe('the heartbeat', () => {
  const beating = async (respond: () => object | undefined) => {
    const clock = fakeClock()
    const warnings: string[] = []
    let closed: Error | undefined
    const { client, server } = await connect(
      { ping: respond as never, 'tools/call': { content: [] } },
      {
        clock,
        pingIntervalMs: 10_000,
        onWarning: (message) => warnings.push(message),
        onClose: (error) => {
          closed = error
        },
      },
    )
    const pings = () => server.received.filter(({ method }) => method === 'ping').length
    return { clock, client, server, warnings, pings, closed: () => closed }
  }

  test('the heartbeat pings a quiet session at the interval asked for, and not one that talks', async () => {
    proves('T-PING-001', 'T-PING-007', 'T-PING-008', 'T-PING-010')
    const { clock, client, pings } = await beating(() => ({}))
    await clock.advance(30_000)
    expect(pings()).toBe(3)
    for (let i = 0; i < 5; i++) {
      await clock.advance(4000)
      await client.call('x')
    }
    expect(pings()).toBe(3)
    await client.close()
    await clock.advance(60_000)
    expect(pings()).toBe(3)
  })

  test('the heartbeat ends a connection whose pings are not answered, and reports it', async () => {
    proves('T-PING-004', 'T-PING-005', 'T-PING-009', 'T-PING-011', 'T-PING-012', 'T-PING-013')
    const { clock, client, warnings, closed, server } = await beating(() => undefined)
    await clock.advance(20_000)
    expect(warnings).toHaveLength(1)
    await clock.advance(20_000)
    expect(warnings[1]).toContain('Ping failed (2 of 2)')
    expect(closed()).toMatchObject({ code: 'ERR_CLOSED', message: 'The server does not answer pings' })
    expect(client.isClosed).toBe(true)
    expect(server.isClosed).toBe(true)
  })

  test('the heartbeat may lead to a new connection, where the target allows it', async () => {
    proves('T-PING-006')
    const clock = fakeClock()
    let isDead = true
    const server = cannedServer({ results: { ping: (() => (isDead ? undefined : {})) as never } }, { restarts: true })
    const client = await Client.connect(server.target, { clock, pingIntervalMs: 1000 })
    await clock.advance(4000)
    isDead = false
    await clock.advance(4000)
    expect(server.opened).toBe(2)
    expect(client.isClosed).toBe(false)
    await client.close()
  })

  test('the heartbeat is silent in a revision without ping, and can be turned off', async () => {
    const clock = fakeClock()
    for (const [revision, pingIntervalMs] of [
      ['2026-07-28', 1000],
      ['2025-11-25', 0],
    ] as const) {
      const server = cannedServer({ revision })
      await Client.connect(server.target, { clock, pingIntervalMs })
      await clock.advance(100_000)
      expect(server.received.filter(({ method }) => method === 'ping')).toEqual([])
    }
  })
})

describe('watching', () => {
  test('several watchers of one resource share one subscription, and the last one out ends it', async () => {
    const { client, server } = await connect({ 'resources/subscribe': {}, 'resources/unsubscribe': {} })
    const count = (method: string) => server.received.filter((message) => message.method === method).length
    const [one, two] = [client.watch('a:1'), client.watch('a:1')]
    const both = Promise.all([one.next(), two.next()])
    await new Promise((resolve) => setTimeout(resolve, 5))
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } })
    expect((await both).map(({ value }) => value)).toEqual([{ uri: 'a:1' }, { uri: 'a:1' }])
    await one.return(undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([count('resources/subscribe'), count('resources/unsubscribe')]).toEqual([1, 0])
    await two.return(undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(count('resources/unsubscribe')).toBe(1)
    await client.close()
  })

  test('a refused subscription is thrown to the watcher, and closing the client ends the loop', async () => {
    const { client } = await connect({
      'resources/subscribe': ({ uri }) => {
        if (uri === 'a:none') throw Object.assign(new Error('Resource not found'), { code: -32002 })
        return {}
      },
    })
    await expect(client.watch('a:none').next()).rejects.toMatchObject({ code: -32002 })
    const watching = client.watch('a:1').next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await client.close()
    expect(await watching).toEqual({ done: true, value: undefined })
  })

  test('changes during a pause of the watcher are delivered once, and watches are bounded', async () => {
    const { client, server } = await connect({ 'resources/subscribe': {} }, {})
    const watching = client.watch('a:1')
    const first = watching.next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (let i = 0; i < 1000; i++) server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } })
    await first
    const second = watching.next()
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } })
    expect(await second).toEqual({ done: false, value: { uri: 'a:1' } })
    for (let i = 2; i <= 1024; i++)
      client
        .watch(`a:${i}`)
        .next()
        .catch(() => {})
    await expect(client.watch('a:1025').next()).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: 'The limit of 1024 watched resources, lists and tasks is reached',
    })
    await client.close()
  })

  test('a stateless stream that the server ends is opened again', async () => {
    proves('R-STDIO-004', 'R-LISTEN-008', 'R-LISTEN-010', 'R-LISTEN-012')
    const clock = fakeClock()
    const ids: unknown[] = []
    const server = cannedServer({
      revision: '2026-07-28',
      results: {
        'subscriptions/listen': ({ notifications }, { id }) => {
          ids.push(id)
          server.send({
            jsonrpc: '2.0',
            method: 'notifications/subscriptions/acknowledged',
            params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: ids.length === 1 ? {} : notifications },
          })
          return undefined
        },
      },
    })
    const warnings: string[] = []
    const client = await Client.connect(server.target, { clock, onWarning: (message) => warnings.push(message) })
    let changes = 0
    const stop = await client.onChange('tools', () => changes++)
    expect(warnings).toEqual(['The server does not send notices for toolsListChanged'])
    server.send({
      jsonrpc: '2.0',
      id: ids[0],
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': ids[0] } },
    })
    await clock.advance(1000)
    expect(ids).toHaveLength(2)
    await clock.advance(0)
    // Something may have changed while nobody listened.
    expect(changes).toBe(1)
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'another' } },
    })
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': ids[1] } },
    })
    await clock.advance(0)
    expect(changes).toBe(2)
    stop()
    await clock.advance(0)
    expect(server.received.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: ids[1] } })
    await client.close()
  })
})

describe('pages that must be visited first, in 2025-11-25', () => {
  const required = {
    code: -32042,
    message: 'Visit first',
    data: { elicitations: [{ mode: 'url', message: 'Connect', url: 'https://example.com', elicitationId: 'e1' }] },
  }
  const visiting = async (action: 'accept' | 'decline' | 'cancel', options: ConnectOptions = {}) => {
    let calls = 0
    const { client, server } = await connect(
      {
        'tools/call': () => {
          if (++calls === 1) throw Object.assign(new Error(required.message), required)
          return { content: [] }
        },
      },
      { answer: { elicitUrl: () => ({ action }) }, ...options },
    )
    return { client, server, calls: () => calls }
  }

  test('a required page is shown, and the call is repeated when the server reports its completion', async () => {
    proves('T-ELIC-045', 'T-ELIC-046')
    const { client, server, calls } = await visiting('accept')
    const call = client.call('x')
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (const elicitationId of ['unknown', 5, undefined])
      server.send({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(calls()).toBe(1)
    for (let i = 0; i < 2; i++)
      server.send({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } })
    await expect(call).resolves.toEqual({ content: [] })
    expect(calls()).toBe(2)
  })

  test('a required page can be reported as done or cancelled by the person', async () => {
    proves('T-ELIC-047')
    const { client } = await visiting('accept')
    const call = client.call('x')
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(client.completeElicitation('e1')).toBe(true)
    await expect(call).resolves.toEqual({ content: [] })
    expect(client.completeElicitation('e1')).toBe(false)
    const controller = new AbortController()
    const other = (await visiting('accept')).client.call('x', {}, { signal: controller.signal })
    await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort(new Error('enough'))
    await expect(other).rejects.toThrow('enough')
  })

  test('a declined or dismissed page ends the call, and without a handler the error is passed on', async () => {
    await expect((await visiting('decline')).client.call('x')).rejects.toMatchObject({ name: 'Declined' })
    await expect((await visiting('cancel')).client.call('x')).rejects.toMatchObject({ name: 'Cancelled' })
    await expect((await visiting('accept', { answer: {} })).client.call('x')).rejects.toMatchObject({ code: -32042 })
  })
})
