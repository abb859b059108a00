/** Spans of requests that somebody ends before they have an answer: no errors, unless it was the server. */

import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../../src/index.ts'
import { clientTelemetry, serverTelemetry } from '../../src/opentelemetry/index.ts'
import { createServer, form, type Server } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { callTool, type Gate, gate, openSession, serve, until, WATCHED } from '../support/http-service.ts'
import { serveReplicas } from '../support/replicas.ts'
import { tracedHost } from './traced-host.ts'

const folders = temporaryFolders()
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })

beforeAll(() => {
  provider.register()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
})
beforeEach(() => exporter.reset())
afterAll(() => {
  for (const api of [trace, context, metrics]) api.disable()
})

interface Waiting {
  server: Server
  begun: Gate
  /** Lets the handlers go on that ignore their signal. */
  go: Gate
}

function waitingServer(limits = {}): Waiting {
  const [begun, go] = [gate(), gate()]
  const server = createServer({ name: 'waiting', version: '1', onError: () => {}, limits: { toolCalls: false, ...limits } })
  server.use(serverTelemetry())
  const tool = (name: string, wait: (signal: AbortSignal) => Promise<unknown>): void => {
    server.tool(name, { restartable: true }, async (_args, ctx) => {
      await ctx.progress(1)
      begun.open()
      await wait(ctx.signal)
      return 'done'
    })
  }
  tool('ignore', () => go.opened)
  tool('obey', (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
  tool('complain', (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new TypeError('no')))))
  return { server, begun, go }
}

/** The span of a kind, as soon as it has ended. */
async function ended(name: string, kind: SpanKind): Promise<ReadableSpan> {
  const find = (): ReadableSpan | undefined => exporter.getFinishedSpans().find((span) => span.name === name && span.kind === kind)
  await until(() => find() !== undefined)
  return find() as ReadableSpan
}

const CANCELLED = { status: { code: SpanStatusCode.UNSET }, events: [], type: undefined, outcome: 'cancelled' }

const told = ({ status, events, attributes }: ReadableSpan): object => ({
  status,
  events,
  type: attributes['error.type'],
  outcome: attributes['portico.outcome'],
})

describe.each(['ignore', 'obey', 'complain'])('a call with a handler that may %s its signal', (tool) => {
  it('is no error if the client of a session cancels it, and its span ends then', async () => {
    const { server, begun, go } = waitingServer()
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const stream = await session.askStream({ ...callTool(tool, {}, WATCHED), id: 7 })
    await begun.opened
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    expect(told(await ended(`tools/call ${tool}`, SpanKind.SERVER))).toEqual(CANCELLED)
    go.open()
    stream.destroy()
    await session.ask({ method: 'ping', id: 8 })
    expect(exporter.getFinishedSpans().filter(({ name }) => name === `tools/call ${tool}`)).toHaveLength(1)
  })

  it('is no error if the client of 2026-07-28 disconnects', async () => {
    const { server, begun, go } = waitingServer()
    const { url } = await serve(server)
    const gone = new AbortController()
    await using client = await connect(url)
    const answer = client.call(tool, {}, { signal: gone.signal })
    answer.catch(() => {})
    await begun.opened
    gone.abort()
    expect(told(await ended(`tools/call ${tool}`, SpanKind.SERVER))).toEqual(CANCELLED)
    go.open()
  })

  it('is no error if the client ends its session', async () => {
    const { server, begun, go } = waitingServer()
    const { url } = await serve(server)
    const session = await openSession(url, '2025-06-18')
    const stream = await session.askStream({ ...callTool(tool, {}, WATCHED), id: 7 })
    await begun.opened
    await session.end()
    expect(told(await ended(`tools/call ${tool}`, SpanKind.SERVER))).toEqual(CANCELLED)
    go.open()
    stream.destroy()
  })

  it.each(['2025-11-25', '2026-07-28'])('is an error if the server of %s ends', async (revision) => {
    const { server, begun, go } = waitingServer()
    const { url, close } = await serve(server)
    await using client = await connect(url, { revisions: [revision], onWarning: () => {} })
    client.call(tool).catch(() => {})
    await begun.opened
    await close()
    const span = await ended(`tools/call ${tool}`, SpanKind.SERVER)
    expect(told(span)).toEqual({
      status: { code: SpanStatusCode.ERROR, message: 'The server was closed' },
      events: [],
      type: '-32603',
      outcome: undefined,
    })
    go.open()
  })

  it('is no error if another replica runs it again', async () => {
    const { server, begun, go } = waitingServer()
    const { url, handlers } = await serveReplicas(() => server, { count: 1 })
    const session = await openSession(url, '2025-11-25')
    session.ask({ ...callTool(tool, {}, WATCHED), id: 7 }).catch(() => {})
    await begun.opened
    await handlers[0]?.close()
    expect(told(await ended(`tools/call ${tool}`, SpanKind.SERVER))).toEqual({ ...CANCELLED, outcome: 'handed_over' })
    go.open()
  })

  it('is an error if it takes too long', async () => {
    const { server, go } = waitingServer({ handlerTimeoutMs: 30 })
    const { url } = await serve(server)
    await using client = await connect(url)
    await client.call(tool).catch(() => {})
    expect(told(await ended(`tools/call ${tool}`, SpanKind.SERVER))).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: expect.stringContaining('took longer than 30 ms') },
      type: '-32603',
      outcome: undefined,
    })
    go.open()
  })
})

it('a cancelled call is measured with its outcome, and without an error', async () => {
  const { server, begun, go } = waitingServer()
  const { url } = await serve(server)
  const session = await openSession(url, '2025-03-26')
  const stream = await session.askStream({ ...callTool('ignore', {}, WATCHED), id: 7 })
  await begun.opened
  await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
  await ended('tools/call ignore', SpanKind.SERVER)
  await reader.forceFlush()
  const all = metricExporter
    .getMetrics()
    .at(-1)
    ?.scopeMetrics.flatMap((scope) => scope.metrics)
  const measured = all?.find(({ descriptor }) => descriptor.name === 'mcp.server.operation.duration')
  expect(measured?.dataPoints.map(({ attributes }) => attributes)).toContainEqual({
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2025-03-26',
    'gen_ai.tool.name': 'ignore',
    'gen_ai.operation.name': 'execute_tool',
    'portico.outcome': 'cancelled',
  })
  go.open()
  stream.destroy()
})

describe('a client', () => {
  it('has no error in the span of a call that its caller cancels', async () => {
    const { server, begun } = waitingServer()
    const { url } = await serve(server)
    await using client = await connect(url, { telemetry: clientTelemetry() })
    const caller = new AbortController()
    const answer = client.call('obey', {}, { signal: caller.signal })
    answer.catch(() => {})
    await begun.opened
    caller.abort()
    expect(told(await ended('tools/call obey', SpanKind.CLIENT))).toEqual(CANCELLED)
  })

  it('has an error in the span of a call that takes longer than its caller waits', async () => {
    const { server } = waitingServer()
    const { url } = await serve(server)
    await using client = await connect(url, { telemetry: clientTelemetry() })
    await client.call('obey', {}, { signal: AbortSignal.timeout(50) }).catch(() => {})
    expect(told(await ended('tools/call obey', SpanKind.CLIENT))).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      type: 'TimeoutError',
    })
  })

  it.each([true, false])('has no error in the span of a question that the server withdraws, obeyed: %s', async (isObeyed) => {
    const asked = gate()
    const { server } = waitingServer()
    const withdraw = new AbortController()
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.ask({ name: form('Your name?', { type: 'object', properties: {} }) })
      return 'asked'
    })
    await using client = await connect(server, {
      revisions: ['2025-11-25'],
      telemetry: clientTelemetry(),
      answer: {
        elicit: (_request, { signal }) => {
          asked.open()
          return new Promise((_resolve, reject) => {
            if (isObeyed) signal.addEventListener('abort', () => reject(signal.reason))
          })
        },
      },
    })
    client.call('ask', {}, { signal: withdraw.signal }).catch(() => {})
    await asked.opened
    withdraw.abort()
    for (const kind of [SpanKind.SERVER, SpanKind.CLIENT]) expect(told(await ended('elicitation/create', kind))).toEqual(CANCELLED)
  })
})

it('a host has no error in the span of an action that its caller cancels', async () => {
  const { server, begun } = waitingServer()
  await using host = await tracedHost(folders(), server)
  const caller = new AbortController()
  host.call('near__obey', {}, { as: 'person', signal: caller.signal }).catch(() => {})
  await begun.opened
  caller.abort()
  expect(told(await ended('host tool.call', SpanKind.INTERNAL))).toEqual(CANCELLED)
})
