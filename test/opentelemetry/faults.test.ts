/** Parts of OpenTelemetry that fail: no request fails for that, and the log says it once. */

import { context, metrics, propagation, ROOT_CONTEXT, type TextMapPropagator, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SamplingDecision, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { connect } from '../../src/index.ts'
import { clientTelemetry, serverTelemetry, sessionTelemetry } from '../../src/opentelemetry/index.ts'
import { createServer, rootList, type Server } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { serve, until } from '../support/http-service.ts'
import { tracedHost } from './traced-host.ts'

const folders = temporaryFolders()

/** The part that fails now. */
let failing: string | undefined
const part = (name: string): void => {
  if (failing === name) throw new Error(`${name} is broken`)
}

const exporter = new InMemorySpanExporter()
const processor = {
  onStart: () => part('onStart'),
  onEnd: () => part('onEnd'),
  forceFlush: async () => {},
  shutdown: async () => {},
}
const sampler = {
  shouldSample: () => {
    part('sampler')
    return { decision: SamplingDecision.RECORD_AND_SAMPLED }
  },
}
const propagator: TextMapPropagator = {
  inject: (_context, carrier: Record<string, string>) => {
    part('inject')
    carrier.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  },
  extract: (parent) => {
    part('extract')
    return parent
  },
  fields: () => ['traceparent'],
}
const meter = {
  createHistogram: () => {
    part('createHistogram')
    return { record: () => part('record') }
  },
}
const provider = new NodeTracerProvider({ spanProcessors: [processor, new SimpleSpanProcessor(exporter)], sampler })

const said: string[] = []
beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation((...all) => void said.push(all.join(' ')))
  provider.register({ propagator })
  metrics.setGlobalMeterProvider({ getMeter: () => meter } as unknown as Parameters<typeof metrics.setGlobalMeterProvider>[0])
})
afterEach(() => {
  failing = undefined
  exporter.reset()
})
afterAll(() => {
  vi.restoreAllMocks()
  for (const api of [trace, context, propagation, metrics]) api.disable()
})

/** Says how often its tool ran. */
function tracedServer(): { server: Server; runs: () => number } {
  let runs = 0
  const server = createServer({ name: 'traced', version: '1', onError: (error) => console.error('onError', error) })
  server.use(serverTelemetry())
  server.tool('hi', {}, () => {
    runs++
    return 'hi'
  })
  server.tool('roots', {}, async (_args, ctx) => JSON.stringify(await ctx.ask({ answer: rootList() })))
  server.resource('note://{id}', { name: 'note' }, () => 'text')
  return { server, runs: () => runs }
}

const PARTS = ['createHistogram', 'sampler', 'onStart', 'onEnd', 'extract', 'inject', 'record']

describe.each(PARTS)('while the part %s of OpenTelemetry fails', (name) => {
  it.each(['2026-07-28', '2025-11-25'])('calls, questions and sessions of %s go on', async (revision) => {
    failing = name
    const { server, runs } = tracedServer()
    const { url } = await serve(sessionTelemetry(server) as Server)
    const client = await connect(url, { revisions: [revision], telemetry: clientTelemetry(), answer: { roots: [] } })
    for (let call = 1; call <= 3; call++) {
      expect((await client.call('hi')).content).toMatchObject([{ text: 'hi' }])
      expect(runs()).toBe(call)
    }
    expect(await client.call('roots')).not.toHaveProperty('isError')
    await expect(client.read('other://none')).rejects.toThrow('Resource not found')
    await client.close()
    expect(said.filter((line) => line.includes('onError'))).toEqual([])
  })

  it('actions of a host go on, with their results and their errors', async () => {
    failing = name
    const { server } = tracedServer()
    await using host = await tracedHost(folders(), server)
    const outcome = await host.call('near__hi', {}, { as: 'person' })
    expect(JSON.stringify(outcome)).toContain('"text":"hi"')
    await expect(host.call('near__nothing', {}, { as: 'person' })).rejects.toThrow('near__nothing')
  })
})

it('spans of later requests are there again', async () => {
  const { server } = tracedServer()
  const { url } = await serve(server)
  await using client = await connect(url, { telemetry: clientTelemetry() })
  exporter.reset()
  failing = 'sampler'
  await client.call('hi')
  expect(exporter.getFinishedSpans()).toEqual([])
  failing = undefined
  await client.call('hi')
  await until(() => exporter.getFinishedSpans().length === 2)
  expect(context.active()).toBe(ROOT_CONTEXT)
})

it('a context manager that fails lets the request run once, outside of its span', async () => {
  const { server, runs } = tracedServer()
  const { url } = await serve(server)
  context.disable()
  context.setGlobalContextManager({
    active: () => ROOT_CONTEXT,
    with: () => {
      throw new Error('with is broken')
    },
    bind: (_context, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  await using client = await connect(url, { telemetry: clientTelemetry() })
  expect((await client.call('hi')).content).toMatchObject([{ text: 'hi' }])
  expect(runs()).toBe(1)
})

it('the log has the first failure of each step', () => {
  const reports = said.filter((line) => line.includes(' is broken'))
  const text = /^portico: OpenTelemetry \(([\w.]+)\) failed\. Its later failures are not reported: Error: (\w+) is broken/
  expect(reports.map((report) => text.exec(report)?.slice(1)).sort()).toEqual([
    ['context.with', 'with'],
    ['histogram.record', 'createHistogram'],
    ['propagation.extract', 'extract'],
    ['propagation.inject', 'inject'],
    ['span.end', 'onEnd'],
    ['span.start', 'sampler'],
  ])
})
