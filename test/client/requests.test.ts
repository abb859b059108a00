import { describe, expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { RemoteError } from '../../src/jsonrpc/remote-error.ts'
import type { Progress } from '../../src/protocol/model/progress.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import type { Message } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

const silent = { 'tools/call': () => undefined }
const tick = () => new Promise((resolve) => setTimeout(resolve, 2))

describe('errors', () => {
  test('errors come in two families: errors of the server and local errors', async () => {
    proves('R-BASE-053')
    const client = await Client.connect(
      cannedServer({
        results: {
          'tools/call': () => {
            throw Object.assign(new Error('Nope'), { code: -32602, data: { field: 'x' } })
          },
        },
      }).target,
    )
    const remote = await client.call('x').catch((error: unknown) => error)
    expect(remote).toBeInstanceOf(RemoteError)
    expect(remote).toMatchObject({ name: 'RemoteError', code: -32602, message: 'Nope', data: { field: 'x' } })
    await client.close()
    expect(await client.call('x').catch((error: unknown) => error)).toMatchObject({ name: 'McpError', code: 'ERR_CLOSED' })
  })

  test('an error for an invalid result says that the result is invalid', async () => {
    const client = await Client.connect(
      cannedServer({ results: { 'tools/call': { content: 'text' }, 'resources/read': {}, 'prompts/get': {} } }).target,
    )
    await expect(client.call('x')).rejects.toMatchObject({
      code: 'ERR_ANSWER_INVALID',
      message: 'The content of the result of tool "x" is a string, not a list',
    })
    await expect(client.read('a:1')).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    await expect(client.prompt('p')).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
  })
})

describe('a tool result without content', () => {
  test.each([
    ['nothing at all', {}],
    ['structured content only', { structuredContent: { a: 1 } }],
    ['the member of a draft', { toolResult: { a: 1 } }],
    ['null for it', { content: null, isError: true }],
  ])('a tool result with %s has an empty content list', async (_name, result) => {
    for (const revision of ['2024-11-05', '2025-11-25', '2026-07-28']) {
      const listed = { tools: [{ name: 'x', inputSchema: { type: 'object' } }] }
      const server = cannedServer({ revision, results: { 'tools/list': listed, 'tools/call': result } })
      const client = await Client.connect(server.target)
      expect(await client.call('x')).toMatchObject({ ...result, content: [] })
    }
  })
})

describe('a timeout', () => {
  test('a timeout ends the wait, tells the server, and a late answer is ignored', async () => {
    proves('T-LIFE-031', 'T-LIFE-032', 'T-LIFE-038', 'T-TOOL-048', 'T-CANC-014', 'T-CANC-015')
    const clock = fakeClock()
    const warnings: string[] = []
    const server = cannedServer({ results: silent })
    const client = await Client.connect(server.target, { clock, onWarning: (message) => warnings.push(message) })
    const call = client.call('slow')
    call.catch(() => {})
    await clock.advance(59_999)
    expect(server.received.at(-1)?.method).toBe('tools/call')
    await clock.advance(1)
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: 'No answer to tools/call within 60000 ms (timeoutMs)' })
    const id = server.received.find(({ method }) => method === 'tools/call')?.id
    expect(server.received.find(({ method }) => method === 'notifications/cancelled')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'No answer to tools/call within 60000 ms (timeoutMs)' },
    })
    server.send({ jsonrpc: '2.0', id, result: { content: [] } })
    await clock.advance(0)
    expect(warnings.at(-1)).toBe(`Ignored: an answer with id ${id}, which belongs to no open request`)
    expect(client.isClosed).toBe(false)
  })

  test('a timeout can be set for one request or for all', async () => {
    proves('T-LIFE-033')
    const clock = fakeClock()
    const client = await Client.connect(cannedServer({ results: silent }).target, { clock, limits: { timeoutMs: 500 } })
    const outcomes: string[] = []
    client.call('a').catch(() => outcomes.push('default'))
    client.call('b', {}, { timeoutMs: 100 }).catch(() => outcomes.push('own'))
    await clock.advance(100)
    expect(outcomes).toEqual(['own'])
    await clock.advance(400)
    expect(outcomes).toEqual(['own', 'default'])
  })

  test('progress restarts a timeout, but not beyond the total timeout', async () => {
    proves('T-LIFE-034', 'T-LIFE-035')
    const clock = fakeClock()
    const server = cannedServer({ results: silent })
    const client = await Client.connect(server.target, { clock })
    const call = client.call('slow', {}, { timeoutMs: 10_000, maxTotalMs: 25_000, onProgress: () => {} })
    const failed = call.catch((error: Error) => error.message)
    const token = server.received.at(-1)?.params._meta.progressToken
    for (let i = 1; i <= 4; i++) {
      await clock.advance(6000)
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: i } })
    }
    await clock.advance(999)
    expect(server.received.at(-1)?.method).toBe('tools/call')
    await clock.advance(1)
    expect(await failed).toBe('No answer to tools/call within 25000 ms in all (maxTotalMs)')
  })

  test('a timeout is not extended by progress when that is turned off', async () => {
    const clock = fakeClock()
    const server = cannedServer({ results: silent })
    const client = await Client.connect(server.target, { clock })
    const failed = client
      .call('slow', {}, { timeoutMs: 1000, resetTimeoutOnProgress: false, onProgress: () => {} })
      .catch((error: Error) => error.message)
    const token = server.received.at(-1)?.params._meta.progressToken
    await clock.advance(900)
    server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } })
    await clock.advance(100)
    expect(await failed).toBe('No answer to tools/call within 1000 ms (timeoutMs)')
  })
})

describe('progress', () => {
  const connect = async (limits = {}) => {
    const clock = fakeClock()
    const server = cannedServer({ results: silent })
    const client = await Client.connect(server.target, { clock, limits })
    const seen: Progress[] = []
    const call = client.call('work', {}, { onProgress: (progress) => seen.push(progress) })
    const { id, params } = server.received.at(-1) as Message
    const token = params._meta.progressToken
    const notice = (progress: unknown, more = {}) =>
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, ...more } })
    const finish = () => server.send({ jsonrpc: '2.0', id, result: { content: [] } })
    return { clock, server, client, seen, call, notice, finish, token }
  }

  test('progress is delivered only when it grows, until the answer comes', async () => {
    proves('T-PROG-004', 'T-PROG-010', 'T-PROG-013', 'T-PROG-014', 'T-PROG-020')
    const { clock, server, seen, call, notice, finish, client, token } = await connect()
    notice(5, { total: 10, message: 'half' })
    notice(3)
    notice(5)
    notice('six')
    notice(7)
    server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'foreign', progress: 9 } })
    server.send({ jsonrpc: '2.0', method: 'notifications/progress' })
    finish()
    notice(8)
    await call
    await clock.advance(10)
    expect(seen).toEqual([{ progress: 5, total: 10, message: 'half' }, { progress: 7 }])
    void client.call('again', {}, { onProgress: () => {} }).catch(() => {})
    expect(server.received.at(-1)?.params._meta.progressToken).not.toBe(token)
    await client.close()
  })

  test('frequent progress is thinned out, the newest is kept, and all is delivered before the answer', async () => {
    proves('T-PROG-019')
    const { clock, seen, call, notice, finish } = await connect({ progressCallbacks: { perSecond: 10, burst: 5 } })
    for (let i = 1; i <= 10_000; i++) notice(i)
    await clock.advance(0)
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3, 4, 5])
    await clock.advance(100)
    expect(seen.at(-1)).toEqual({ progress: 10_000 })
    notice(10_001)
    notice(10_002)
    finish()
    await call
    expect(seen.at(-1)).toEqual({ progress: 10_002 })
    expect(seen.length).toBeLessThan(10)
  })
})

describe('cancelling', () => {
  test('cancelling a request that has not been sent yet sends nothing', async () => {
    const server = cannedServer({ results: silent })
    const client = await Client.connect(server.target)
    const before = server.received.length
    await expect(client.call('x', {}, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
    expect(server.received.length).toBe(before)
  })

  test('cancelling after the answer sends nothing', async () => {
    proves('T-CANC-006')
    const server = cannedServer({ results: { 'tools/call': { content: [] } } })
    const client = await Client.connect(server.target)
    const controller = new AbortController()
    await client.call('x', {}, { signal: controller.signal })
    controller.abort()
    await tick()
    expect(server.received.at(-1)?.method).toBe('tools/call')
  })
})

describe('ids and answers', () => {
  test('every request has a new id, and answers are matched by exactly it', async () => {
    proves('T-BASE-013', 'T-BASE-015', 'T-BASE-017')
    const waiting: number[] = []
    const server = cannedServer({ results: { 'tools/call': (_params, { id }) => void waiting.push(id) as undefined } })
    const client = await Client.connect(server.target)
    const calls = ['a', 'b', 'c'].map((name) => client.call(name))
    expect(new Set(waiting).size).toBe(3)
    server.send({ jsonrpc: '2.0', id: `0${waiting[0]}`, result: { content: [{ type: 'text', text: 'another id' }] } })
    for (const [i, id] of [...waiting.entries()].reverse())
      server.send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: `answer ${i}` }] } })
    const texts = (await Promise.all(calls)).map(({ content }) => content[0])
    expect(texts).toEqual([0, 1, 2].map((i) => ({ type: 'text', text: `answer ${i}` })))
  })

  test('an answer with both result and error, or neither in a usable form, ends the wait with an error', async () => {
    proves('T-BASE-018', 'T-BASE-019')
    let id = 0
    const server = cannedServer({
      results: {
        'tools/call': (_params, message) => {
          id = message.id
          return undefined
        },
      },
    })
    const client = await Client.connect(server.target)
    for (const answer of [
      { result: {}, error: { code: 1, message: 'both' } },
      { result: 5 },
      { error: { code: 1.5, message: 'x' } },
      { error: 'x' },
    ]) {
      const call = client.call('x')
      server.send({ jsonrpc: '2.0', id, ...answer })
      await expect(call).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    }
  })
})

test('metadata goes along with a request, in every dialect', async () => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const server = cannedServer({ revision, results: { 'tools/call': { content: [] } } })
    const client = await Client.connect(server.target)
    await client.call('x', { a: 1 }, { meta: { 'com.example/tag': 'blue' }, onProgress: () => {} })
    expect(server.received.at(-1)?.params).toMatchObject({
      name: 'x',
      arguments: { a: 1 },
      _meta: { 'com.example/tag': 'blue', progressToken: expect.any(Number) },
    })
  }
})
