import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Client, type LogMessage, type Progress } from '../../src/client/index.ts'
import { createServer, link, ToolError, text } from '../../src/server/index.ts'
import { connectPair, REVISIONS, SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { rawChannel, settle } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

test.each(SESSION_REVISIONS)('a session of %s runs from the handshake over requests both ways to its end', async (revision) => {
  proves('T-ARCH-037')
  const server = createServer({ name: 'flow', version: '1.0.0' })
  const handle = server.resource('a:1', { name: 'a' }, () => 'x')
  server.tool('summarise', {}, async (_args, ctx) => {
    const { content } = await ctx.sample('summary', { messages: [{ role: 'user', content: text('Sum up') }], maxTokens: 10 })
    return JSON.stringify(content)
  })
  const events: string[] = []
  const { client } = await connectPair(server, {
    revision,
    onWire: ({ from, json }) => {
      const { method, id } = JSON.parse(json) as { method?: string; id?: unknown }
      events.push(`${from} ${method ?? 'answers'}${method !== undefined && id === undefined ? ' (told)' : ''}`)
    },
    answer: {
      sample: () => {
        events.push('model')
        return { role: 'assistant', content: { type: 'text', text: 'Short' }, model: 'm' }
      },
    },
    onClose: () => events.push('closed'),
  })
  events.push('connected')
  await client.call('summarise')
  await client.onChange('resources', () => events.push('application hears'))
  handle.update({ name: 'b' })
  await settle()
  await client.close()
  await expect(client.call('summarise')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  expect(events).toEqual([
    'client initialize',
    'server answers',
    'client notifications/initialized (told)',
    'connected',
    'client tools/call',
    'server sampling/createMessage',
    'model',
    'client answers',
    'server answers',
    'server notifications/resources/list_changed (told)',
    'application hears',
    'closed',
  ])
})

test.each(REVISIONS)('a request carries its own parameters and nothing of earlier requests, in %s', async (revision) => {
  proves('T-ARCH-016')
  const server = createServer({ name: 'narrow', version: '1.0.0' })
  server.tool('note', { input: z.object({ what: z.string() }) }, ({ what }) => what)
  server.prompt('p', { input: z.object({ topic: z.string() }) }, ({ topic }) => topic)
  server.resource('a:1', { name: 'a' }, () => 'x')
  const { client, sent } = await connectPair(server, { revision })
  await client.call('note', { what: 'first secret' })
  await client.prompt('p', { topic: 'second secret' })
  await client.read('a:1')
  await client.call('note', { what: 'last' })
  const asked = sent('client')
    .filter(({ method }) => ['tools/call', 'prompts/get', 'resources/read'].includes(method))
    .map(({ params: { _meta, ...params } }) => params)
  expect(asked).toEqual([
    { name: 'note', arguments: { what: 'first secret' } },
    { name: 'p', arguments: { topic: 'second secret' } },
    { uri: 'a:1' },
    { name: 'note', arguments: { what: 'last' } },
  ])
  const metadata = sent('client').flatMap(({ params }) => Object.keys(params?._meta ?? {}))
  const envelope = ['protocolVersion', 'clientInfo', 'clientCapabilities'].map((name) => `io.modelcontextprotocol/${name}`)
  expect(metadata.filter((key) => revision !== '2026-07-28' || !envelope.includes(key))).toEqual([])
})

test.each(REVISIONS)('progress, cancellation, errors and logging work end to end in %s', async (revision) => {
  proves('T-ARCH-036')
  const server = createServer({ name: 'utilities', version: '1.0.0' })
  server.tool('work', { input: z.object({ then: z.enum(['end', 'fail', 'wait']) }) }, async ({ then }, ctx) => {
    ctx.log.debug('fine detail')
    ctx.log.warning('half way')
    await ctx.progress(1, 2, 'half')
    if (then === 'fail') throw new ToolError('The disk is full')
    if (then === 'wait')
      await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)))
    return 'done'
  })
  const logged: LogMessage[] = []
  const { client, sent } = await connectPair(server, { revision, onLog: (message) => logged.push(message) })
  await client.setLogLevel('warning')
  const steps: Progress[] = []
  await client.call('work', { then: 'end' }, { onProgress: (progress) => steps.push(progress) })
  expect(steps).toMatchObject([{ progress: 1, total: 2 }])
  expect(logged.map(({ data }) => data)).toEqual(['half way'])
  expect(await client.call('work', { then: 'fail' })).toMatchObject({ isError: true, content: [{ text: 'The disk is full' }] })
  await expect(client.call('nothing')).rejects.toMatchObject({ code: -32602 })
  const stop = new AbortController()
  const waiting = client.call('work', { then: 'wait' }, { signal: stop.signal })
  await settle()
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await settle()
  const [cancelled] = sent('client', 'notifications/cancelled')
  expect(cancelled?.params.requestId).toBe(sent('client', 'tools/call').at(-1)?.id)
})

describe('peers of different age', () => {
  const rich = () => {
    const server = createServer({ name: 'rich', version: '1.0.0', title: 'Rich', icons: [{ src: 'https://example.com/i.png' }] })
    server.tool(
      'sum',
      {
        title: 'Sum',
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.com/i.png' }],
      },
      ({ a, b }) => ({ sum: a + b }),
    )
    server.tool('see', {}, () => link({ uri: 'a:1', name: 'a', title: 'The thing' }))
    server.resource('a:1', { name: 'a', title: 'The thing', size: 1 }, () => 'x')
    server.prompt('p', { title: 'Prompt' }, () => 'x')
    return server
  }

  test.each(REVISIONS)('a client that knows only %s uses the features that it shares with a newer server', async (revision) => {
    proves('T-ARCH-021')
    const { client } = await connectPair(rich(), { revision })
    expect(client.revision).toBe(revision)
    expect((await client.call('sum', { a: 1, b: 2 })).content).toEqual([{ type: 'text', text: '{"sum":3}' }])
    expect(JSON.stringify((await client.call('see')).content)).toContain('a:1')
    expect((await client.read('a:1')).contents[0]).toMatchObject({ text: 'x' })
    expect((await client.prompt('p')).messages).toHaveLength(1)
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['sum', 'see'])
  })

  test.each(REVISIONS)('a client that knows everything speaks %s with a server that knows nothing else', async (revision) => {
    proves('T-ARCH-021')
    const server = cannedServer({
      revision,
      results: { 'tools/call': { content: [{ type: 'text', text: 'still here' }] } },
    })
    const client = await Client.connect(server.target)
    expect(client.revision).toBe(revision)
    expect((await client.call('anything')).content).toEqual([{ type: 'text', text: 'still here' }])
    await client.close()
  })

  test.each(REVISIONS)('an unknown capability of a server is kept and breaks nothing, in %s', async (revision) => {
    proves('T-ARCH-022')
    const capabilities = { tools: {}, telepathy: { range: 3 }, experimental: { mine: { x: 1 } } }
    const server = cannedServer({ revision, capabilities, results: { 'tools/call': { content: [] } } })
    const client = await Client.connect(server.target)
    expect(client.server.capabilities).toEqual(capabilities)
    expect((await client.call('t')).content).toEqual([])
    await client.close()
  })
})

describe.each(SESSION_REVISIONS)('a resource of a session of %s', (revision) => {
  test('a resource is not watched when the server did not declare subscriptions', async () => {
    proves('T-LIFE-025')
    const server = cannedServer({ revision, capabilities: { resources: { listChanged: true } } })
    const client = await Client.connect(server.target)
    await expect(client.watch('a:1').next()).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    expect(server.received.some(({ method }) => method === 'resources/subscribe')).toBe(false)
    await client.close()
  })

  test('an update notification may name a resource by its title', async () => {
    proves('T-RES-028')
    const server = cannedServer({ revision, results: { 'resources/subscribe': {} } })
    const client = await Client.connect(server.target)
    const next = client.watch('a:1').next()
    await settle()
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1', title: 'The thing' } })
    expect(await next).toEqual({ done: false, value: { uri: 'a:1' } })
    await client.close()
  })
})

test.each(REVISIONS)('the hints of a tool do not change how it is called, in %s', async (revision) => {
  proves('T-TOOL-024')
  const talk = async (annotations: object) => {
    let runs = 0
    const { client, sent } = await connectPair(
      (() => {
        const server = createServer({ name: 'claims', version: '1.0.0', onError: () => {} })
        server.tool('act', { annotations, input: z.object({ n: z.number() }) }, ({ n }) => {
          runs++
          if (n === 2) throw new Error('broken')
          return String(n)
        })
        return server
      })(),
      { revision },
    )
    await client.tools().all()
    // Neither a repeated call nor a failed one is answered from memory or tried again.
    for (const n of [1, 1, 2]) await client.call('act', { n })
    return { runs, messages: sent('client').map(({ method, params: { _meta, ...params } = {} }) => ({ method, params })) }
  }
  const harmless = await talk({ readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false })
  expect(harmless.runs).toBe(3)
  expect(harmless).toEqual(await talk({ readOnlyHint: false, idempotentHint: false, destructiveHint: true, openWorldHint: true }))
})

test('task capabilities in 2025-11-25 reach the other side unchanged', async () => {
  proves('R-LIFE-004', 'R-LIFE-005')
  const ofClient = { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } }
  const ofServer = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
  const server = createServer({ name: 'x', version: '1' })
  server.tool('caps', {}, (_args, ctx) => JSON.stringify(ctx.caller.capabilities))
  const raw = rawChannel(server)
  const { result } = await raw.initialize('2025-11-25', { tasks: ofClient })
  // Tasks are not served, so that nothing is declared.
  expect(result.capabilities).not.toHaveProperty('tasks')
  const { content } = (await raw.ask('tools/call', { name: 'caps' })).result
  expect(JSON.parse(content[0].text)).toEqual({ tasks: ofClient })
  const client = await Client.connect(cannedServer({ capabilities: { tools: {}, tasks: ofServer } }).target)
  expect(client.server.capabilities).toEqual({ tools: {}, tasks: ofServer })
  await client.close()
})
