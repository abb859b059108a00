/** Traces and metrics, with the SDK of OpenTelemetry and exporters in memory. */

import { context, createTraceState, metrics, propagation, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { serverExtension } from '../../src/extensions/index.ts'
import { createHost } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { connect } from '../../src/index.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import { clientTelemetry, hostTelemetry, serverTelemetry, sessionTelemetry } from '../../src/opentelemetry/index.ts'
import {
  createServer,
  Declined,
  form,
  McpError,
  type Question,
  rootList,
  type Server,
  sampling,
  ToolError,
} from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { askModern, callTool, type HttpSession, openSession, serve } from '../support/http-service.ts'
import type { Message } from '../support/raw-channel.ts'
import { storesInMemory } from '../support/replicas.ts'
import { tracedHost } from './traced-host.ts'

const folders = temporaryFolders()
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })

beforeAll(() => {
  provider.register()
  metrics.setGlobalMeterProvider(meterProvider)
})

afterAll(async () => {
  await Promise.all([provider.shutdown(), meterProvider.shutdown()])
  trace.disable()
  context.disable()
  propagation.disable()
  metrics.disable()
})

beforeEach(() => exporter.reset())

const tracer = trace.getTracer('test')

function tracedServer(): Server {
  const server = createServer({ name: 'traced', version: '1', onError: () => {} })
  server.use(serverTelemetry())
  server.tool('hi', {}, () => {
    tracer.startSpan('inside').end()
    return 'hi'
  })
  server.tool('refuse', {}, () => {
    throw new ToolError('not today')
  })
  server.tool('break', {}, () => {
    throw new Error('secret detail')
  })
  server.resource('note://{id}', { name: 'note' }, ({ id }) => String(id))
  server.prompt('greet', {}, () => 'Hello')
  return server
}

/** A server that asks for a name. */
function greeter(): Server {
  const server = tracedServer()
  server.tool('greet', {}, async (_args, ctx) => {
    await ctx.ask({ name: form('Your name?', { type: 'object', properties: {} }) })
    return 'greeted'
  })
  return server
}

const spans = (kind?: SpanKind): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => kind === undefined || span.kind === kind)
const named = (name: string, kind?: SpanKind): ReadableSpan => {
  const found = spans(kind).find((span) => span.name === name)
  if (!found) throw new Error(`No span ${name}; there are ${spans().map((span) => span.name)}`)
  return found
}

describe.each([undefined, '2025-11-25'])('over HTTP, revision %s', (revision) => {
  it('joins the spans of the caller, the client, the server and its handler', async () => {
    const { url } = await serve(tracedServer())
    await using client = await connect(url, { telemetry: clientTelemetry(), ...(revision && { revisions: [revision] }) })
    await tracer.startActiveSpan('caller', async (span) => {
      await client.call('hi')
      span.end()
    })
    const [caller, sent, served, inside] = [
      named('caller'),
      named('tools/call hi', SpanKind.CLIENT),
      named('tools/call hi', SpanKind.SERVER),
      named('inside'),
    ]
    expect(new Set([caller, sent, served, inside].map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(sent.parentSpanContext?.spanId).toBe(caller.spanContext().spanId)
    expect(served.parentSpanContext?.spanId).toBe(sent.spanContext().spanId)
    expect(inside.parentSpanContext?.spanId).toBe(served.spanContext().spanId)
    const common = {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': client.revision,
      'gen_ai.tool.name': 'hi',
      'gen_ai.operation.name': 'execute_tool',
    }
    expect(served.attributes).toMatchObject({ ...common, 'jsonrpc.request.id': expect.any(String) })
    expect(sent.attributes).toMatchObject({
      ...common,
      'jsonrpc.request.id': served.attributes['jsonrpc.request.id'],
      'network.transport': 'tcp',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
    })
  })
})

describe('a server', () => {
  it('names spans by the conventions, and never by a URI', async () => {
    const { url } = await serve(tracedServer())
    await using client = await connect(url, { telemetry: clientTelemetry() })
    await client.read('note://42')
    await client.prompt('greet')
    expect(named('resources/read', SpanKind.SERVER).attributes).toMatchObject({ 'mcp.resource.uri': 'note://42' })
    expect(named('prompts/get greet', SpanKind.SERVER).attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet' })
  })

  it('marks failures with their type', async () => {
    const { url } = await serve(tracedServer())
    for (const tool of ['refuse', 'break', 'made-up']) await askModern(url, callTool(tool))
    await askModern(url, { method: 'resources/read', params: { uri: 'nothing://here' } })
    await askModern(url, { method: 'made/up' })
    const failed = spans(SpanKind.SERVER).map(({ name, status, attributes, events }) => [
      name,
      status.code,
      attributes['error.type'],
      attributes['rpc.response.status_code'],
      events.length,
    ])
    expect(failed).toEqual([
      ['tools/call refuse', SpanStatusCode.ERROR, 'tool_error', undefined, 0],
      ['tools/call break', SpanStatusCode.ERROR, 'tool_error', undefined, 1],
      ['tools/call', SpanStatusCode.ERROR, '-32602', '-32602', 0],
      ['resources/read', SpanStatusCode.ERROR, '-32602', '-32602', 0],
      ['_OTHER', SpanStatusCode.ERROR, '-32601', '-32601', 0],
    ])
  })

  it('tells a crash from a tool that refuses, and has the reference that the client got', async () => {
    const server = tracedServer()
    // The telemetry is the first middleware; others may change the request inside of it.
    server.use((call, next) => next({ params: { ...call.params } }))
    server.resource('x://broken', { name: 'broken' }, () => {
      throw new Error('secret detail')
    })
    server.tool('relay', {}, () => {
      throw new RemoteError({ code: -1, message: 'no' })
    })
    const { url } = await serve(server)
    const referenceIn = (text: string): string | undefined => /reference ([\w-]{8})\)/.exec(text)?.[1]
    const { text: broken } = await askModern(url, callTool('break'))
    const { text: unread } = await askModern(url, { method: 'resources/read', params: { uri: 'x://broken' } })
    for (const tool of ['refuse', 'relay', 'hi']) await askModern(url, callTool(tool))
    const told = spans(SpanKind.SERVER).map(({ name, attributes }) => [
      name,
      attributes['error.type'],
      attributes['portico.outcome'],
      attributes['portico.reference'],
    ])
    expect(told).toEqual([
      ['tools/call break', 'tool_error', 'tool_crash', referenceIn(broken)],
      ['resources/read', '-32603', undefined, referenceIn(unread)],
      ['tools/call refuse', 'tool_error', undefined, undefined],
      ['tools/call relay', 'tool_error', undefined, undefined],
      ['tools/call hi', undefined, undefined, undefined],
    ])
    expect(told.slice(0, 2).map(([, , , reference]) => reference)).toEqual([expect.any(String), expect.any(String)])
    await meterProvider.forceFlush()
    const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? []
    const points = scopes.flatMap(({ metrics }) => metrics).flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes))
    expect(points).toContainEqual(expect.objectContaining({ 'gen_ai.tool.name': 'break', 'portico.outcome': 'tool_crash' }))
    expect(points.filter((attributes) => 'portico.reference' in attributes)).toEqual([])
  })

  it('links the span of the transport when the client sent its own', async () => {
    const server = createServer({ name: 'linked', version: '1' })
    const transport = tracer.startSpan('POST /mcp')
    server.use((_call, next) => context.with(trace.setSpan(context.active(), transport), next))
    server.use(serverTelemetry())
    server.tool('hi', {}, () => 'hi')
    const { url } = await serve(server)
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await askModern(url, callTool('hi', {}, { _meta: { traceparent } }))
    await askModern(url, callTool('hi'))
    transport.end()
    const [linked, child] = spans(SpanKind.SERVER)
    expect(linked?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
    expect(linked?.links.map((link) => link.context.spanId)).toEqual([transport.spanContext().spanId])
    expect(child?.parentSpanContext?.spanId).toBe(transport.spanContext().spanId)
    expect(child?.links).toEqual([])
  })
})

describe('questions of a server', () => {
  const text = { type: 'text' as const, text: 'Say hi' }
  const QUESTIONS: Readonly<Record<string, [Question, Message]>> = {
    'roots/list': [rootList(), { roots: [] }],
    'sampling/createMessage': [
      sampling({ messages: [{ role: 'user', content: text }], maxTokens: 10 }),
      { role: 'assistant', content: text, model: 'small' },
    ],
    'elicitation/create': [form('Your name?', { type: 'object', properties: {} }), { action: 'decline' }],
  }
  const asking = (server: Server): Server => {
    for (const [method, [question]] of Object.entries(QUESTIONS)) {
      const options = { restartable: method !== 'roots/list' }
      server.tool(method.replace('/', '.'), options, async (_args, ctx) => {
        await ctx.ask({ answer: question })
        tracer.startSpan('after').end()
        return 'asked'
      })
    }
    return server
  }
  const ask = async (session: HttpSession, method: string, answer: object): Promise<Message> => {
    const stream = await session.askStream(callTool(method.replace('/', '.')))
    const question = await stream.message()
    await session.post({ jsonrpc: '2.0', id: question.id, ...answer })
    await stream.messages()
    return question
  }
  const capabilities = { roots: {}, sampling: {}, elicitation: {} }

  it.each([
    ['2025-03-26', 'one process', ['roots/list', 'sampling/createMessage'], []],
    ['2025-06-18', 'one process', Object.keys(QUESTIONS), []],
    ['2025-11-25', 'one process', Object.keys(QUESTIONS), []],
    ['2025-11-25', 'several replicas', Object.keys(QUESTIONS), storesInMemory(1)],
  ])('have a span inside of their request, and its context in _meta, in %s of %s', async (revision, _of, methods, [store]) => {
    const { url, close } = await serve(asking(tracedServer()), store && { store })
    const session = await openSession(url, revision, { capabilities })
    for (const method of methods) {
      exporter.reset()
      const question = await ask(session, method, { result: QUESTIONS[method]?.[1] })
      expect(question.method).toBe(method)
      const [served, sent, after] = [named(`tools/call ${method.replace('/', '.')}`), named(method, SpanKind.CLIENT), named('after')]
      expect([sent, after].map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(Array(2).fill(served.spanContext().spanId))
      const common = { 'mcp.method.name': method, 'mcp.protocol.version': revision }
      expect(sent.attributes).toEqual({ ...common, 'jsonrpc.request.id': String(question.id) })
      const { traceId, spanId } = sent.spanContext()
      expect(question.params._meta).toEqual({ traceparent: `00-${traceId}-${spanId}-01` })
    }
    await close()
    await store?.close()
  })

  it('are measured, with the error of a client that refused', async () => {
    const { url } = await serve(asking(tracedServer()))
    const session = await openSession(url, '2025-11-25', { capabilities })
    await ask(session, 'sampling/createMessage', { error: { code: -1, message: 'The person said no' } })
    expect(named('sampling/createMessage').status).toEqual({ code: SpanStatusCode.ERROR, message: 'The person said no' })
    await meterProvider.forceFlush()
    const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? []
    const measured = scopes.flatMap((scope) => scope.metrics).find(({ descriptor }) => descriptor.name === 'mcp.client.operation.duration')
    const common = { 'mcp.method.name': 'sampling/createMessage', 'mcp.protocol.version': '2025-11-25' }
    const failure = { 'error.type': '-1', 'rpc.response.status_code': '-1' }
    expect(measured?.dataPoints.map(({ attributes }) => attributes)).toContainEqual({ ...common, ...failure })
  })

  it('are sent as they are without telemetry', async () => {
    const { url } = await serve(asking(createServer({ name: 'plain', version: '1' })))
    const session = await openSession(url, '2025-11-25', { capabilities })
    expect((await ask(session, 'roots/list', { result: { roots: [] } })).params).toBeUndefined()
    expect((await ask(session, 'elicitation/create', { result: { action: 'decline' } })).params).not.toHaveProperty('_meta')
    expect(spans(SpanKind.CLIENT)).toEqual([])
  })
})

describe('a client', () => {
  it('tells the id of the last message of a call in rounds', async () => {
    const { url } = await serve(greeter())
    await using client = await connect(url, { telemetry: clientTelemetry(), answer: { elicit: () => ({ action: 'decline' as const }) } })
    await client.call('greet')
    const served = spans(SpanKind.SERVER).filter(({ name }) => name === 'tools/call greet')
    expect(served.length).toBe(2)
    const sent = named('tools/call greet', SpanKind.CLIENT)
    expect(sent.attributes['jsonrpc.request.id']).toBe(served[1]?.attributes['jsonrpc.request.id'])
  })

  it('marks its spans with the errors of the server and its own', async () => {
    const { url } = await serve(tracedServer())
    const client = await connect(url, { telemetry: clientTelemetry() })
    await client.call('refuse')
    await expect(client.read('nothing://here')).rejects.toThrow()
    await client.close()
    await expect(client.read('note://1')).rejects.toThrow()
    const types = spans(SpanKind.CLIENT)
      .filter(({ status }) => status.code === SpanStatusCode.ERROR)
      .map(({ attributes }) => attributes['error.type'])
    expect(types).toEqual(['tool_error', '-32602'])
  })
})

describe('a client that answers', () => {
  it.each(['2025-06-18', '2025-11-25'])('has a span inside of that of the question, revision %s', async (revision) => {
    const { url } = await serve(greeter())
    const elicit = (): { action: 'decline' } => {
      tracer.startSpan('person').end()
      return { action: 'decline' }
    }
    await using client = await connect(url, { revisions: [revision], telemetry: clientTelemetry(), answer: { elicit } })
    expect((await client.call('greet')).content).toMatchObject([{ text: 'greeted' }])
    const method = 'elicitation/create'
    const [asked, answered, person] = [named(method, SpanKind.CLIENT), named(method, SpanKind.SERVER), named('person')]
    expect(answered.parentSpanContext?.spanId).toBe(asked.spanContext().spanId)
    expect(person.parentSpanContext?.spanId).toBe(answered.spanContext().spanId)
    const call = spans().filter(({ name }) => name === 'tools/call greet')
    expect(call.map(({ kind }) => kind).sort()).toEqual([SpanKind.SERVER, SpanKind.CLIENT])
    expect(new Set([...call, asked, answered, person].map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(answered.attributes).toEqual({
      'mcp.method.name': method,
      'mcp.protocol.version': revision,
      'jsonrpc.request.id': asked.attributes['jsonrpc.request.id'],
    })
    expect(answered.status.code).toBe(SpanStatusCode.UNSET)
  })

  it('marks what it refuses, without what the person typed', async () => {
    const server = tracedServer()
    const typed = form('Age?', { type: 'object', properties: { age: { type: 'number' } } })
    const message = sampling({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 1 })
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.ask({ typed }).catch(() => {})
      await ctx.ask({ message }).catch(() => {})
      return 'asked'
    })
    const { url } = await serve(server)
    const answer = {
      elicit: () => ({ action: 'accept' as const, content: { age: 'typed-in' } }),
      sample: () => {
        throw new Declined('The person said no')
      },
    }
    await using client = await connect(url, { revisions: ['2025-11-25'], telemetry: clientTelemetry(), answer })
    await client.call('ask')
    const [elicited, sampled] = [named('elicitation/create', SpanKind.SERVER), named('sampling/createMessage', SpanKind.SERVER)]
    expect(elicited.attributes).toMatchObject({ 'error.type': '-32603', 'rpc.response.status_code': '-32603' })
    expect([elicited.status, elicited.events]).toEqual([{ code: SpanStatusCode.ERROR }, []])
    expect(sampled.attributes).toMatchObject({ 'error.type': '-1', 'rpc.response.status_code': '-1' })
    expect(sampled.status).toEqual({ code: SpanStatusCode.ERROR, message: 'The person said no' })
  })

  it('joins them without HTTP as well, and answers without telemetry', async () => {
    const server = tracedServer()
    server.tool('where', {}, async (_args, ctx) => JSON.stringify(await ctx.ask({ answer: rootList() })))
    for (const telemetry of [clientTelemetry(), undefined]) {
      exporter.reset()
      await using client = await connect(server, { revisions: ['2025-11-25'], answer: { roots: [] }, ...(telemetry && { telemetry }) })
      expect((await client.call('where')).content).toMatchObject([{ text: expect.stringContaining('roots') }])
      const answered = spans(SpanKind.SERVER).filter(({ name }) => name === 'roots/list')
      const [asked] = spans(SpanKind.CLIENT).filter(({ name }) => name === 'roots/list')
      expect(answered.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(telemetry ? [asked?.spanContext().spanId] : [])
    }
  })
})

describe('a host', () => {
  it.each(['2026-07-28', '2025-11-25'])('passes trace, tracestate and baggage on over HTTP, revision %s', async (revision) => {
    const server = tracedServer()
    const seen = vi.fn()
    server.tool('look', {}, (_args, ctx) => {
      const span = trace.getActiveSpan()?.spanContext()
      seen({ trace: ctx.trace, state: span?.traceState?.serialize(), baggage: propagation.getActiveBaggage()?.getEntry('user')?.value })
      return 'seen'
    })
    const { url } = await serve(server)
    await using host = await createHost({
      folder: folders(),
      keychain: false,
      telemetry: hostTelemetry(),
      policy: { session: [allow('all', { action: ['server.*', 'tool.*'], tier: 'trusted' })] },
      servers: {
        far: {
          transport: { type: 'http', url, headers: {} },
          revisions: [revision],
          tier: 'trusted',
          provenance: [{ client: 'portico', scope: 'ours', file: '' }],
        },
      },
    })
    await host.enable('far')
    exporter.reset()
    const caller = {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      traceFlags: TraceFlags.SAMPLED,
      traceState: createTraceState('vendor=1'),
    }
    const baggage = propagation.createBaggage({ user: { value: 'anna' } })
    await context.with(propagation.setBaggage(trace.setSpanContext(context.active(), caller), baggage), () =>
      host.call('far__look', {}, { as: 'person' }),
    )
    const [action, sent, served] = [
      named('host tool.call'),
      named('tools/call look', SpanKind.CLIENT),
      named('tools/call look', SpanKind.SERVER),
    ]
    expect([action, sent, served].map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      [caller, action.spanContext(), sent.spanContext()].map(({ spanId }) => spanId),
    )
    expect(served.spanContext().traceId).toBe(caller.traceId)
    expect(served.attributes['mcp.protocol.version']).toBe(revision)
    const traceparent = `00-${caller.traceId}-${sent.spanContext().spanId}-01`
    expect(seen.mock.calls).toEqual([
      [{ trace: { traceparent, tracestate: 'vendor=1', baggage: 'user=anna' }, state: 'vendor=1', baggage: 'anna' }],
    ])
  })

  it('joins its actions with the requests to the server and with the spans of the server', async () => {
    await using host = await tracedHost(folders(), tracedServer())
    exporter.reset()
    await host.call('near__hi', {}, { as: 'person' })
    const [action, sent, served] = [
      named('host tool.call'),
      named('tools/call hi', SpanKind.CLIENT),
      named('tools/call hi', SpanKind.SERVER),
    ]
    expect(action.attributes).toEqual({
      'portico.action.kind': 'tool.call',
      'portico.server': 'near',
      'portico.target': 'hi',
      'portico.initiator': 'user',
    })
    expect(sent.parentSpanContext?.spanId).toBe(action.spanContext().spanId)
    expect(sent.attributes['network.transport']).toBe('pipe')
    expect(served.parentSpanContext?.spanId).toBe(sent.spanContext().spanId)
    expect(served.spanContext().traceId).toBe(action.spanContext().traceId)
  })
})

describe('metrics', () => {
  it('have no names that clients made up, however the request fails', async () => {
    const server = tracedServer()
    server.use((call, next) => {
      if (call.caller.client?.name === 'banned') throw new McpError('ERR_INVALID_REQUEST', 'You may not do that')
      return next()
    })
    server.extend(serverExtension({ id: 'com.example/shout', methods: { 'com.example/shout': { handler: () => ({}) } } }))
    server.tool('real', {}, () => 'hi')
    const { url } = await serve(server)
    const banned = { _meta: { 'io.modelcontextprotocol/clientInfo': { name: 'banned', version: '1' } } }
    for (const params of [banned, {}]) {
      await askModern(url, callTool('invented-1', {}, params))
      await askModern(url, callTool('invented-2', 'text' as unknown as Message, params))
      await askModern(url, { method: 'prompts/get', params: { name: 'invented-3', arguments: { count: 1 }, ...params } })
      await askModern(url, { method: 'prompts/get', params: { name: 'invented-4', arguments: 'text', ...params } })
      await askModern(url, { method: 'resources/read', params: { uri: 'invented-5:x', ...params } })
      await askModern(url, { method: 'invented/6', params })
      const ref = { type: 'ref/prompt', name: 'invented-7' }
      await askModern(url, { method: 'completion/complete', params: { ref, argument: { name: 'invented-8', value: '' }, ...params } })
    }
    expect(spans().filter(({ name }) => name.includes('invented'))).toEqual([])
    await askModern(url, callTool('real', {}, banned))
    await askModern(url, { method: 'com.example/shout', params: banned })
    await meterProvider.forceFlush()
    const counted = JSON.stringify(metricExporter.getMetrics().at(-1)?.scopeMetrics)
    expect(counted).not.toContain('invented')
    expect(counted).toContain('"gen_ai.tool.name":"real"')
    expect(counted).toContain('"mcp.method.name":"com.example/shout"')
    // A span is for one request: it says what was asked.
    expect(named('tools/call').attributes).toMatchObject({ 'gen_ai.tool.name': 'invented-1' })
    expect(named('_OTHER').attributes).toMatchObject({ 'mcp.method.name': 'invented/6' })
  })

  it('measure the duration of requests on both sides, without names that clients made up', async () => {
    const { url } = await serve(tracedServer())
    await using client = await connect(url, { telemetry: clientTelemetry() })
    await client.call('hi')
    await askModern(url, callTool('made-up-tool'))
    await meterProvider.forceFlush()
    const all =
      metricExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    for (const name of ['mcp.server.operation.duration', 'mcp.client.operation.duration']) {
      const metric = all.find(({ descriptor }) => descriptor.name === name)
      expect(metric?.descriptor.unit).toBe('s')
      const point = metric?.dataPoints.find(({ attributes }) => attributes['gen_ai.tool.name'] === 'hi' && !attributes['error.type'])
      const { buckets, count } = (point?.value ?? {}) as { buckets: { boundaries: number[] }; count: number }
      expect(buckets.boundaries).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300])
      expect(count).toBeGreaterThan(0)
    }
    expect(JSON.stringify(all)).not.toContain('made-up')
  })
})

describe('sessions', () => {
  /** The number of sessions that were measured, and their seconds in all. */
  async function sessionsOf(version: string, side = 'server'): Promise<{ count: number; sum: number }> {
    await reader.forceFlush()
    const all =
      metricExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    const found = all.find(({ descriptor }) => descriptor.name === `mcp.${side}.session.duration`)
    // Clients have one for each server.
    const points = found?.dataPoints.filter(({ attributes }) => attributes['mcp.protocol.version'] === version) ?? []
    const values = points.map(({ value }) => value as { count: number; sum?: number })
    return {
      count: values.reduce((total, { count }) => total + count, 0),
      sum: values.reduce((total, { sum = 0 }) => total + sum, 0),
    }
  }

  it.each([
    ['one process', '2025-06-18', []],
    ['several replicas', '2025-11-25', storesInMemory(1)],
  ])('measures sessions of %s when they end', async (_name, version, stores) => {
    const [store] = stores
    const server = sessionTelemetry(tracedServer()) as Server
    const { url, close } = await serve(server, { metrics: true, ...(store && { store }) })
    const before = await sessionsOf(version)
    const session = await openSession(url, version)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    expect((await sessionsOf(version)).count).toBe(before.count)
    expect((await fetch(url, { method: 'DELETE', headers: session.headers })).status).toBeLessThan(300)
    const after = await sessionsOf(version)
    expect(after.count).toBe(before.count + 1)
    expect(after.sum).toBeGreaterThanOrEqual(before.sum)
    await close()
    expect((await sessionsOf(version)).count).toBe(before.count + 1)
    await store?.close()
  })

  it('measures sessions of a client when it closes, and when the server has forgotten them', async () => {
    const version = '2025-11-25'
    const count = async (): Promise<number> => (await sessionsOf(version, 'client')).count
    const { url, close } = await serve(tracedServer())
    const before = await count()
    const client = await connect(url, { revisions: [version], telemetry: clientTelemetry(), onWarning: () => {} })
    await client.call('hi')
    expect(await count()).toBe(before)
    await close()
    await serve(tracedServer(), { port: Number(new URL(url).port) })
    await client.call('hi')
    expect(await count()).toBe(before + 1)
    await client.close()
    expect(await count()).toBe(before + 2)
    const stateless = await connect(url, { telemetry: clientTelemetry() })
    await stateless.call('hi')
    await stateless.close()
    expect(await count()).toBe(before + 2)
    expect((await sessionsOf(stateless.revision, 'client')).count).toBe(0)
  })
})
