import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { proves } from '../support/proves.ts'
import { cannedServer } from '../support/scripted-server.ts'

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00'

describe.each(['2024-11-05', '2025-11-25', '2026-07-28'])('in %s', (revision) => {
  async function open(options: ConnectOptions = {}) {
    const warnings: string[] = []
    const server = cannedServer({ revision, results: { 'tools/call': { content: [] }, 'resources/read': { contents: [] } } })
    const client = await Client.connect(server.target, { ...options, onWarning: (message) => warnings.push(message) })
    const traceSent = () => {
      const { traceparent, tracestate, baggage } = server.received.at(-1)?.params?._meta ?? {}
      return { traceparent, tracestate, baggage }
    }
    return { client, server, warnings, traceSent }
  }

  test('the trace context of a call travels in its metadata', async () => {
    proves('R-META-014')
    const { client, traceSent, warnings } = await open()
    const trace = { traceparent: PARENT, tracestate: 'a=1', baggage: 'user=alice' }
    await client.call('x', {}, { trace, onProgress: () => {} })
    expect(traceSent()).toEqual(trace)
    await client.call('x')
    expect(traceSent()).toEqual({})
    expect(warnings).toEqual([])
  })

  test('the trace context of the connection goes with every request, and a call may have its own', async () => {
    const { client, traceSent } = await open({ trace: { traceparent: PARENT, tracestate: 'a=1' } })
    await client.read('a:1')
    expect(traceSent()).toEqual({ traceparent: PARENT, tracestate: 'a=1' })
    await client.call('x', {}, { trace: { traceparent: OTHER } })
    expect(traceSent()).toEqual({ traceparent: OTHER })
    await client.call('x', {}, { meta: { traceparent: OTHER, 'com.example/a': 1 } })
    expect(traceSent()).toEqual({ traceparent: OTHER })
  })

  test('a trace function is called before each request, and its failure stops nothing', async () => {
    let calls = 0
    const { client, traceSent, warnings } = await open({
      trace: () => {
        if (++calls === 2) return undefined
        if (calls === 3) throw new Error('no tracer')
        return { traceparent: PARENT }
      },
    })
    await client.call('x')
    expect(traceSent()).toEqual({ traceparent: PARENT })
    await client.call('x')
    expect(traceSent()).toEqual({})
    await client.call('x')
    expect(traceSent()).toEqual({})
    expect(warnings).toEqual(['Trace context is dropped: Error: no tracer'])
  })

  test('invalid trace values are not sent, wherever they come from', async () => {
    proves('R-META-014')
    const { client, server, traceSent, warnings } = await open()
    await client.call('x', {}, { trace: { traceparent: '00-a-b-01', tracestate: 'a=1', baggage: 'user=alice' } })
    expect(traceSent()).toEqual({ baggage: 'user=alice' })
    await client.call('x', {}, { meta: { traceparent: '00-a-b-01', 'com.example/a': 1 } })
    expect(traceSent()).toEqual({})
    expect(server.received.at(-1)?.params._meta).toMatchObject({ 'com.example/a': 1 })
    expect(warnings).toEqual([
      'Trace context is dropped: traceparent must be like 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, not "00-a-b-01"',
      'Trace context is dropped: tracestate needs a valid traceparent',
      'Trace context is dropped: traceparent must be like 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, not "00-a-b-01"',
    ])
  })
})
