/** 2026-07-28 on the standard streams of a real process. */

import { describe, expect, test } from 'vitest'
import { verdictMemory } from '../../src/client/index.ts'
import { connect } from '../../src/index.ts'
import { proves } from '../support/proves.ts'
import { envelope } from '../support/raw-channel.ts'
import { fixture, type StdioProcess, startServer } from '../support/stdio-process.ts'

const SERVER = fixture('server.mjs')
const ID = 'io.modelcontextprotocol/subscriptionId'
const start = (): StdioProcess => startServer(SERVER)
const call = (name: string, args: object = {}, capabilities: object = {}): [string, object] => [
  'tools/call',
  { name, arguments: args, _meta: envelope(capabilities) },
]

describe('a server process', () => {
  test('a server process answers any request as its first, beside a later session on the same streams', async () => {
    proves('R-DISC-001', 'R-DISC-007', 'R-DISC-021', 'R-DISC-022', 'R-STDIO-005')
    const server = start()
    expect(await server.ask(...call('echo', { text: 'first' }))).toMatchObject({
      result: { resultType: 'complete', content: [{ text: 'first' }] },
    })
    expect(await server.initialize('2025-06-18')).toMatchObject({ result: { protocolVersion: '2025-06-18' } })
    const inSession = await server.ask('tools/call', { name: 'echo', arguments: { text: 'session' } })
    expect(inSession.result).toEqual({ content: [{ type: 'text', text: 'session' }] })
    expect(await server.ask(...call('echo', { text: 'alone' }))).toMatchObject({ result: { resultType: 'complete' } })
  })

  test('a server process sends no requests in a stateless revision', async () => {
    proves('R-STDIO-003', 'R-BASE-035')
    const server = start()
    const { result } = await server.ask(...call('ask', {}, { elicitation: {} }))
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { word: { method: 'elicitation/create' } } })
    await server.ask('server/discover', { _meta: envelope() })
    expect(server.messages.filter(({ method }) => method !== undefined)).toEqual([])
  })

  test('a server process stops a cancelled request and sends nothing more about it', async () => {
    proves('R-STDIO-007', 'R-STDIO-008')
    const server = start()
    const [method, params] = call('hang')
    server.send({ jsonrpc: '2.0', id: 'long', method, params })
    await server.untilStderr('hanging')
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long', reason: 'too slow' } })
    await server.untilStderr('aborted: The client cancelled the request: too slow')
    await server.ask(...call('echo', { text: 'after' }), 'after')
    expect(server.messages.map(({ id }) => id)).toEqual(['after'])
  })

  test('a server process names the subscription of each change, and exits when its input ends', async () => {
    proves('R-META-012', 'R-LISTEN-009', 'R-STDIO-010')
    const server = start()
    for (const id of ['1', 1]) {
      const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
      server.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })
    }
    await server.ask(...call('echo', { text: 'x' }), 'after')
    const acknowledged = server.messages.filter(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect(acknowledged.map(({ params }) => (params?._meta as Record<string, unknown> | undefined)?.[ID])).toEqual(['1', 1])
    server.child.stdin?.end()
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })
})

describe('a client', () => {
  test('a client sends a cancellation for a call that was aborted or timed out', async () => {
    proves('R-STDIO-006', 'R-CANC-007', 'R-CANC-010')
    let stderr = ''
    const heard = (text: string) => expect.poll(() => stderr, { timeout: 10_000 }).toContain(text)
    const client = await connect(
      { command: process.execPath, args: [SERVER], onStderr: (line) => (stderr += `${line}\n`) },
      { revisions: ['2026-07-28'], memory: verdictMemory() },
    )
    const controller = new AbortController()
    const givenUp = client.call('hang', {}, { signal: controller.signal }).catch((error: Error) => error.name)
    await heard('hanging')
    controller.abort()
    expect(await givenUp).toBe('AbortError')
    await heard('aborted: The client cancelled the request: The caller cancelled the request')
    await expect(client.call('hang', {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
    await heard('aborted: The client cancelled the request: No answer to tools/call within 50 ms (timeoutMs)')
    expect((await client.call('echo', { text: 'still' })).content).toEqual([{ type: 'text', text: 'still' }])
    await client.close()
  })
})
